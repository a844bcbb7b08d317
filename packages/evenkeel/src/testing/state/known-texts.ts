/**
 * JSON that was read before: schedules of one exploration differ in little, and most of what is written, sent and told
 * in one was written in another, letter by letter.
 *
 * Invariant: what is given back is shared and frozen.
 */
import { deepFreeze } from '#api'
import type { JsonValue } from '#api'

const known = new Map<string, JsonValue>()
const [knownMax, textMax] = [2000, 16_384]

/** @throws {SyntaxError} for what is no JSON. */
export function parseCached(text: string): JsonValue {
  const found = known.get(text)
  if (found !== undefined) return found
  const value = deepFreeze(JSON.parse(text) as JsonValue)
  if (known.size >= knownMax) known.clear()
  if (text.length <= textMax) known.set(text, value)
  return value
}

export function parseCachedBytes(bytes: Uint8Array): JsonValue {
  return parseCached(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
}
