/**
 * Several things that say they belong to one object: one of them is wrong, and marks alone do not say which.
 */
import { checkOwnership } from '../driver/marks.ts'
import type { ExternalSession } from './session.ts'

/** Removes the others where the policy says so. @returns those that are left */
export async function removeDuplicates(
  session: ExternalSession,
  kept: string,
  duplicates: readonly string[],
): Promise<readonly string[]> {
  const {
    policy: { duplicates: onDuplicates, paused, manage },
    environment: { driver, observations: seen, identity: marker },
    uid,
  } = session
  const left: string[] = []
  for (const id of duplicates) {
    const duplicate = await session.observe(id)
    if (!duplicate || id === kept || checkOwnership(duplicate.labels, marker, uid) !== 'ours') continue
    if (onDuplicates !== 'delete' || paused || !manage.includes('delete')) {
      left.push(id)
      continue
    }
    await session.assertCurrent()
    await session.call('remove', (given) => driver.remove(id, given))
  }
  seen.of(uid).duplicates = left
  return left
}
