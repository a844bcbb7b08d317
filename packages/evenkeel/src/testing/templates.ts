/**
 * Templates: what two texts have in common, with holes where they differ by nature.
 *
 * Two undisturbed schedules name the same child `web-1-x7f` and `web-4-k2p`, and both are right: `web-` is what the
 * program decided, the rest follows from a generation and a random number. The template `web-*-*` matches both, and the
 * name that another schedule gives to that child.
 *
 * Invariant: what both texts contain at the same place stays in the template. So a value of the user, which no variant
 * changes, is compared in every schedule.
 */

export interface Template {
  /** The common parts, with `*` for every hole. */
  readonly text: string
  /** Whether nothing is common. */
  readonly isBlank: boolean
  matches(text: string): boolean
}

/** A common part, or what the two texts have instead. */
type Part = string | readonly [one: string, other: string]

/** The shortest common word that is an accident neither in two digests nor in two passwords. */
const accidentMax = 4

/** @param anchors words of the user: where both texts contain one, they are aligned at it */
export function templateOf(one: string, other: string, anchors: ReadonlySet<string> = new Set()): Template {
  const [first, second] = [wordsOf(one), wordsOf(other)]
  const isAlike = first.length === second.length && first.every((word, index) => isWord(word) || word === second[index])
  const parts = isAlike
    ? first.map((word, index): Part => partOf(word, second[index] ?? ''))
    : alignedParts(first, second, anchors)
  const merged = mergeHoles(parts.flatMap(splitNumber))
  const isBlank = !merged.some((part) => typeof part === 'string' && /[A-Za-z\d]/.test(part))
  const pattern = isBlank ? /^[^]+$/ : new RegExp(`^${merged.map(patternOf).join('')}$`)
  return {
    text: isBlank ? '*' : merged.map((part) => (typeof part === 'string' ? part : '*')).join(''),
    isBlank,
    matches: (text) => pattern.test(text),
  }
}

/** Runs of letters and digits, and single characters of any other type. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/[A-Za-z\d]+|[^A-Za-z\d]/g) ?? []
}

function isWord(text: string): boolean {
  return /^[A-Za-z\d]/.test(text)
}

function partOf(one: string, other: string): Part {
  return one === other ? one : [one, other]
}

/** Texts of different structure: their common beginning, their common end, and common words of the user in between. */
function alignedParts(one: readonly string[], other: readonly string[], anchors: ReadonlySet<string>): Part[] {
  const shorter = Math.min(one.length, other.length)
  let begin = 0
  while (begin < shorter && one[begin] === other[begin]) begin++
  let end = 0
  while (end < shorter - begin && one.at(-1 - end) === other.at(-1 - end)) end++
  const [left, right] = [one.slice(begin, one.length - end), other.slice(begin, other.length - end)]
  return [...one.slice(0, begin), ...middleParts(left, right, anchors), ...one.slice(one.length - end)]
}

function middleParts(one: readonly string[], other: readonly string[], anchors: ReadonlySet<string>): Part[] {
  const at = one.findIndex(
    (word) => isWord(word) && (anchors.has(word) || word.length > accidentMax) && other.includes(word),
  )
  if (at < 0) return one.length + other.length === 0 ? [] : [[one.join(''), other.join('')]]
  const there = other.indexOf(one[at] ?? '')
  return [
    ...middleParts(one.slice(0, at), other.slice(0, there), anchors),
    one[at] ?? '',
    ...middleParts(one.slice(at + 1), other.slice(there + 1), anchors),
  ]
}

/** `rev7` and `rev12` have the word `rev` in common. */
function splitNumber(part: Part): Part[] {
  if (typeof part === 'string') return [part]
  const [one, other] = part.map((text) => /^([A-Za-z]+)(\d+)$/.exec(text))
  if (!one || !other || one[1] !== other[1]) return [part]
  return [one[1] ?? '', [one[2] ?? '', other[2] ?? '']]
}

function mergeHoles(parts: readonly Part[]): Part[] {
  const merged: Part[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (typeof part !== 'string' && last !== undefined && typeof last !== 'string')
      merged[merged.length - 1] = [last[0] + part[0], last[1] + part[1]]
    else merged.push(part)
  }
  return merged
}

/** Numbers stay numbers; other values may have any characters. */
function patternOf(part: Part): string {
  if (typeof part === 'string') return part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
  return part.every((text) => /^\d+$/.test(text)) ? '\\d+' : '[^]*?'
}
