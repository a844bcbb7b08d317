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
const managedFields = Buffer.from('"managedFields":')
const comma = 0x2c
const colon = 0x3a

/** The answer is used again for the next object. */
export function findManagedFields(bytes: Uint8Array): Cut {
  cut.start = cut.end = 0
  const found = findField(bytes, 1, metadata)
  const at = found < 0 ? -1 : findField(bytes, found + metadata.length, managedFields)
  const end = at < 0 ? -1 : skipValue(bytes, at + managedFields.length, bytes.length)
  // The version comes before everything else, so there is a comma before them.
  if (end < 0 || bytes[at - 1] !== comma) return cut
  cut.start = at - 1
  cut.end = end
  return cut
}

/** Where the field with this key is among those that begin at a place; below 0 when it is not. */
function findField(bytes: Uint8Array, start: number, key: Uint8Array): number {
  for (let at = start; at < bytes.length; at++) {
    if (startsWith(bytes, at, key)) return at
    const keyEnd = skipString(bytes, at, bytes.length)
    if (keyEnd < 0 || bytes[keyEnd] !== colon) return -1
    at = skipValue(bytes, keyEnd + 1, bytes.length)
    if (at < 0 || bytes[at] !== comma) return -1
  }
  return -1
}

function startsWith(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) if (bytes[start + index] !== text[index]) return false
  return true
}
