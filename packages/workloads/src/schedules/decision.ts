/**
 * What to do at a moment about a Schedule: nothing, or one Task for the latest time that is due. Nothing here acts.
 *
 *   times since the last decision   late by               then
 *   none                                                  nothing
 *   one or more                     at most a minute      the latest is due, those before were missed
 *   one or more                     more                  `RunLatest`: the latest is due;  `Skip`: all were missed
 *   one or more                     more than the deadline   all were missed
 *
 * Worked example: every five minutes, asleep from 10:02 to 11:01. The times from 10:05 to 10:55 are missed, and 11:00 is due: one Task.
 *
 * Invariants: at most one Task for each call, so neither sleep nor a clock that jumps starts a storm; a time is decided once, because
 * `decidedUntil` moves past it.
 */
import { countTimes, latestTime, nextTime, type Timing } from './due-times.ts'

interface ScheduleSituation {
  readonly nowMs: number
  /** Times up to here are decided. */
  readonly decidedUntilMs: number
  readonly missedPolicy: 'RunLatest' | 'Skip'
  readonly startingDeadlineSeconds?: number | undefined
}

export interface ScheduleDecision {
  readonly decidedUntilMs: number
  /** The time to make a Task for. */
  readonly dueMs?: number
  /** How many times pass without a Task; at most {@link missedMax} are counted. */
  readonly missed: number
  readonly nextMs?: number | undefined
}

/** A time that is later than this was missed. */
const onTimeMs = 60_000
export const missedMax = 100
/** A decision about a time so far ahead was made with a wrong clock. */
const wrongClockMs = 86_400_000

export function decideSchedule(timing: Timing, situation: ScheduleSituation): ScheduleDecision {
  const { nowMs, missedPolicy, startingDeadlineSeconds = Infinity } = situation
  const isAhead = situation.decidedUntilMs > nowMs + wrongClockMs
  const decidedUntilMs = isAhead ? nowMs : situation.decidedUntilMs
  const nextMs = nextTime(timing, Math.max(nowMs, decidedUntilMs))
  const latestMs = latestTime(timing, { afterMs: decidedUntilMs, untilMs: nowMs })
  if (latestMs === undefined) return { decidedUntilMs, missed: 0, nextMs }
  const lateMs = nowMs - latestMs
  const isDue = lateMs <= startingDeadlineSeconds * 1000 && (missedPolicy === 'RunLatest' || lateMs <= onTimeMs)
  const passed = countTimes(timing, { afterMs: decidedUntilMs, untilMs: nowMs, max: missedMax + 1 })
  return {
    decidedUntilMs: latestMs,
    ...(isDue && { dueMs: latestMs }),
    missed: isDue ? passed - 1 : passed,
    nextMs,
  }
}
