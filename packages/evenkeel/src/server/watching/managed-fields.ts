/**
 * Where an object at rest has its managed fields, which a watcher may do without: they are a quarter of what is sent.
 *
 * They are found in the bytes, from the beginning of the metadata (see `storage/bytes.ts` for how objects lie). What is
 * not found the expected way is sent as it is.
 */
import { skipString, skipValue } from '#api'

/** From the comma before them to their end; 0 and 0 when there are none. */
interface Cut {
  start: number
  end: number
}

const cut: Cut = { start: 0, end: 0 }
const metadata = Buffer.from('"metadata":{')
const managedFields = Buffer.from('"managedFields"')
const comma = 0x2c
const colon = 0x3a

/** The answer is used again for the next object. */
export function findManagedFields(bytes: Uint8Array): Cut {
  cut.start = cut.end = 0
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const found = view.indexOf(metadata)
  if (found < 0) return cut
  for (let at = found + metadata.length; at < bytes.length; at++) {
    const keyEnd = skipString(bytes, at, bytes.length)
    if (keyEnd < 0 || bytes[keyEnd] !== colon) return cut
    const end = skipValue(bytes, keyEnd + 1, bytes.length)
    if (end < 0) return cut
    // The version comes before everything else, so there is a comma before them.
    if (keyEnd - at === managedFields.length && view.compare(managedFields, 0, managedFields.length, at, keyEnd) === 0 && bytes[at - 1] === comma) {
      cut.start = at - 1
      cut.end = end
      return cut
    }
    if (bytes[end] !== comma) return cut
    at = end
  }
  return cut
}
