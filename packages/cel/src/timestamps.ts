/**
 * Timestamps and durations in nanoseconds, with the limits of Go: years 1 to 9999, durations of 64 bits of nanoseconds.
 *
 * A timestamp keeps the offset of its text, which is used only for printing.
 */
import { parseTimestamp } from './primitives/time.ts'
import { EvaluationError, intMax, intMin } from './values.ts'

export class Timestamp {
  /** Whole seconds since 1970, rounded down. */
  readonly seconds: number
  /** 0 to 999,999,999, counted forward from `seconds`. */
  readonly nanos: number
  readonly offsetSeconds: number

  constructor(seconds: number, nanos = 0, offsetSeconds = 0) {
    this.seconds = seconds
    this.nanos = nanos
    this.offsetSeconds = offsetSeconds
  }
}

export class Duration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A timestamp, or an error outside the years 1 to 9999. */
export function timestampFromSeconds(seconds: number): Timestamp | EvaluationError {
  return seconds < secondsMin || seconds > secondsMax ? timestampOverflow : new Timestamp(seconds)
}

/** Parses RFC 3339 as leniently as Go (`T3:00:00`, a comma, `+24:00`); undefined for invalid text, an error when out of range. */
export function readTimestamp(text: string): Timestamp | EvaluationError | undefined {
  const [, date, hour, rest, , sign, hours = 0, minutes = 0] = lenientTime.exec(text) ?? []
  const parsed =
    date === undefined ? undefined : parseTimestamp(`${date}T${hour?.padStart(2, '0')}${rest?.replace(',', '.')}Z`)
  if (!parsed || Number(hours) > 24 || Number(minutes) > 59) return undefined
  const offset = (Number(hours) * 3600 + Number(minutes) * 60) * (sign === '-' ? -1 : 1)
  const seconds = parsed.seconds - offset
  return seconds < secondsMin || seconds > secondsMax
    ? timestampOverflow
    : new Timestamp(seconds, parsed.nanos, offset + 0)
}

/** Parses a Go duration such as `1h30m`; undefined for invalid text or an overflow. */
export function readDuration(text: string): Duration | undefined {
  if (!duration.test(text)) return undefined
  let total = 0n
  for (const [, whole = '', fraction = '', unit = ''] of text.matchAll(durationTerm))
    total += termNanos(whole, fraction, unitNanos.get(unit) ?? 0n)
  const signed = text.startsWith('-') ? -total : total
  return signed < intMin || signed > intMax ? undefined : new Duration(signed)
}

export function durationOf(nanos: bigint): Duration | EvaluationError {
  return nanos < intMin || nanos > intMax ? durationOverflow : new Duration(nanos)
}

/** The sum of a timestamp and a duration. */
export function addDuration(timestamp: Timestamp, nanos: bigint): Timestamp | EvaluationError {
  const total = BigInt(timestamp.seconds) * second + BigInt(timestamp.nanos) + nanos
  const seconds = floorDivide(total, second)
  if (seconds < BigInt(secondsMin) || seconds > BigInt(secondsMax)) return timestampOverflow
  return new Timestamp(Number(seconds), Number(total - seconds * second), timestamp.offsetSeconds)
}

export function durationBetween(a: Timestamp, b: Timestamp): Duration | EvaluationError {
  return durationOf((BigInt(a.seconds) - BigInt(b.seconds)) * second + BigInt(a.nanos - b.nanos))
}

/** `2026-03-01T12:00:00.5Z`: as many digits as needed. */
export function printTimestamp({ seconds, nanos, offsetSeconds }: Timestamp): string {
  const { year, month, day, hour, minute, second: secondOfMinute } = civilTime(seconds + offsetSeconds)
  const fraction = nanos === 0 ? '' : `.${pad(nanos, 9).replace(/0+$/, '')}`
  const time = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${pad(hour, 2)}:${pad(minute, 2)}:${pad(secondOfMinute, 2)}${fraction}`
  if (offsetSeconds === 0) return `${time}Z`
  const minutes = Math.abs(offsetSeconds) / 60
  return `${time}${offsetSeconds < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`
}

/** Seconds with an `s`, as CEL prints durations: `5400s`, `0.5s`. */
export function printDuration({ nanos }: Duration): string {
  const seconds = Number(nanos / second) + Number(nanos % second) / 1e9
  return `${plainDecimal(seconds)}s`
}

export interface CivilTime {
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  /** From 0. */
  readonly dayOfYear: number
  /** Sunday is 0. */
  readonly dayOfWeek: number
}

/** Date and time of day in the proleptic Gregorian calendar, from seconds since 1970. */
export function civilTime(epochSeconds: number): CivilTime {
  const days = Math.floor(epochSeconds / 86_400)
  const rest = epochSeconds - days * 86_400
  const { year, month, day } = civilDate(days)
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3600),
    minute: Math.floor((rest % 3600) / 60),
    second: rest % 60,
    dayOfYear: days - daysFromCivil(year),
    dayOfWeek: (((days + 4) % 7) + 7) % 7,
  }
}

/** The shortest decimal text of a number, without an exponent. */
function plainDecimal(value: number): string {
  const text = String(value)
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (!match) return text
  const [, sign = '', first = '', fraction = '', exponent = '0'] = match
  const digits = first + fraction
  const point = 1 + Number(exponent)
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits.padEnd(point, '0').slice(0, point)}${digits.length > point ? `.${digits.slice(point)}` : ''}`
}

const second = 1_000_000_000n
const secondsMin = -62_135_596_800
const secondsMax = 253_402_300_799
const timestampOverflow = new EvaluationError('timestamp overflow')
const durationOverflow = new EvaluationError('integer overflow')
const lenientTime = /^(\d{4}-\d{2}-\d{2})T(\d{1,2})(:\d{2}:\d{2}(?:[.,]\d+)?)(Z|([+-])(\d{2}):(\d{2}))$/
const duration = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/
const durationTerm = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/g
const unitNanos = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', second],
  ['m', 60n * second],
  ['h', 3600n * second],
])

function termNanos(whole: string, fraction: string, unit: bigint): bigint {
  // Digits beyond nanoseconds are cut, as in Go.
  const shown = fraction.slice(0, 18)
  return (
    BigInt(whole.slice(0, 20) || '0') * unit +
    (shown === '' ? 0n : (BigInt(shown) * unit) / 10n ** BigInt(shown.length))
  )
}

/** Converts days since 1970 to a date, by eras of 400 years. */
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
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  }
}

/** The day number of 1 January. */
function daysFromCivil(year: number): number {
  const before = year - 1
  return before * 365 + Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) - 719_162
}

function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0')
}
