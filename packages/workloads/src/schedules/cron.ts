/**
 * Cron expressions: five fields, read into sets of numbers, and the next local time that matches.
 *
 *   minute 0-59   hour 0-23   day of month 1-31   month 1-12, JAN-DEC   day of week 0-7, SUN-SAT
 *   `*`  `7`  `1-5`  `1,15`  `8-18/2`  a star with a step, as in every tenth minute   @hourly @daily @midnight @weekly @monthly @yearly @annually
 *
 * When both days are given, one of them is enough, as in every cron: `0 9 1 * MON` is each Monday and each first.
 *
 * Local times here are milliseconds, as if the wall clock of the zone showed UTC: `2026-03-29 02:30` is the number that UTC has then,
 * whether the zone has that time or not. Worked example: `30 2 * * *` after the local time 02:30 is 02:30 of the next day.
 */
import { formatTime } from 'evenkeel/unstable/api'

export interface Cron {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  readonly days: ReadonlySet<number>
  readonly months: ReadonlySet<number>
  readonly weekdays: ReadonlySet<number>
  /** Both fields of days are given: one of them is enough. */
  readonly isEitherDay: boolean
  /** It runs in every hour of a day: by elapsed time, not at a time of the wall clock. */
  readonly isEveryHour: boolean
}

interface Field {
  /** As in messages. */
  readonly name: string
  readonly first: number
  readonly last: number
  /** Names of the numbers from `first` on. */
  readonly names?: readonly string[]
}

const months = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const weekdays = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

const fields: readonly Field[] = [
  { name: 'minute', first: 0, last: 59 },
  { name: 'hour', first: 0, last: 23 },
  { name: 'day of month', first: 1, last: 31 },
  { name: 'month', first: 1, last: 12, names: months },
  { name: 'day of week', first: 0, last: 7, names: weekdays },
]

const macros: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

/** @throws {RangeError} that names the field of the expression, what is wrong, and what to write */
export function parseCron(text: string): Cron {
  const words = (macros[text.trim().toLowerCase()] ?? text).trim().split(/\s+/)
  if (text.trim().startsWith('@') && words.length !== fields.length)
    throw new RangeError(`${text} is not known: write one of ${Object.keys(macros).join(', ')}, or five fields`)
  if (words.length !== fields.length)
    throw new RangeError(
      `an expression has five fields (minute, hour, day of month, month, day of week), got ${words.length}: write for example "30 2 * * *"`,
    )
  const none = new Set<number>()
  const sets = fields.map((field, index) => parseField(words[index] ?? '', field))
  const [minutes = none, hours = none, days = none, ofYear = none, ofWeek = none] = sets
  const isOpen = (index: number): boolean => /^[*?]/.test(words[index] ?? '')
  return {
    minutes,
    hours,
    days,
    months: ofYear,
    weekdays: new Set([...ofWeek].map((day) => day % 7)),
    isEitherDay: !isOpen(2) && !isOpen(4),
    isEveryHour: hours.size === 24,
  }
}

function parseField(word: string, field: Field): Set<number> {
  const numbers = new Set<number>()
  for (const part of word.split(',')) {
    const { first, last, step } = parseRange(part, field)
    for (let number = first; number <= last; number += step) numbers.add(number)
  }
  return numbers
}

function parseRange(part: string, field: Field): { first: number; last: number; step: number } {
  const match = /^(\*|\?|[0-9a-z]+)(?:-([0-9a-z]+))?(?:\/(\d+))?$/i.exec(part)
  if (!match) throw wrong(part, field, 'write a number, a range (1-5), a list (1,15), or a step (*/10)')
  const [, from = '', to, stepText] = match
  const isAll = from === '*' || from === '?'
  if (isAll && to !== undefined) throw wrong(part, field, `write * or ${field.first}-${to}`)
  const first = isAll ? field.first : numberOf(from, field)
  const last = to !== undefined ? numberOf(to, field) : isAll || stepText !== undefined ? lastOf(field) : first
  const step = stepText === undefined ? 1 : Number(stepText)
  if (step < 1) throw wrong(part, field, 'a step is 1 or more')
  if (last < first) throw wrong(part, field, `write ${first}-${lastOf(field)},${field.first}-${last}`)
  return { first, last, step }
}

/** Sunday is 0 or 7: a range without an end does not count it twice. */
function lastOf({ last, names }: Field): number {
  return names === weekdays ? 6 : last
}

function numberOf(text: string, field: Field): number {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1
  const number = named >= 0 ? field.first + named : Number(text)
  const isNumber = named >= 0 || /^\d+$/.test(text)
  if (isNumber && number >= field.first && number <= field.last) return number
  throw wrong(
    text,
    field,
    `write a number of ${field.first} to ${field.last}${field.names ? ` or a name (${field.names.slice(0, 2).join(', ')} …)` : ''}`,
  )
}

function wrong(part: string, { name }: Field, advice: string): RangeError {
  return new RangeError(`${JSON.stringify(part)} is not possible as ${name}: ${advice}`)
}

/* Local times. */

export const minuteMs = 60_000
export const dayMs = 86_400_000
/** February 29 is at most eight years away. */
const daysMax = 9 * 366

/** The first local time that matches, not before `fromMs`; undefined when none ever does (`0 0 30 2 *`). */
export function nextLocalTime(cron: Cron, fromMs: number): number | undefined {
  const fromMinute = Math.ceil(fromMs / minuteMs)
  const firstDay = Math.floor((fromMinute * minuteMs) / dayMs)
  for (let day = firstDay; day <= firstDay + daysMax; day++) {
    if (!isOnDay(cron, day)) continue
    const minute = nextMinute(cron, day === firstDay ? fromMinute - (day * dayMs) / minuteMs : 0)
    if (minute !== undefined) return day * dayMs + minute * minuteMs
  }
  return undefined
}

/** The first minute of a day that matches. */
function nextMinute({ hours, minutes }: Cron, from: number): number | undefined {
  for (let hour = Math.floor(from / 60); hour < 24; hour++) {
    if (!hours.has(hour)) continue
    for (let minute = Math.max(0, from - hour * 60); minute < 60; minute++)
      if (minutes.has(minute)) return hour * 60 + minute
  }
  return undefined
}

function isOnDay({ days, months: monthSet, weekdays: weekdaySet, isEitherDay }: Cron, day: number): boolean {
  const date = formatTime(day * dayMs)
  if (!monthSet.has(Number(date.slice(5, 7)))) return false
  const isDay = days.has(Number(date.slice(8, 10)))
  // 1970-01-01 was a Thursday.
  const isWeekday = weekdaySet.has((((day + 4) % 7) + 7) % 7)
  return isEitherDay ? isDay || isWeekday : isDay && isWeekday
}
