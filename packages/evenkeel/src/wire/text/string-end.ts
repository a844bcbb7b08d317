/**
 * Where a string of a valid JSON text ends: found with `indexOf`, which looks at many characters at a time.
 */

/** The index of the quote that ends a string. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (text.charCodeAt(end - 1) === backslash && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

/** A character is escaped when an odd number of backslashes stands before it. */
function isEscaped(text: string, index: number): boolean {
  let start = index
  while (text.charCodeAt(start - 1) === backslash) start--
  return (index - start) % 2 === 1
}

const backslash = 0x5c
