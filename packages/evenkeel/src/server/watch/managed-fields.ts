/**
 * Finds the managed fields in the bytes of an object. A watcher can omit them; they are a quarter of the data.
 *
 * The search starts at the metadata (see `storage/stored-object.ts` for the layout). Objects of one kind have the same
 * beginning: the part before the metadata is scanned only when it differs from that of the previous object. An object
 * with an unexpected layout is sent unchanged.
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

/** Finds managed fields in a buffer of objects. */
export class ManagedFieldsFinder {
  readonly #scanner: JsonScanner
  /** The beginning of the last object, up to the content of its metadata. */
  #beginning = metadata

  constructor(bytes: Uint8Array) {
    this.#scanner = new JsonScanner(bytes)
  }

  /** The range in the object from `start` to `end`; the result is reused for the next object. */
  find(start: number, end: number): ByteRange {
    range.start = range.end = 0
    const fields = this.#metadataIn(start, end)
    const at = fields < 0 ? -1 : this.#scanner.findMember(fields, end, managedFields)
    const fieldsEnd = at < 0 ? -1 : this.#scanner.valueEnd(at + managedFields.length, end)
    // The resource version comes first, so there is a comma before them.
    if (fieldsEnd < 0 || this.#scanner.bytes[at - 1] !== comma) return range
    range.start = at - 1
    range.end = fieldsEnd
    return range
  }

  /** Where the fields of the metadata begin; negative when not found. */
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
