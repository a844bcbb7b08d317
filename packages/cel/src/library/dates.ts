/**
 * Accessors of timestamps and durations: `getHours()`, `getDayOfWeek('Europe/Vienna')`.
 *
 * The default time zone is UTC. A time zone is an IANA name or an offset such as `-08:00`.
 */
import { member, type Library, type Overload } from '../environment.ts'
import { civilTime, type CivilTime, type Duration, type Timestamp } from '../timestamps.ts'
import { durationType, intType, stringType, timestampType } from '../types.ts'
import { EvaluationError, intIfFits, type Value } from '../values.ts'

type TimePart = (time: CivilTime, nanos: number) => number

export const dates: Library = {
  getFullYear: parts('timestamp_to_year', ({ year }) => year),
  getMonth: parts('timestamp_to_month', ({ month }) => month - 1),
  getDayOfYear: parts('timestamp_to_day_of_year', ({ dayOfYear }) => dayOfYear),
  getDayOfMonth: parts('timestamp_to_day_of_month', ({ day }) => day - 1),
  getDate: parts('timestamp_to_day_of_month_1_based', ({ day }) => day),
  getDayOfWeek: parts('timestamp_to_day_of_week', ({ dayOfWeek }) => dayOfWeek),
  getHours: [...parts('timestamp_to_hours', ({ hour }) => hour), ofDuration('duration_to_hours', 3_600_000_000_000n)],
  getMinutes: [
    ...parts('timestamp_to_minutes', ({ minute }) => minute),
    ofDuration('duration_to_minutes', 60_000_000_000n),
  ],
  getSeconds: [
    ...parts('timestamp_to_seconds', ({ second }) => second, { zoned: 'timestamp_to_seconds_tz' }),
    ofDuration('duration_to_seconds', 1_000_000_000n),
  ],
  getMilliseconds: [
    ...parts('timestamp_to_milliseconds', (_, nanos) => Math.floor(nanos / 1_000_000)),
    ofDuration('duration_to_milliseconds', 1_000_000n),
  ],
}

function parts(id: string, part: TimePart, { zoned = `${id}_with_tz` }: { zoned?: string } = {}): Overload[] {
  return [
    member(id, [timestampType], {
      to: intType,
      run: ({ seconds, nanos }: Timestamp) => part(civilTime(seconds), nanos),
    }),
    member(zoned, [timestampType, stringType], {
      to: intType,
      run: ({ seconds, nanos }: Timestamp, zone: string) => {
        const offset = offsetOf(zone, seconds)
        return offset instanceof EvaluationError ? offset : part(civilTime(seconds + offset), nanos)
      },
    }),
  ]
}

function ofDuration(id: string, unit: bigint): Overload {
  return member(id, [durationType], { to: intType, run: ({ nanos }: Duration): Value => intIfFits(nanos / unit) ?? 0 })
}

/** The offset from UTC at that time, in seconds east. */
function offsetOf(zone: string, epochSeconds: number): number | EvaluationError {
  if (zone === '' || zone === 'UTC') return 0
  const fixed = /^([+-]?)(\d+):(\d+)$/.exec(zone)
  if (fixed) return (Number(fixed[2]) * 60 + Number(fixed[3])) * 60 * (fixed[1] === '-' ? -1 : 1)
  const clock = clockOf(zone)
  if (!clock) return new EvaluationError(`unknown time zone ${zone}`)
  const shown = clock.formatToParts(epochSeconds * 1000).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
  const offset = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(shown)
  if (!offset) return new EvaluationError(`unknown time zone ${zone}`)
  const seconds = Number(offset[2] ?? 0) * 3600 + Number(offset[3] ?? 0) * 60 + Number(offset[4] ?? 0)
  return offset[1] === '-' ? -seconds : seconds
}

const clocks = new Map<string, Intl.DateTimeFormat | undefined>()
const clocksMax = 500

function clockOf(zone: string): Intl.DateTimeFormat | undefined {
  if (!clocks.has(zone)) {
    if (clocks.size >= clocksMax) clocks.clear()
    clocks.set(zone, makeClock(zone))
  }
  return clocks.get(zone)
}

function makeClock(timeZone: string): Intl.DateTimeFormat | undefined {
  // Intl accepts offsets as names; Go does not.
  if (!/^[A-Za-z]/.test(timeZone)) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  } catch {
    return undefined
  }
}
