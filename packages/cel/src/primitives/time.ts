/**
 * Timestamps and durations as Kubernetes writes them, without the `Date` global (code that needs the current time gets a clock).
 *
 * Timestamps have seconds (`Time`, in metadata) or microseconds (`MicroTime`, in Leases and Events); parsing accepts all of
 * RFC 3339. Times are milliseconds since 1970 in UTC; years 1 to 9999.
 */

/** A time in nanoseconds, as in protobuf. */
export interface ParsedTimestamp {
  /** Whole seconds since 1970, rounded down. */
  readonly seconds: number
  /** 0 to 999,999,999, counted forward from `seconds`. */
  readonly nanos: number
}

/** `2026-03-01T12:00:00Z`: metav1.Time. Fractions of a second are cut off. */
export function formatTime(epochMs: number): string {
  const seconds = Math.floor(epochMs / 1000)
  // Every write has a timestamp, and thousands of writes happen in one second.
  if (seconds !== last.seconds) last = { seconds, text: `${formatSeconds(seconds)}Z` }
  return last.text
}

let last = { seconds: NaN, text: '' }

/** `2026-03-01T12:00:00.123456Z`: metav1.MicroTime. */
export function formatMicroTime(epochMs: number): string {
  const seconds = Math.floor(epochMs / 1000)
  const micros = Math.floor((epochMs - seconds * 1000) * 1000)
  return `${formatSeconds(seconds)}.${String(micros).padStart(6, '0')}Z`
}

/** Parses RFC 3339 to milliseconds; `undefined` for invalid text. */
export function parseTime(text: string): number | undefined {
  const timestamp = parseTimestamp(text)
  return timestamp && timestamp.seconds * 1000 + Math.floor(timestamp.nanos / 1_000_000)
}

/** Parses RFC 3339 to nanoseconds; digits after the ninth are cut off. */
export function parseTimestamp(text: string): ParsedTimestamp | undefined {
  const match = rfc3339.exec(text)
  if (!match) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month) || hour > 23 || minute > 59 || second > 59)
    return undefined
  const offset = offsetSeconds(match[8] ?? 'Z')
  if (offset === undefined) return undefined
  const seconds = daysSinceEpoch(year, month, day) * secondsPerDay + hour * 3600 + minute * 60 + second - offset
  return { seconds, nanos: Number((match[7] ?? '').slice(0, 9).padEnd(9, '0')) }
}

/** Parses a Go duration such as `1h30m`, `1.5s` or `-300ms` to milliseconds; `undefined` for invalid text. */
export function parseDuration(text: string): number | undefined {
  if (!duration.test(text)) return undefined
  if (/^[+-]?0$/.test(text)) return 0
  let totalMs = 0
  for (const [, amount = '', unit = ''] of text.matchAll(durationTerm))
    totalMs += Number(amount) * (unitMs.get(unit) ?? 0)
  return text.startsWith('-') ? -totalMs : totalMs
}

/** Formats milliseconds as Go does: `1h30m0s`, `1.5s`, `300ms`, `0s`. */
export function formatDuration(durationMs: number): string {
  if (!Number.isFinite(durationMs))
    throw new RangeError(`a duration is a finite number of milliseconds, got ${durationMs}`)
  if (durationMs === 0) return '0s'
  if (durationMs < 0) return `-${formatDuration(-durationMs)}`
  if (durationMs < 1000) return formatSubSecond(durationMs)
  const minutes = Math.floor(durationMs / 60_000)
  const seconds = trimZeros(((durationMs - minutes * 60_000) / 1000).toFixed(9))
  if (minutes === 0) return `${seconds}s`
  return minutes < 60 ? `${minutes}m${seconds}s` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}s`
}

const secondsPerDay = 86_400
const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(Z|[+-]\d{2}:\d{2})$/
const duration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const durationTerm = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g
const unitMs = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
])

function formatSubSecond(durationMs: number): string {
  if (durationMs >= 1) return `${trimZeros(durationMs.toFixed(6))}ms`
  if (durationMs >= 1e-3) return `${trimZeros((durationMs * 1e3).toFixed(3))}µs`
  return `${(durationMs * 1e6).toFixed(0)}ns`
}

function trimZeros(decimal: string): string {
  return decimal.replace(/\.?0+$/, '')
}

function formatSeconds(epochSeconds: number): string {
  const days = Math.floor(epochSeconds / secondsPerDay)
  const second = epochSeconds - days * secondsPerDay
  const { year, month, day } = civilDate(days)
  if (!(year >= 1 && year <= 9999))
    throw new RangeError(`a time lies between the years 1 and 9999, got ${epochSeconds} seconds since 1970`)
  const two = (value: number): string => String(value).padStart(2, '0')
  const clock = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60].map(two).join(':')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${clock}`
}

function offsetSeconds(zone: string): number | undefined {
  if (zone === 'Z') return 0
  const [hours = 0, minutes = 0] = zone.slice(1).split(':').map(Number)
  if (hours > 23 || minutes > 59) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 3600 + minutes * 60)
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

// Both directions count years from 1 March, so that the leap day is the last day of its year; an era is 400 years,
// always 146,097 days long, and 719,468 days lie between 1 March of the year 0 and 1 January 1970.

function daysSinceEpoch(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

function civilDate(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return { year, month, day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1 }
}
