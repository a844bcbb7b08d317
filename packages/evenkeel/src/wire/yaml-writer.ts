/**
 * The YAML writer for `application/yaml` responses: JSON value to YAML text.
 *
 * Block style, sorted keys, list items at the indentation of their key, as in kubectl. A string is written plain only if
 * YAML 1.1 and 1.2 readers take it for a string; several lines become a literal block where that is exact; every other
 * string is in double quotes, escaped as in JSON.
 *
 * It needs no YAML library. The recursion is bounded by the depth of objects, which the readers limit.
 */
import { compareText, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from '#api'
import { resolvePlain } from './yaml-values.ts'

/** The text of one document, with a final line break. */
export function writeYaml(value: JsonValue): string {
  const lines: string[] = []
  writeBlock(value, '', { lines, head: '' })
  return `${lines.join('\n')}\n`
}

interface BlockOutput {
  readonly lines: string[]
  /** The start of the first line, before the value: `key:` or nothing. */
  readonly head: string
}

function writeBlock(value: JsonValue, indent: string, { lines, head }: BlockOutput): void {
  if (Array.isArray(value) && value.length > 0) {
    if (head !== '') lines.push(head)
    // A list under a key starts at the column of the key.
    for (const item of value as JsonArray) writeItem(item, indent, lines)
  } else if (isJsonObject(value) && presentKeys(value).length > 0) {
    if (head !== '') lines.push(head)
    writeMap(value, head === '' ? indent : `${indent}  `, lines)
  } else lines.push(`${head === '' ? indent : `${head} `}${scalarText(value, indent)}`)
}

function writeMap(map: JsonObject, indent: string, lines: string[]): void {
  for (const key of presentKeys(map)) {
    writeBlock(map[key] as JsonValue, indent, { lines, head: `${indent}${keyText(key, indent)}:` })
  }
}

function writeItem(item: JsonValue, indent: string, lines: string[]): void {
  const nested = Array.isArray(item) ? item.length > 0 : isJsonObject(item) && presentKeys(item).length > 0
  if (!nested) {
    lines.push(`${indent}- ${scalarText(item, indent)}`)
    return
  }
  // The first line of the item is on the line of its dash.
  const own: string[] = []
  if (Array.isArray(item)) for (const inner of item as JsonArray) writeItem(inner, `${indent}  `, own)
  else writeMap(item as JsonObject, `${indent}  `, own)
  const [first = '', ...rest] = own
  lines.push(`${indent}- ${first.slice(indent.length + 2)}`)
  for (const line of rest) lines.push(line)
}

function presentKeys(map: JsonObject): string[] {
  return Object.keys(map)
    .filter((key) => map[key] !== undefined)
    .sort(compareText)
}

function scalarText(value: JsonValue, indent: string): string {
  if (typeof value === 'string') return isBlockText(value) ? blockText(value, `${indent}  `) : lineText(value)
  if (Array.isArray(value)) return '[]'
  return typeof value === 'object' && value !== null ? '{}' : String(value)
}

/** A longer key needs an explicit `?`; the limit of YAML is 1024 characters, quotes and escapes included. */
const shortKeyMax = 1000

function keyText(key: string, indent: string): string {
  const text = lineText(key)
  return text.length > shortKeyMax ? `? ${text}\n${indent}` : text
}

/** Words without special characters, with single separators between them. */
const plainText = /^[A-Za-z0-9_/][A-Za-z0-9_./\-+@%^~$()=;]*(?:[: ,#][A-Za-z0-9_./\-+@%^~$()=;]+)*$/
const textLengthMax = 1000

function lineText(text: string): string {
  return text.length <= textLengthMax && plainText.test(text) && isPlainSafe(text) ? text : quoted(text)
}

/** True when no reader takes the text for a number, boolean, null or timestamp, and it contains no comment. */
function isPlainSafe(text: string): boolean {
  if (typeof resolvePlain(text) !== 'string' || text.includes(' #')) return false
  // `64Mi` cannot be mistaken for a number; `0x1f`, `1e3` and `2026-01-01` can.
  return !/^[0-9]/.test(text) || (/^[1-9].*[G-WYZg-wyz]/.test(text) && !/^[0-9]+[-:]/.test(text))
}

/** True for text with line breaks that a literal block preserves: no control characters, no leading space, no trailing spaces on a line. */
function isBlockText(text: string): boolean {
  return (
    text.includes('\n') &&
    !/^[\s]|[^\n\t\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[ \t]\n|[ \t]$/.test(text) &&
    /[^\n]/.test(text)
  )
}

function blockText(text: string, indent: string): string {
  const body = text.replace(/\n+$/, '')
  const ends = text.length - body.length
  const lines = [...body.split('\n'), ...Array.from({ length: Math.max(0, ends - 1) }, () => '')]
  const indicator = ends === 0 ? '|-' : ends === 1 ? '|' : '|+'
  return `${indicator}\n${lines.map((line) => (line === '' ? '' : `${indent}${line}`)).join('\n')}`
}

/** The escapes of JSON are valid in YAML; YAML requires some more. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
