/**
 * Times of managers that changed nothing: a write of which only they would be new is no write.
 */
import { deepEqual } from '../../json.ts'
import type { JsonObject } from '../../json.ts'
import { entriesOf, withEntries } from './request.ts'

/**
 * The object with the live managed fields, if nothing else tells the two apart than times in there.
 *
 * To be called last, when defaults are in place: what was applied may equal what was there only then.
 */
export function keepTimestamps(live: JsonObject, next: JsonObject): JsonObject {
  const [before, after] = [entriesOf(live), entriesOf(next)]
  if (!before || !after || before === after || before.length !== after.length) return next
  const sameOwners = after.every((entry, index) => deepEqual({ ...entry, time: undefined }, { ...before[index], time: undefined }))
  if (!sameOwners || !deepEqual(withEntries(live, undefined), withEntries(next, undefined))) return next
  return withEntries(next, before)
}
