/**
 * Where an object has its managed fields, which a watcher may do without: they are a quarter of what is sent.
 *
 * They are found in the bytes, from the beginning of the metadata (see `storage/bytes.ts` for how objects lie). Objects of
 * one kind begin alike: what comes before the metadata is read only when it differs from the object before. What is not
 * found the expected way is sent as it is.
 */
import { JsonScanner } from '#api'
import { ByteLiteral } from '#base'

/** From the comma before them to their end; 0 and 0 when there are none. */
interface ByteRange {
  start: number
  end: number
}

const range: ByteRange = { start: 0, end: 0 }
const metadata = new ByteLiteral(Buffer.from('"metadata":{'))
const managedFields = new ByteLiteral(Buffer.from('"managedFields":'))
const comma = 0x2c

/** Looks into some bytes with objects in them. */
export class ManagedFieldsFinder {
  readonly #scanner: JsonScanner
  /** How the last object began, up to what is in its metadata. */
  #beginning = metadata

  constructor(bytes: Uint8Array) {
    this.#scanner = new JsonScanner(bytes)
  }

  /** Those of the object from `start` to `end`; the answer is used again for the next object. */
  find(start: number, end: number): ByteRange {
    range.start = range.end = 0
    const fields = this.#metadataIn(start, end)
    const at = fields < 0 ? -1 : this.#scanner.findMember(fields, end, managedFields)
    const fieldsEnd = at < 0 ? -1 : this.#scanner.valueEnd(at + managedFields.length, end)
    // The version comes before everything else, so there is a comma before them.
    if (fieldsEnd < 0 || this.#scanner.bytes[at - 1] !== comma) return range
    range.start = at - 1
    range.end = fieldsEnd
    return range
  }

  /** Where the fields of the metadata begin; below 0 when they are not found. */
  #metadataIn(start: number, end: number): number {
    const beginning = this.#beginning
    if (beginning !== metadata && end - start >= beginning.length && beginning.isAt(this.#scanner.view, start))
      return start + beginning.length
    const found = this.#scanner.findMember(start + 1, end, metadata)
    if (found < 0) return -1
    this.#beginning = new ByteLiteral(this.#scanner.bytes.subarray(start, found + metadata.length))
    return found + metadata.length
  }
}
