/**
 * What the undisturbed schedule came to, what time alone makes of it for a program that looks at the clock, and what
 * chance alone does.
 */
import { Reference } from '../state/reference.ts'
import type { World, WorldOptions } from '../world/world.ts'
import { runSchedule } from './run-schedule.ts'

/** @param first the undisturbed schedule of `base` */
export async function referenceOf(
  first: World,
  base: Pick<WorldOptions, 'scenario' | 'initialState' | 'seed' | 'profile'>,
): Promise<Reference> {
  const isTimed = first.processes.some(({ manager }) =>
    manager?.ledger.entries().some(({ end }) => end?.afterMs !== undefined),
  )
  const patient =
    isTimed && !first.nonConvergence
      ? await runSchedule({ ...base, deviations: [{ at: { type: 'start', index: 0 }, deed: { type: 'wait' } }] })
      : undefined
  const lucky = first.nonConvergence ? undefined : await runSchedule({ ...base, deviations: [], chance: 'other' })
  return new Reference(first.quietStates, {
    ...(patient && { patient: patient.quietStates }),
    ...(lucky && { lucky: lucky.quietStates }),
  })
}
