/**
 * Several things that say they belong to one object: one of them is wrong, and marks alone do not say which.
 */
import { judgeMarks } from '../driver/marks.ts'
import type { Session } from './session.ts'

/** Removes the others where the policy says so. @returns those that are left */
export async function removeTwins(
  session: Session,
  kept: string,
  twins: readonly string[],
): Promise<readonly string[]> {
  const {
    policy: { duplicates, paused, manage },
    parts: { driver, seen, marker },
    uid,
  } = session
  const left: string[] = []
  for (const id of twins) {
    const twin = await session.observe(id)
    if (!twin || id === kept || judgeMarks(twin.marks, marker, uid) !== 'ours') continue
    if (duplicates !== 'delete' || paused || !manage.includes('delete')) {
      left.push(id)
      continue
    }
    await session.assertCurrent()
    await session.call('remove', (given) => driver.remove(id, given))
  }
  seen.of(uid).twins = left
  return left
}
