/**
 * Texts by characters (code points), not UTF-16 units. Texts without surrogates, nearly all, are sliced as they are.
 *
 * The last long text is remembered: a loop may look at one text character by character, and counting it each time would make
 * that quadratic, at a price that does not show it.
 */

/** How many characters a text has. */
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

/** Where a part begins, in characters, from a place on; negative when nowhere. */
export function findCharacters(text: string, part: string, from: number): number {
  if (isPlain(text)) return text.indexOf(part, from)
  const found = text.indexOf(part, sliceCharacters(text, 0, from).length)
  return found < 0 ? found : characterCount(text.slice(0, found))
}

/** The last place at or before another where a part begins. */
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
