/**
 * Where an object has its managed fields, which a watcher may do without: they are a quarter of what is sent.
 *
 * They are found in the bytes, from the beginning of the metadata (see `storage/bytes.ts` for how objects lie). Objects of
 * one kind begin alike: what comes before the metadata is read only when it differs from the object before. What is not
 * found the expected way is sent as it is.
 */
import { skipString, skipValue } from '#api'
import { ByteLiteral, plainStringEnd } from '#base'

/** From the comma before them to their end; 0 and 0 when there are none. */
interface ByteRange {
  start: number
  end: number
}

const range: ByteRange = { start: 0, end: 0 }
const metadata = new ByteLiteral(Buffer.from('"metadata":{'))
const managedFields = new ByteLiteral(Buffer.from('"managedFields":'))
const [quote, comma, colon] = [0x22, 0x2c, 0x3a]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Looks into some bytes with objects in them. */
export class ManagedFieldsFinder {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  /** How the last object began, up to what is in its metadata. */
  #beginning = metadata

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Those of the object from `start` to `end`; the answer is used again for the next object. */
  find(start: number, end: number): ByteRange {
    range.start = range.end = 0
    const fields = this.#metadataIn(start, end)
    const at = fields < 0 ? -1 : this.#findField(fields, end, managedFields)
    const fieldsEnd = at < 0 ? -1 : this.#skipValue(at + managedFields.length, end)
    // The version comes before everything else, so there is a comma before them.
    if (fieldsEnd < 0 || this.#bytes[at - 1] !== comma) return range
    range.start = at - 1
    range.end = fieldsEnd
    return range
  }

  /** Where the fields of the metadata begin; below 0 when they are not found. */
  #metadataIn(start: number, end: number): number {
    const beginning = this.#beginning
    if (beginning !== metadata && end - start >= beginning.length && beginning.isAt(this.#view, start))
      return start + beginning.length
    const found = this.#findField(start + 1, end, metadata)
    if (found < 0) return -1
    this.#beginning = new ByteLiteral(this.#bytes.subarray(start, found + metadata.length))
    return found + metadata.length
  }

  /** Where the field with this key is among those that begin at a place; below 0 when it is not. */
  #findField(start: number, end: number, key: ByteLiteral): number {
    const bytes = this.#bytes
    for (let at = start; at < end; at++) {
      if (end - at >= key.length && key.isAt(this.#view, at)) return at
      const keyEnd = this.#skipString(at, end)
      if (keyEnd < 0 || bytes[keyEnd] !== colon) return -1
      at = this.#skipValue(keyEnd + 1, end)
      if (at < 0 || bytes[at] !== comma) return -1
    }
    return -1
  }

  #skipString(start: number, end: number): number {
    const found = plainStringEnd(this.#view, start, end)
    return found < 0 ? skipString(this.#bytes, start, end) : found
  }

  #skipValue(start: number, end: number): number {
    const bytes = this.#bytes
    const first = bytes[start]
    if (first === quote) return this.#skipString(start, end)
    if (first !== openBrace && first !== openBracket) return skipValue(bytes, start, end)
    let depth = 0
    for (let at = start; at < end; at++) {
      const byte = bytes[at]
      if (byte === quote) {
        at = this.#skipString(at, end) - 1
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
