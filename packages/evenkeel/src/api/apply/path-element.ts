/**
 * One element of a field path, in the notation of managed fields.
 *
 *     f:name                    a field of a map or struct          k:{"name":"web"}   the item of a list with these keys
 *     v:"x"                     the item of a set with this value   i:3                the item at an index
 *
 * The text is canonical: two elements are equal if and only if their texts are. So an element is a plain string, sets
 * of elements are hash maps, and only sorting and formatting parse the text. Every text starts with a letter and a
 * colon, so no key of an object (`__proto__`) can do harm.
 *
 * JSON values in elements have a total order and one text each. The text equals that of Go's encoder, because clients
 * compare it: keys sorted by bytes, HTML characters escaped in values, and short escapes only for quotes, backslashes,
 * tabs and line ends.
 */
import {
  compareText,
  compareUtf8,
  getOwn,
  isJsonObject,
  quote,
  type JsonObject,
  type JsonValue,
  parseJson,
  stringifyJson,
  isJsonNumber,
} from '@evenkeel/cel/primitives'

export type PathElement = string
export type ElementPath = readonly PathElement[]

export function fieldElement(name: string): PathElement {
  return `f:${name}`
}

export function valueElement(value: JsonValue): PathElement {
  return `v:${encodeValue(value)}`
}

/** The element of a list item with these keys and values; the order of the keys does not matter. */
export function keyElement(fields: readonly (readonly [name: string, value: JsonValue])[]): PathElement {
  const sorted = fields.length < 2 ? fields : fields.toSorted(([a], [b]) => compareUtf8(a, b))
  let text = ''
  for (const [name, value] of sorted) text += `${text === '' ? 'k:{' : ','}${plainString(name)}:${encodeValue(value)}`
  return text === '' ? 'k:{}' : `${text}}`
}

/** The field name of a field element; undefined for other elements. */
export function fieldName(element: PathElement): string | undefined {
  return element.charCodeAt(0) === letterF ? element.slice(2) : undefined
}

export function isKeyElement(element: PathElement): boolean {
  return element.startsWith('k:')
}

/** The names and values of a key element, sorted by name. */
export function keyFields(element: PathElement): (readonly [string, JsonValue])[] {
  const fields = parseJson(element.slice(2)) as JsonObject
  return Object.keys(fields)
    .sort(compareUtf8)
    .map((name) => [name, getOwn(fields, name) ?? null] as const)
}

