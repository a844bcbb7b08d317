/**
 * Text lengths, quoting and character indexes as in Go, because limits and messages of Kubernetes use Go's `len` and `%q`.
 */

/** The length in UTF-8 bytes. A lone surrogate counts as the three bytes of U+FFFD that replace it. */
export function utf8Length(text: string): number {
  let bytes = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (isSurrogatePair(text, index)) {
      bytes += 4
      index++
    } else bytes += 3
  }
  return bytes
}

/** The text in double quotes, escaped like Go's `%q`. */
export function quote(text: string): string {
  return `"${plainText.test(text) ? text : text.replace(special, quoteCharacter)}"`
}

/** Compares by UTF-16 code units: fast, and for ASCII the same as the byte order of Go. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** Compares by code points, which is the order of UTF-8 bytes in Go; UTF-16 puts U+E000 behind U+1F600. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left === right) continue
    // A surrogate begins a character beyond all others.
    return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1
  }
  return a.length - b.length
}

function isSurrogate(unit: number): boolean {
  return (unit & 0xf800) === 0xd800
}

const shortEscapes = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
])
const plainText = /^[ !#-[\]-~]*$/
/** What is escaped: quotes, backslashes, and what cannot be printed. */
const special = /["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu
const loneSurrogate = /^\p{Surrogate}$/u

function quoteCharacter(character: string): string {
  const short = shortEscapes.get(character)
  if (short !== undefined) return short
  if (loneSurrogate.test(character)) return '\uFFFD'
  const code = character.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
}

function isSurrogatePair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00
}

// Indexes by characters (code points) instead of UTF-16 units. Text without surrogates, nearly all, needs no conversion. The
// last long text is cached: a loop over its characters would otherwise be quadratic, at a cost that does not show it.

/** The number of characters (code points). */
export function characterCount(text: string): number {
  if (text.length < longFrom) return countCharacters(text)
  if (text !== last.text) last = { text, count: countCharacters(text) }
  return last.count
}

export function characterAt(text: string, index: number): string {
  return sliceCharacters(text, index, index + 1)
}

export function sliceCharacters(text: string, start: number, end?: number): string {
  return isPlain(text) ? text.slice(start, end) : [...text].slice(start, end).join('')
}

/** The first index of a part, in characters, from an index on; negative when there is none. */
export function findCharacters(text: string, part: string, from: number): number {
  if (isPlain(text)) return text.indexOf(part, from)
  const found = text.indexOf(part, sliceCharacters(text, 0, from).length)
  return found < 0 ? found : characterCount(text.slice(0, found))
}

/** The last index of a part, in characters, at or before an index; negative when there is none. */
export function findLastCharacters(text: string, part: string, from: number): number {
  if (isPlain(text)) return text.lastIndexOf(part, from)
  const found = text.lastIndexOf(part, sliceCharacters(text, 0, from).length)
  return found < 0 ? found : characterCount(text.slice(0, found))
}

const longFrom = 1000
let last = { text: '', count: 0 }

function isPlain(text: string): boolean {
  return characterCount(text) === text.length
}

function countCharacters(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) count--
  }
  return count
}
