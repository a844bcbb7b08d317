/**
 * How many objects go into one call: all of them, unless they are a great many bytes.
 */
import { jsonSize } from '#api'
import type { JsonObject } from '#api'

/** Together they are small enough, whatever they hold: no object may be larger than what a store takes. */
const fewObjects = 16

/** Objects in their order, in batches that a call can carry. */
export function batchesOf(
  objects: readonly JsonObject[],
  { bytesMax = 16 * 1024 * 1024 }: { bytesMax?: number } = {},
): JsonObject[][] {
  if (objects.length <= fewObjects) return [[...objects]]
  const batches: JsonObject[][] = []
  let bytes = 0
  for (const object of objects) {
    const size = jsonSize(object)
    const last = batches.at(-1)
    if (last === undefined || bytes + size > bytesMax) {
      batches.push([object])
      bytes = size
      continue
    }
    last.push(object)
    bytes += size
  }
  return batches
}
