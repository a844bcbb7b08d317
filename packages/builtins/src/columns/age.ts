/**
 * Ages for people, as kubectl prints them: `42s`, `5m30s`, `3h`, `12d`, `2y40d`.
 *
 * Every range has its own pair of units, so that the text has at most about six characters; all numbers
 * are truncated, never rounded.
 */
import { parseTime } from 'evenkeel/unstable/builtins'

/** The zero time of Go, the start of the year 1. */
export const zeroTimeMs = -62_135_596_800_000

/** A duration. Because of clock skew, down to -1 s counts as now; less is `<invalid>`. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(Math.min(durationMs, durationMaxMs) / 1000)
  if (!(seconds >= -1)) return '<invalid>'
  if (seconds < 2 * minute) return `${Math.max(seconds, 0)}s`
  for (const { below, unit, rest } of ranges) if (seconds < below) return formatIn(seconds, unit, rest)
  return formatIn(seconds, units.y)
}

/** The age of an RFC 3339 timestamp; `<unknown>` when it is missing or invalid. */
export function age(moment: unknown, nowMs: number): string {
  const momentMs = toMs(moment)
  return momentMs === undefined ? '<unknown>' : humanDuration(nowMs - momentMs)
}

/** The milliseconds of a timestamp; `undefined` for invalid text and for the zero time. */
export function toMs(moment: unknown): number | undefined {
  const momentMs = typeof moment === 'string' ? parseTime(moment) : undefined
  return momentMs === zeroTimeMs ? undefined : momentMs
}

interface Unit {
  readonly letter: string
  readonly seconds: number
}

const [minute, hour, day] = [60, 3600, 86_400]
const year = 365 * day
/** 2^63 - 1 nanoseconds, the longest duration of Go: 292 years. */
const durationMaxMs = 9_223_372_036_854
const units = {
  s: { letter: 's', seconds: 1 },
  m: { letter: 'm', seconds: minute },
  h: { letter: 'h', seconds: hour },
  d: { letter: 'd', seconds: day },
  y: { letter: 'y', seconds: year },
} satisfies Record<string, Unit>
const ranges: readonly { readonly below: number; readonly unit: Unit; readonly rest?: Unit }[] = [
  { below: 10 * minute, unit: units.m, rest: units.s },
  { below: 3 * hour, unit: units.m },
  { below: 8 * hour, unit: units.h, rest: units.m },
  { below: 2 * day, unit: units.h },
  { below: 8 * day, unit: units.d, rest: units.h },
  { below: 2 * year, unit: units.d },
  { below: 8 * year, unit: units.y, rest: units.d },
]

function formatIn(seconds: number, unit: Unit, rest?: Unit): string {
  const whole = `${Math.floor(seconds / unit.seconds)}${unit.letter}`
  const left = rest ? Math.floor((seconds % unit.seconds) / rest.seconds) : 0
  return rest && left > 0 ? `${whole}${left}${rest.letter}` : whole
}
