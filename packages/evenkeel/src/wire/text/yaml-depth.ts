/**
 * How deeply a YAML text can be nested at most, found without recursion before the parser sees it.
 *
 * The parser recurses. Where its stack ends a `RangeError` is thrown, but a pattern that happens to be compiled there
 * ends the whole process, so a text must never get that far. This looks at characters only and may take text inside of
 * scalars for structure: the bounds are far above what anybody writes.
 */
import { badRequest } from '#api'

/** How many brackets may be open; quoted ones count as well. */
const bracketsMax = 1000

const [space, dash, question, newline, openList, closeList, openMap, closeMap] = [
  0x20, 0x2d, 0x3f, 0x0a, 0x5b, 0x5d, 0x7b, 0x7d,
]

/** @throws {ApiError} `BadRequest` when it may be nested more deeply than that. */
export function refuseDeepYaml(text: string, depthMax: number): void {
  const indents: number[] = []
  let brackets = 0
  for (let at = 0; at < text.length;) {
    const { indent, markers, next } = lineStart(text, at)
    if (text.charCodeAt(next) !== newline && next < text.length) {
      while ((indents.at(-1) ?? -1) >= indent) indents.pop()
      indents.push(indent)
    }
    if (indents.length + markers > depthMax) throw tooDeep()
    for (at = next; at < text.length && text.charCodeAt(at) !== newline; at++) {
      const code = text.charCodeAt(at)
      if (code === openList || code === openMap) brackets++
      else if (code === closeList || code === closeMap) brackets = Math.max(0, brackets - 1)
      if (brackets > bracketsMax) throw tooDeep()
    }
    at++
  }
}

/** The spaces and the markers of lists and keys that a line begins with: `- - - x` opens three lists. */
function lineStart(text: string, start: number): { indent: number; markers: number; next: number } {
  let next = start
  let markers = 0
  while (text.charCodeAt(next) === space) next++
  const indent = next - start
  for (;;) {
    const code = text.charCodeAt(next)
    const after = text.charCodeAt(next + 1)
    if (!((code === dash || code === question) && (after === space || after === newline || next + 1 >= text.length)))
      return { indent, markers, next }
    markers++
    next++
    while (text.charCodeAt(next) === space) next++
  }
}

function tooDeep(): Error {
  return badRequest('the YAML text is nested too deeply')
}
