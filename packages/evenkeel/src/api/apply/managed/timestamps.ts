/**
 * Times of managers that changed nothing: a write of which only they would be new is no write.
 */
import { deepEqual } from '../../json.ts'
import type { ManagedFieldsEntry } from '../../object.ts'

/**
 * Whether two lists say the same of who manages what, whenever they say it was written.
 *
 * To be asked last, when defaults are in place: what was applied may equal what was there only then.
 */
export function sameManagers(
  before: readonly ManagedFieldsEntry[] | undefined,
  after: readonly ManagedFieldsEntry[] | undefined,
): boolean {
  if (before === after) return true
  if (!before || !after || before.length !== after.length) return false
  return after.every(
    (entry, index) =>
      entry === before[index] || deepEqual({ ...entry, time: undefined }, { ...before[index], time: undefined }),
  )
}
