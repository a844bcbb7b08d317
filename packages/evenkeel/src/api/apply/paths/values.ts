/**
 * JSON values as they stand in steps of paths: a total order, and one text for each.
 *
 * The text is what Go's encoder writes for managed fields, because clients compare it: keys sorted by bytes, the
 * characters HTML minds escaped in values, and no short escapes but those for quotes, backslashes, tabs and line ends.
 */
import { isJsonObject } from '../../json.ts'
import type { JsonValue } from '../../json.ts'
import { compareText } from '../../text.ts'

/** The order of UTF-8 bytes. It differs from that of UTF-16 units only where a surrogate meets one of the last of the plane. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const ours = a.charCodeAt(index)
    const theirs = b.charCodeAt(index)
    if (ours === theirs) continue
    if (isSurrogate(ours) && theirs > lastSurrogate) return 1
    return isSurrogate(theirs) && ours > lastSurrogate ? -1 : ours - theirs
  }
  return a.length - b.length
}

const lastSurrogate = 0xdfff

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= lastSurrogate
}

/** Numbers before texts, then booleans, lists, maps, null; within a kind by value. */
export function compareValues(a: JsonValue, b: JsonValue): number {
  const kind = kindRank(a) - kindRank(b)
  if (kind !== 0) return kind
  if (typeof a === 'number') return Math.sign(a - Number(b))
  if (typeof a === 'string') return compareBytes(a, String(b))
  if (typeof a === 'boolean') return Number(a) - Number(b)
  // Containers are no keys in any schema; any fixed order will do.
  return compareText(encodeValue(a), encodeValue(b))
}

function kindRank(value: JsonValue): number {
  if (value === null) return 5
  if (typeof value === 'object') return Array.isArray(value) ? 3 : 4
  return ['number', 'string', 'boolean'].indexOf(typeof value)
}

/** The one text of a value. */
export function encodeValue(value: JsonValue): string {
  if (typeof value === 'string') return plain.test(value) ? `"${value}"` : htmlString(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isJsonObject(value)) {
    const keys = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort(compareBytes)
    return `{${keys.map((key) => `${plainString(key)}:${encodeValue(value[key] ?? null)}`).join(',')}}`
  }
  return `[${value.map(encodeValue).join(',')}]`
}

const plain = /^[ !#-%'-;=?-[\]-\x7f]*$/

/** Names are written as they are, but for two characters that JavaScript has a shorter word for. */
export function plainString(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text).replace(/(\\\\)|\\b|\\f/g, goEscape)
}

/** Values go through Go's HTML-safe writer, so clients have always seen `v:"a\u003cb"`. */
function htmlString(text: string): string {
  return plainString(text).replace(
    /[<>&\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function goEscape(escape: string): string {
  if (escape === '\\\\') return escape
  return escape === '\\b' ? '\\u0008' : '\\u000c'
}
