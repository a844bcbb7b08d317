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

/** All issues, sorted by position. */
export function formatIssues(text: string, issues: readonly Issue[]): string {
  return [...issues]
    .sort((a, b) => (a.offset ?? -1) - (b.offset ?? -1))
    .map((issue) => formatIssue(text, issue))
    .join('\n')
}

function formatIssue(text: string, { offset, message }: Issue): string {
  if (offset === undefined) return `ERROR: <input>:-1:0: ${message}`
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const end = text.indexOf('\n', start)
  const line = text.slice(start, end < 0 ? undefined : end)
  const before = [...text.slice(start, offset)]
  const lineNumber = text.slice(0, start).split('\n').length
  const here = [...text.slice(offset, offset + 2)][0] ?? ''
  const marker = before.map((character) => (isWide(character) ? '．' : '.')).join('') + (isWide(here) ? '＾' : '^')
  return `ERROR: <input>:${lineNumber}:${before.length + 1}: ${message}\n | ${line.replaceAll('\t', ' ')}\n | ${marker}`
}

/** Characters of more than one byte get a wide marker. */
function isWide(character: string): boolean {
  return (character.codePointAt(0) ?? 0) > 0x7f
}
