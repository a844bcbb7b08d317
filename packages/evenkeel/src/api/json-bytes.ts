/**
 * Over JSON without reading it: where a string or a value in some bytes ends.
 *
 * For who has to find one field of an object that was written by a server. What is no JSON is not noticed as long as
 * quotes and brackets match. Invariant: not a byte at or after `end` is looked at; below 0 means that the end is not there.
 */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** The place after a string. */
export function skipString(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== quote) return -1
  for (let at = start + 1; at < end; at++) {
    const byte = bytes[at]
    if (byte === quote) return at + 1
    if (byte === backslash) at++
  }
  return -1
}

/** The place after a value without space around it. */
export function skipValue(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]
  if (first === quote) return skipString(bytes, start, end)
  if (first === openBrace || first === openBracket) return skipNested(bytes, start, end)
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte === comma || byte === closeBrace || byte === closeBracket) return at > start ? at : -1
  }
  return -1
}

function skipNested(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at = skipString(bytes, at, end) - 1
      if (at < 0) return -1
    } else if (byte === openBrace || byte === openBracket) {
      depth++
    } else if (byte === closeBrace || byte === closeBracket) {
      if (--depth === 0) return at + 1
    }
  }
  return -1
}
