/**
 * Issues of an expression and their positions, in the format of kube-apiserver:
 *
 *     ERROR: <input>:1:5: undeclared reference to 'x' (in container '')
 *      | self.x
 *      | ....^
 *
 * Lines and columns count characters (code points), from 1.
 */

export interface Issue {
  /** UTF-16 units from the start; undefined for an issue of the whole text. */
  readonly offset?: number
  readonly message: string
}

/** Thrown and caught inside the parser. */
export class SyntaxIssue extends Error {
  readonly offset: number | undefined

  constructor(message: string, offset?: number) {
    super(message)
    this.offset = offset
  }
}

/** As in cel-go: more issues are only counted, and a longer line is not shown. */
const issuesMax = 100
const lineMax = 16_384
/**
 * What all shown lines and markers may have together, which cel-go does not bound. Otherwise a hundred issues in a line of
 * 16 kB take 3 MB, for each rule of a definition.
 */
const shownMax = 65_536

/** The first issues that were found, sorted by position. */
export function formatIssues(text: string, issues: readonly Issue[]): string {
  const reported = issues.slice(0, issuesMax).sort((a, b) => (a.offset ?? -1) - (b.offset ?? -1))
  const positions = new Positions(text)
  let shown = 0
  const formatted = reported.map(({ offset, message }) => {
    if (offset === undefined) return `ERROR: <input>:-1:0: ${message}`
    const { number, column, start, end } = positions.at(offset)
    const place = `ERROR: <input>:${number}:${column + 1}: ${message}`
    shown += end - start + column
    if (end - start > lineMax || shown > shownMax) return place
    return `${place}\n | ${text.slice(start, end).replaceAll('\t', ' ')}\n | ${markerOf(text, { start, offset })}`
  })
  const more = issues.length - reported.length
  return [...formatted, ...(more > 0 ? [`${more} more errors were truncated`] : [])].join('\n')
}

interface Position {
  /** The number of the line, from 1. */
  readonly number: number
  /** Characters of the line before the position. */
  readonly column: number
  readonly start: number
  readonly end: number
}

/**
 * Finds the positions of a text in rising order, in one pass:
 *
 *     at(5), at(9), at(12)   with a line break at 7: counts 0 to 5, then 8 to 9, then 9 to 12
 */
class Positions {
  readonly #text: string
  #number = 1
  #start = 0
  #end: number
  /** Up to here the characters of the line are counted. */
  #counted = 0
  #column = 0

  constructor(text: string) {
    this.#text = text
    this.#end = endOfLine(text, 0)
  }

  at(offset: number): Position {
    while (this.#end < offset && this.#end < this.#text.length) {
      this.#number++
      this.#start = this.#counted = this.#end + 1
      this.#end = endOfLine(this.#text, this.#start)
      this.#column = 0
    }
    for (; this.#counted < offset; this.#column++) this.#counted += widthAt(this.#text, this.#counted)
    return { number: this.#number, column: this.#column, start: this.#start, end: this.#end }
  }
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end < 0 ? text.length : end
}

/** UTF-16 units of the character. */
function widthAt(text: string, index: number): number {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1
}

function markerOf(text: string, { start, offset }: { start: number; offset: number }): string {
  const before = Array.from(text.slice(start, offset), (character) => (isWide(character) ? '．' : '.')).join('')
  return before + (isWide(String.fromCodePoint(text.codePointAt(offset) ?? 0)) ? '＾' : '^')
}

/** Characters of more than one byte get a wide marker. */
function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f
}
