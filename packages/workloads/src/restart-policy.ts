/**
 * Whether and when a process that ended is started again.
 *
 * Worked example with the defaults, of a program that ends at once:
 *
 *   run     1      2      3      4            9      10           one that ran for 30 s
 *   wait    0.2 s  0.4 s  0.8 s  1.6 s   …    30 s   30 s         0.2 s: it counts as the first failure
 *
 * A wait is up to a tenth shorter, so that processes that ended together do not start together. Waits are measured with
 * the monotonic clock: a wall clock that jumps starts nothing and delays nothing.
 */
import type { Random } from 'evenkeel/unstable/base'
import type { Run } from './runs.ts'

interface RestartSettings {
  readonly policy?: 'Always' | 'OnFailure' | 'Never' | undefined
  readonly initialSeconds?: number | undefined
  readonly maxSeconds?: number | undefined
  readonly resetSeconds?: number | undefined
  readonly limit?: number | undefined
}

/** What follows from the end of a run. */
export type AfterEnd =
  | { readonly then: 'stay'; readonly phase: 'Succeeded' | 'Failed'; readonly reason: string }
  /** `failures`: in a row, with this one. */
  | { readonly then: 'restart'; readonly waitMs: number; readonly failures: number }

const jitter = 0.1

/** The end of a run that was not requested. */
export function afterEnd(
  run: Pick<Run, 'end' | 'failures' | 'restarts' | 'startedMonotonicMs' | 'endedMonotonicMs'>,
  settings: RestartSettings,
  random: Random,
): AfterEnd {
  const { policy = 'Always', initialSeconds = 0.2, maxSeconds = 30, resetSeconds = 30, limit } = settings
  const isSuccess = run.end?.exitCode === 0
  if (policy === 'Never' || (policy === 'OnFailure' && isSuccess))
    return {
      then: 'stay',
      phase: isSuccess ? 'Succeeded' : 'Failed',
      reason: isSuccess ? 'Completed' : failureOf(run.end),
    }
  if (limit !== undefined && run.restarts >= limit) return { then: 'stay', phase: 'Failed', reason: 'RestartLimit' }
  const ranMs = (run.endedMonotonicMs ?? run.startedMonotonicMs) - run.startedMonotonicMs
  const failures = ranMs >= resetSeconds * 1000 ? 1 : run.failures + 1
  const waitMs = Math.min(maxSeconds * 1000, initialSeconds * 1000 * 2 ** Math.min(failures - 1, 30))
  return { then: 'restart', waitMs: waitMs * (1 - jitter * fraction(random)), failures }
}

function failureOf(end: Run['end']): string {
  if (end?.signal !== undefined) return 'Signaled'
  return end?.exitCode === undefined ? (end?.reason ?? 'Failed') : 'ExitCode'
}

function fraction(random: Random): number {
  return random.uint32() / 2 ** 32
}