/**
 * Parses an element from outside: the canonical text, or undefined for an unknown letter, which a later version may
 * define.
 *
 * @throws {RangeError} when the text is not an element.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new RangeError('key must be 2 characters long:')
  if (text.charAt(1) !== ':') throw new RangeError(`missing colon: ${text}`)
  switch (text.charAt(0)) {
    case 'f':
      return text
    case 'v':
      return canonicalValue.test(text) ? text : valueElement(parseValue(text))
    case 'k': {
      if (isCanonicalKey(text)) return text
      const fields = parseValue(text)
      if (!isJsonObject(fields)) throw new RangeError(`not a set of keys: ${text}`)
      return keyElement(Object.entries(fields).map(([name, value]) => [name, value ?? null]))
    }
    case 'i':
      if (!/^[+-]?\d{1,19}$/.test(text.slice(2))) throw new RangeError(`not a place in a list: ${text}`)
      return `i:${Number(text.slice(2))}`
    default:
      return undefined
  }
}

/** The order of encoding: fields, keys, values, indices, each by their content. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0
  const kindA = a.charCodeAt(0)
  const kindB = b.charCodeAt(0)
  if (kindA === letterF && kindB === letterF) return compareUtf8(a, b)
  if (kindA !== kindB) return ranks.indexOf(a.charAt(0)) - ranks.indexOf(b.charAt(0))
  switch (a.charAt(0)) {
    case 'k':
      return compareKeys(a, b)
    case 'v':
      return compareValues(parseJson(a.slice(2)) as JsonValue, parseJson(b.slice(2)) as JsonValue)
    default:
      return Number(a.slice(2)) - Number(b.slice(2))
  }
}

/** `.name`, `[name="web",port=80]`, `[="x"]`, `[3]`: the notation of messages and causes. */
export function formatElement(element: PathElement): string {
  switch (element.charAt(0)) {
    case 'f':
      return `.${element.slice(2)}`
    case 'k':
      return `[${keyFields(element)
        .map(([name, value]) => `${name}=${formatValue(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${formatValue(parseJson(element.slice(2)) as JsonValue)}]`
    default:
      return `[${element.slice(2)}]`
  }
}

export function formatPath(path: ElementPath): string {
  return path.map(formatElement).join('')
}

const letterF = 'f'.charCodeAt(0)
const ranks = 'fkvi'

// The fast path: nearly all elements match, and are canonical without being parsed.
const canonicalValue = /^v:(?:"[ !#-%'-;=?-[\]-\x7f]*"|[1-9]\d{0,14}|0|true|false)$/
const canonicalKey =
  /^k:\{"(\w+)":(?:"[ !#-%'-;=?-[\]-\x7f]*"|[1-9]\d{0,14}|0)(?:,"(\w+)":(?:"[ !#-%'-;=?-[\]-\x7f]*"|[1-9]\d{0,14}|0))?\}$/

function isCanonicalKey(text: string): boolean {
  const match = canonicalKey.exec(text)
  return match !== null && (match[2] === undefined || (match[1] ?? '') < match[2])
}

function compareKeys(a: PathElement, b: PathElement): number {
  const [ours, theirs] = [onlyText(a), onlyText(b)]
  if (ours && theirs && ours.name === theirs.name) return compareUtf8(ours.value, theirs.value)
  const others = keyFields(b)
  for (const [index, [name, value]] of keyFields(a).entries()) {
    const other = others[index]
    if (other === undefined) return 1
    const order = compareUtf8(name, other[0]) || compareValues(value, other[1])
    if (order !== 0) return order
  }
  return -1
}

/** Name and value of an element with one key and a plain string, without parsing: most keys are like this. */
function onlyText(element: PathElement): { name: string; value: string } | undefined {
  const at = element.indexOf('":"')
  if (
    at < 0 ||
    element.indexOf('"', at + 3) !== element.length - 2 ||
    element.indexOf('"', 4) !== at ||
    element.includes('\\')
  )
    return undefined
  return { name: element.slice(4, at), value: element.slice(at + 3, -2) }
}

function parseValue(text: string): JsonValue {
  try {
    return parseJson(text.slice(2)) as JsonValue
  } catch (error) {
    throw new RangeError(`not JSON: ${text}`, { cause: error })
  }
}

function formatValue(value: JsonValue): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'number') return formatNumber(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (isJsonObject(value))
    return Object.entries(value)
      .map(([key, item]) => `${key}=${formatValue(item ?? null)}`)
      .join('')
  return `[${value.map(formatValue).join(',')}]`
}

/** Go switches to exponents earlier than JavaScript, and writes them with two digits. */
function formatNumber(value: number): string {
  const text = value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

// JSON values: order and canonical text.

/** Numbers, strings, booleans, lists, maps, null; within a type by value. */
function compareValues(a: JsonValue, b: JsonValue): number {
  const kind = kindRank(a) - kindRank(b)
  if (kind !== 0) return kind
  if (isJsonNumber(a) && isJsonNumber(b)) return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string') return compareUtf8(a, String(b))
  if (typeof a === 'boolean') return Number(a) - Number(b)
  // No schema allows containers as keys; any fixed order will do.
  return compareText(encodeValue(a), encodeValue(b))
}

function kindRank(value: JsonValue): number {
  if (value === null) return 5
  if (typeof value === 'object') return Array.isArray(value) ? 3 : 4
  return isJsonNumber(value) ? 0 : typeof value === 'string' ? 1 : 2
}

/** The canonical text of a value. */
export function encodeValue(value: JsonValue): string {
  if (typeof value === 'string') return plain.test(value) ? `"${value}"` : htmlString(value)
  if (typeof value !== 'object' || value === null) return stringifyJson(value)
  if (isJsonObject(value)) {
    const keys = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort(compareUtf8)
    return `{${keys.map((key) => `${plainString(key)}:${encodeValue(value[key] ?? null)}`).join(',')}}`
  }
  return `[${value.map(encodeValue).join(',')}]`
}

const plain = /^[ !#-%'-;=?-[\]-\x7f]*$/

/** Names are not HTML-escaped. Only two characters need a longer escape than JavaScript writes. */
function plainString(text: string): string {
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
