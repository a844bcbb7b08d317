/**
 * The times of a cron expression in a time zone, with its changes of the clock.
 *
 * Worked example, Europe/Berlin. On 2026-03-29 the wall clock goes from 02:00 to 03:00; on 2026-10-25 it goes from 03:00 back to 02:00.
 *
 *   30 2 * * *      2026-03-29  03:00, right after the gap that has no 02:30       2026-10-25  02:30, the first one only
 *   0,20,40 * * * * 2026-03-29  01:40, 03:00, 03:20                                2026-10-25  02:00 to 02:40, then once more
 *
 * An expression for every hour counts elapsed time; any other one counts wall-clock times, each of them once.
 *
 * Invariants: a time that the gap swallows runs once, at the first instant after it; an expression with given hours runs once for a
 * local time, however often the clock shows it; results are whole minutes.
 */
import { dayMs, minuteMs, nextLocalTime, type Cron } from './cron.ts'
import type { TimeZone } from './time-zone.ts'

export interface Timing {
  readonly cron: Cron
  readonly zone: TimeZone
}

/** The first time after an instant; undefined when there is none. */
export function nextTime({ cron, zone }: Timing, afterMs: number): number | undefined {
  // What is looked for begins at `fromMs`, where the offset is that of `knownMs`.
  let knownMs = Math.floor(afterMs / minuteMs) * minuteMs
  let fromMs = knownMs + minuteMs
  for (;;) {
    const offsetMs = zone.offsetMs(knownMs)
    const local = nextLocalTime(cron, fromMs + offsetMs)
    if (local === undefined) return undefined
    const atMs = local - offsetMs
    if (zone.offsetMs(atMs) === offsetMs) {
      if (cron.isEveryHour || !isRepeated(zone, atMs)) return atMs
      knownMs = atMs
      fromMs = atMs + minuteMs
      continue
    }
    const changeMs = changeBetween(zone, knownMs, atMs)
    // No local time between the offset before and the one after: the gap swallowed it.
    if (local < changeMs + zone.offsetMs(changeMs)) return changeMs
    knownMs = changeMs
    fromMs = changeMs
  }
}

/** The last time in an interval. Looks from its end, so that a year of sleep costs no more than a day. */
export function latestTime(
  timing: Timing,
  { afterMs, untilMs }: { readonly afterMs: number; readonly untilMs: number },
): number | undefined {
  for (const windowMs of [2 * minuteMs, 60 * minuteMs, dayMs, 32 * dayMs, 400 * dayMs, Infinity]) {
    const startMs = Math.max(afterMs, untilMs - windowMs)
    let latest: number | undefined
    for (let atMs = nextTime(timing, startMs); atMs !== undefined && atMs <= untilMs; atMs = nextTime(timing, atMs))
      latest = atMs
    if (latest !== undefined || startMs === afterMs) return latest
  }
  return undefined
}

/** How many times are in an interval, up to a limit. */
export function countTimes(
  timing: Timing,
  { afterMs, untilMs, max }: { readonly afterMs: number; readonly untilMs: number; readonly max: number },
): number {
  let count = 0
  for (
    let atMs = nextTime(timing, afterMs);
    atMs !== undefined && atMs <= untilMs && count < max;
    atMs = nextTime(timing, atMs)
  )
    count++
  return count
}

/** Whether the wall clock has shown this local time before. */
function isRepeated(zone: TimeZone, atMs: number): boolean {
  const offsetMs = zone.offsetMs(atMs)
  const beforeMs = zone.offsetMs(atMs - dayMs)
  return beforeMs > offsetMs && zone.offsetMs(atMs + offsetMs - beforeMs) === beforeMs
}

/** The first minute after a change of the offset between two instants, which differ in it. */
function changeBetween(zone: TimeZone, fromMs: number, toMs: number): number {
  const before = zone.offsetMs(fromMs)
  let [low, high] = [fromMs / minuteMs, toMs / minuteMs]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (zone.offsetMs(middle * minuteMs) === before) low = middle
    else high = middle
  }
  return high * minuteMs
}
