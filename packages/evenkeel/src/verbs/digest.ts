/**
 * Short, stable digests for names, labels and comparisons.
 *
 * Invariants: equal JSON has an equal digest, whatever the order of its fields; a digest consists of lower-case
 * hexadecimal digits, so it fits into a label value and into the name of an object.
 *
 * @example
 * digestOf({ a: 1, b: 2 }) === digestOf({ b: 2, a: 1 }) // true: '43258cff783fe703'
 */
import { createHash } from 'node:crypto'
import { compareText, getOwn, isJsonObject, type JsonValue, stringifyJson } from '#api'

/** The first digits of the SHA-256 of a text. */
export function shortHash(text: string, { digits = 16 }: { readonly digits?: number } = {}): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits)
}

/** The digest of a JSON value: sixteen digits. */
export function digestOf(value: JsonValue | undefined): string {
  return shortHash(canonical(value))
}

/** JSON with sorted field names; fields that are undefined are omitted. */
function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join()}]`
  if (!isJsonObject(value)) return stringifyJson(value) ?? 'null'
  const names = Object.keys(value)
    .filter((name) => getOwn(value, name) !== undefined)
    .sort(compareText)
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(getOwn(value, name))}`).join()}}`
}
