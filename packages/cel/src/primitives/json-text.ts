/**
 * JSON text of API objects, with exact integers.
 *
 * `JSON.parse` rounds 9007199254740993 to 9007199254740992, but Kubernetes has integers of 64 bits. So an integer that a
 * number cannot hold is a bigint:
 *
 *     text                       value
 *     3, -7, 9007199254740991    number
 *     9007199254740993           bigint, up to 64 bits with sign
 *     9223372036854775808        number, rounded: Go reads it as a float64 too
 *     1e16, 9007199254740993.0   number: a float64 in Go
 *
 * Invariants: {@link stringifyJson} writes what {@link parseJson} read. Two integers from JSON text are equal by `===`; a
 * float64 such as 1e16 may be written as an integer, so `deepEqual` compares it by value.
 * Text without a run of 16 digits costs one comparison for every 16 characters, and values without a bigint nothing.
 */
import { setOwn, type JsonObjectDraft, type JsonValue } from './json.ts'

/**
 * Parses JSON text. Integers of 64 bits keep their value.
 *
 * @throws {SyntaxError}
 */
export function parseJson(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue
  return hasLongInteger(text) ? readExactly(text) : value
}

/** JSON text of a value, without a line break, or indented by this many spaces. */
export function stringifyJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, undefined, indent)
  } catch (error) {
    // The engine refuses a bigint, and a cycle too.
    if (!(error instanceof TypeError)) throw error
    return stringifyExactly(value, indent)
  }
}

/**
 * An integer of any source in its one form; undefined when it has more than 64 bits.
 *
 *     integerOf(5n) === 5
 */
export function integerOf(value: bigint): number | bigint | undefined {
  if (value >= safeMin && value <= safeMax) return Number(value)
  return value >= int64Min && value <= int64Max ? value : undefined
}

const safeMax = BigInt(Number.MAX_SAFE_INTEGER)
const safeMin = -safeMax
const int64Max = 2n ** 63n - 1n
const int64Min = -(2n ** 63n)

/** The digits of the largest safe integer. */
const safeDigits = 16
/** The digits of the largest integer of 64 bits, and a sign. */
const int64Length = 20

/**
 * Whether there may be a number of 16 digits or more: such a run has a digit at every 16th character. No character is
 * read twice, however long the runs are.
 */
function hasLongInteger(text: string): boolean {
  for (let at = safeDigits - 1; at < text.length; at += safeDigits) {
    if (!isDigit(text.charCodeAt(at))) continue
    let start = at
    while (isDigit(text.charCodeAt(start - 1))) start--
    while (isDigit(text.charCodeAt(at + 1))) at++
    if (at - start >= safeDigits - 1 && !inText.test(text.charAt(start - 1))) return true
  }
  return false
}

/** Characters that cannot come before a number in JSON. */
const inText = /[\w".+/]/

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

type Container = JsonValue[] | JsonObjectDraft

/** Reads text that `JSON.parse` has accepted. Iterative, as every traversal. */
function readExactly(text: string): JsonValue {
  const holder: JsonValue[] = []
  const outer: Container[] = []
  let into: Container = holder
  let key: string | undefined
  const put = (value: JsonValue): void => {
    if (Array.isArray(into)) into.push(value)
    else setOwn(into, key ?? '', value)
    key = undefined
  }
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') {
      const end = endOfString(text, at)
      const string = JSON.parse(text.slice(at, end + 1)) as string
      if (key === undefined && !Array.isArray(into)) key = string
      else put(string)
      at = end
    } else if (char === '{' || char === '[') {
      const inner: Container = char === '{' ? {} : []
      put(inner)
      outer.push(into)
      into = inner
    } else if (char === '}' || char === ']') into = outer.pop() ?? holder
    else if (!between.has(char)) {
      const end = endOfScalar(text, at)
      put(readScalar(text.slice(at, end)))
      at = end - 1
    }
  }
  return holder[0] as JsonValue
}

const between: ReadonlySet<string> = new Set([',', ':', ' ', '\t', '\r', '\n'])

function endOfScalar(text: string, start: number): number {
  let end = start + 1
  while (end < text.length && !between.has(text.charAt(end)) && !']}'.includes(text.charAt(end))) end++
  return end
}

/** `true`, `null`, a number. */
function readScalar(text: string): JsonValue {
  const isExact = text.length >= safeDigits && text.length <= int64Length && /^-?\d+$/.test(text)
  return (isExact ? integerOf(BigInt(text)) : undefined) ?? (JSON.parse(text) as JsonValue)
}

/**
 * Each bigint is written as a string with a mark, and the quotes and the mark are taken away again. The mark is the first
 * of `#0#`, `#1#`, ... that no string contains.
 *
 *     { "a": "#0#", "b": 9007199254740993n }    {"a":"#0#","b":"#1#9007199254740993"}    {"a":"#0#","b":9007199254740993}
 */
function stringifyExactly(value: unknown, indent: number | undefined): string {
  const withMark = (mark: string): string =>
    JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${mark}${each}` : each), indent)
  const taken = new Set(withMark('').match(/#\d+(?=#)/g))
  let number = 0
  while (taken.has(`#${number}`)) number++
  return withMark(`#${number}#`).replace(new RegExp(`"#${number}#(-?\\d+)"`, 'g'), '$1')
}

/** The index of the quote that ends the string at `start`, in valid JSON text. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (text.charCodeAt(end - 1) === backslash && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

/** A character is escaped when an odd number of backslashes precedes it. */
function isEscaped(text: string, index: number): boolean {
  let start = index
  while (text.charCodeAt(start - 1) === backslash) start--
  return (index - start) % 2 === 1
}

const backslash = 0x5c
