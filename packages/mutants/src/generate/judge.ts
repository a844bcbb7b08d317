/**
 * Judges one program: explores it, and says what was found and what it did.
 *
 * The findings that the right controller has itself are known, and do not count for its mutants.
 */
import { createHash } from 'node:crypto'
import { explore } from 'evenkeel/testing'
import { SystemClock } from 'evenkeel/unstable/base'
import type { Explored, Failure, Tier } from 'evenkeel/testing'
import { loadSource } from './modules.ts'
import { Recorder } from './recorder.ts'

/** What a worker is asked to judge. */
export interface Job {
  readonly id: string
  readonly path: string
  readonly text: string
  readonly tier: Tier
  /** Stop at the first finding that is not one of these: `rule about`. Without it, everything is explored. */
  readonly known?: readonly string[]
  readonly schedulesMax?: number
  readonly budgetMs?: number
}

/** What was found in a program. */
export interface Alarm {
  readonly rule: string
  readonly about: string
  readonly message: string
  /** The deviations of the schedule that shows it. */
  readonly when: readonly string[]
  readonly diff: readonly string[]
}

export interface Verdict {
  readonly id: string
  readonly alarms: readonly Alarm[]
  readonly schedules: number
  readonly ms: number
  /** Schedules that were planned and did not run. */
  readonly left: number
  /** Why the program could not be explored. */
  readonly refused?: string
  /** The changed place was executed; always true without a probe. */
  readonly isReached: boolean
  /** A digest of all its writes and calls, in all schedules. */
  readonly requests: string
  /** A digest of the quiet states of the undisturbed schedules. */
  readonly undisturbed: string
}

const clock = new SystemClock()
let recorder: Recorder | undefined

export function keyOf({ rule, about }: Pick<Alarm, 'rule' | 'about'>): string {
  return `${rule} ${about}`
}

export async function judge(job: Job): Promise<Verdict> {
  recorder ??= new Recorder()
  const startedAtMs = clock.monotonic()
  let isReached = false
  Object.assign(globalThis, {
    __reached: () => {
      isReached = true
    },
  })
  const result = { id: job.id, alarms: [], schedules: 0, left: 0, requests: '', undisturbed: '' }
  const ms = (): number => Math.round(clock.monotonic() - startedAtMs)
  try {
    const subject = await loadSource(job.text, job.path)
    recorder.start()
    const first = await explore({ ...recorder.record(subject), tier: 0, stories: 0 })
    const undisturbed = createHash('sha256').update(recorder.quietStates.join('\n')).digest('hex')
    const explored = job.tier === 0 || isFound(first, job) ? first : await exploreOn(recorder, { subject, job })
    return {
      ...result,
      alarms: alarmsOf(explored),
      schedules: explored.schedules,
      left: explored.left,
      ms: ms(),
      isReached,
      requests: recorder.requests,
      undisturbed,
    }
  } catch (error) {
    return { ...result, ms: ms(), isReached, refused: error instanceof Error ? error.message : String(error) }
  }
}

function isFound({ failures }: Explored, { known }: Job): boolean {
  return known !== undefined && failures.some((one) => one.severity !== 'info' && !known.includes(keyOf(one)))
}

async function exploreOn(
  recording: Recorder,
  { subject, job: { known, tier, schedulesMax, budgetMs } }: { subject: Parameters<Recorder['record']>[0]; job: Job },
): Promise<Explored> {
  recording.start()
  return await explore({
    ...recording.record(subject),
    tier,
    stories: 0,
    ...(schedulesMax !== undefined && { schedulesMax }),
    ...(budgetMs !== undefined && { budgetMs }),
    ...(known && { until: (one) => one.severity !== 'info' && !known.includes(keyOf(one)) }),
  })
}

function alarmsOf({ failures }: Explored): Alarm[] {
  return failures
    .filter(({ severity }) => severity !== 'info')
    .map(({ rule, about, message, when, diff = [] }: Failure) => ({ rule, about, message, when, diff }))
}
