/**
 * What a plain (unquoted) YAML scalar means: YAML 1.1 as kubectl's and kube-apiserver's Go parser reads it.
 *
 * `yes`, `on` and `y` are booleans, `010` is eight, `0x1f` is a number and `1_000` too; a time stays a text, and so do
 * base 60 numbers. The writer asks the same function, so whatever would not be read back as text gets quotes.
 */
import type { JsonPrimitive } from '#api'

const words = new Map<string, JsonPrimitive>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, boolean] => [
    word,
    true,
  ]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, boolean] => [
    word,
    false,
  ]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, null] => [word, null]),
  ...['.nan', '.NaN', '.NAN'].map((word): [string, number] => [word, Number.NaN]),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word): [string, number] => [word, Infinity]),
  ...['-.inf', '-.Inf', '-.INF'].map((word): [string, number] => [word, -Infinity]),
])

const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const integer = /^([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))$/

/** The value of a plain scalar. NaN and the infinities come back as such: JSON has no words for them. */
export function resolvePlain(text: string): JsonPrimitive {
  const word = words.get(text)
  if (word !== undefined) return word
  if (!/^[-+.0-9]/.test(text)) return text
  const digits = text.startsWith('.') ? text : text.replaceAll('_', '')
  return parseInteger(digits) ?? parseDecimal(digits) ?? text
}

/** Whole numbers of 64 bits in any base; what is larger may still be a decimal. */
function parseInteger(digits: string): number | undefined {
  const [, sign = '', hexadecimal, binary, octal, plain] = integer.exec(digits) ?? []
  const body =
    hexadecimal !== undefined
      ? `0x${hexadecimal}`
      : binary !== undefined
        ? `0b${binary}`
        : octal !== undefined
          ? `0o${octal}`
          : plain
  if (body === undefined) return undefined
  const magnitude = BigInt(body)
  const magnitudeMax = sign === '-' ? 2n ** 63n : sign === '+' ? 2n ** 63n - 1n : 2n ** 64n - 1n
  if (magnitude > magnitudeMax) return undefined
  return Number(sign === '-' ? -magnitude : magnitude)
}

/** A number too large for a float64 is a text. */
function parseDecimal(digits: string): number | undefined {
  const value = decimal.test(digits) ? Number(digits) : undefined
  return value !== undefined && Number.isFinite(value) ? value : undefined
}
