/**
 * Finds strings, values and members in the bytes of JSON without parsing it.
 *
 * For readers that need one field of an object that a server wrote: watch events are relayed and cached without being
 * parsed. The text must have no spaces between its tokens. Invalid JSON is not detected as long as quotes and brackets
 * match. Strings are scanned four bytes at a time; one with an escape is scanned byte by byte.
 *
 *     {"kind":"Pod","metadata":{"name":"a"}}
 *      ^ findMember(1, end, '"metadata":') is the position of the m's quote; valueEnd after the colon is that of the last }
 *
 * Invariant: no byte at or after `end` is read as part of the answer. A result below 0 means: not found before `end`.
 */
import { plainStringEnd, type ByteLiteral } from '#base'

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

export class JsonScanner {
  readonly bytes: Uint8Array
  readonly view: DataView

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** The position after the string that begins at `start`. */
  stringEnd(start: number, end: number): number {
    const { bytes } = this
    if (bytes[start] !== quote) return -1
    const found = plainStringEnd(this.view, start, end)
    if (found >= 0) return found
    for (let at = start + 1; at < end; at++) {
      const byte = bytes[at]
      if (byte === quote) return at + 1
      if (byte === backslash) at++
    }
    return -1
  }

  /** The position after the value that begins at `start`. */
  valueEnd(start: number, end: number): number {
    const { bytes } = this
    const first = bytes[start]
    if (first === quote) return this.stringEnd(start, end)
    if (first === openBrace || first === openBracket) return this.#nestedEnd(start, end)
    for (let at = start; at < end; at++) {
      const byte = bytes[at]
      if (byte === comma || byte === closeBrace || byte === closeBracket) return at > start ? at : -1
    }
    return -1
  }

  /**
   * The position of the member with this key among those of an object.
   *
   * @param start of the first member: the position after the opening brace.
   * @param key with its quotes and the colon, and as much of the value as it must begin with: `"metadata":{`.
   */
  findMember(start: number, end: number, key: ByteLiteral): number {
    const { bytes, view } = this
    for (let at = start; at < end; at++) {
      if (end - at >= key.length && key.isAt(view, at)) return at
      const keyEnd = this.stringEnd(at, end)
      if (keyEnd < 0 || bytes[keyEnd] !== colon) return -1
      at = this.valueEnd(keyEnd + 1, end)
      if (at < 0 || bytes[at] !== comma) return -1
    }
    return -1
  }

  #nestedEnd(start: number, end: number): number {
    const { bytes } = this
    let depth = 0
    for (let at = start; at < end; at++) {
      const byte = bytes[at]
      if (byte === quote) {
        at = this.stringEnd(at, end) - 1
        if (at < 0) return -1
      } else if (byte === openBrace || byte === openBracket) {
        depth++
      } else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) {
        return at + 1
      }
    }
    return -1
  }
}
