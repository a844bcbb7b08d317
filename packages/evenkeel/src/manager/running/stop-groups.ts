/**
 * Stopping in order, within a time: each group ends before the next is told, and what takes too long is cut off.
 *
 * A promise cannot be killed, so "cut off" means: it is told to stop, no longer waited for, and named.
 */
import { abortable, deadline } from '#base'
import type { Clock } from '#base'
import type { RunGroup } from './run-group.ts'

interface StopOptions {
  readonly reason: unknown
  /** For all groups together; 0 for no time at all, Infinity for as long as it takes. */
  readonly graceMs: number
  readonly clock: Clock
  /** The time is up: whatever else may be done to end things is done now. */
  readonly onGraceOver: () => void
}

/** Something did not stop in time; the process should end, because nobody knows what it still does. */
export class GraceExceededError extends Error {
  override readonly name = 'GraceExceededError'
  /** What was cut off. */
  readonly cut: readonly string[]

  constructor(graceMs: number, cut: readonly string[]) {
    super(`not everything stopped within ${graceMs} ms; cut off: ${cut.join(', ')}`)
    this.cut = cut
  }
}

/** How long the groups whose turn had not come get once the time is up. */
const finalGraceMs = 1000

/** Stops groups one after the other. Resolves with what was cut off, if anything was. */
export async function stopGroups(
  groups: readonly RunGroup[],
  options: StopOptions,
): Promise<GraceExceededError | undefined> {
  const { reason, graceMs, clock, onGraceOver } = options
  const limit = graceMs === Infinity ? undefined : deadline(clock, graceMs)
  const told: RunGroup[] = []
  for (const group of groups) {
    told.push(group)
    if (await endsInTime(group.stop(reason), limit?.signal)) continue
    const error = new GraceExceededError(
      graceMs,
      told.flatMap(({ running }) => running),
    )
    onGraceOver()
    const hurry = deadline(clock, finalGraceMs)
    await endsInTime(Promise.all(groups.map((each) => each.stop(reason))), hurry.signal)
    hurry.done()
    return error
  }
  limit?.done()
  return undefined
}

async function endsInTime(stopped: Promise<unknown>, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await abortable(stopped, { signal })
    return true
  } catch {
    return false
  }
}
