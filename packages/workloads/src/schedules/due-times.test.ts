/** Times of cron expressions in time zones, compared with a model that looks at every minute. */
import { formatTime, parseTime } from 'evenkeel/unstable/api'
import { randomInt, SeededRandom, type Random } from 'evenkeel/unstable/base'
import { describe, expect, test } from 'vitest'
import { parseCron } from './cron.ts'
import { countTimes, latestTime, nextTime, type Timing } from './due-times.ts'
import { TimeZone } from './time-zone.ts'

const minuteMs = 60_000

function timingOf(text: string, zone: string): Timing {
  const found = TimeZone.find(zone)
  if (!found) throw new RangeError(zone)
  return { cron: parseCron(text), zone: found }
}

function timesBetween(timing: Timing, from: string, until: string): string[] {
  const found: string[] = []
  const untilMs = parseTime(until) ?? 0
  for (let at = nextTime(timing, parseTime(from) ?? 0); at !== undefined && at <= untilMs; at = nextTime(timing, at))
    found.push(formatTime(at).slice(0, 16))
  return found
}

describe('W39: times in Europe/Berlin', () => {
  test('one in the gap runs once, right after it', () => {
    // 2026-03-29: 01:00Z is 02:00, which becomes 03:00.
    const from = '2026-03-28T12:00:00Z'
    const until = '2026-03-30T12:00:00Z'
    expect(timesBetween(timingOf('30 2 * * *', 'Europe/Berlin'), from, until)).toEqual([
      '2026-03-29T01:00',
      '2026-03-30T00:30',
    ])
    expect(timesBetween(timingOf('10,50 2 29 3 *', 'Europe/Berlin'), from, until)).toEqual(['2026-03-29T01:00'])
    // The search begins a minute before the gap, and in it there is nothing twice.
    expect(nextTime(timingOf('30 2 * * *', 'Europe/Berlin'), parseTime('2026-03-29T00:59:00Z') ?? 0)).toBe(
      parseTime('2026-03-29T01:00:00Z'),
    )
  })

  test('one in the overlap runs once, the first time', () => {
    // 2026-10-25: 01:00Z is 03:00, which becomes 02:00.
    const [from, until] = ['2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z']
    expect(timesBetween(timingOf('30 2 * * *', 'Europe/Berlin'), from, until)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
  })

  test('an expression for every hour counts elapsed time: it goes on in both passes of the overlap', () => {
    expect(
      timesBetween(timingOf('*/30 * * * *', 'Europe/Berlin'), '2026-10-24T23:45:00Z', '2026-10-25T02:00:00Z'),
    ).toEqual(['2026-10-25T00:00', '2026-10-25T00:30', '2026-10-25T01:00', '2026-10-25T01:30', '2026-10-25T02:00'])
  })
})

describe('times', () => {
  test('of a day that never comes are none', () => {
    expect(nextTime(timingOf('0 0 31 4 *', 'UTC'), 0)).toBeUndefined()
  })

  test('after a year of sleep the latest is found without counting through it', () => {
    const timing = timingOf('* * * * *', 'Europe/Berlin')
    const [afterMs, untilMs] = [parseTime('2025-01-01T00:00:00Z') ?? 0, parseTime('2026-01-01T00:00:30Z') ?? 0]
    expect(latestTime(timing, { afterMs, untilMs })).toBe(parseTime('2026-01-01T00:00:00Z'))
    expect(countTimes(timing, { afterMs, untilMs, max: 101 })).toBe(101)
    const yearly = timingOf('0 0 1 1 *', 'UTC')
    expect(latestTime(yearly, { afterMs, untilMs })).toBe(parseTime('2026-01-01T00:00:00Z'))
    expect(latestTime(yearly, { afterMs: untilMs, untilMs: untilMs + 1e9 })).toBeUndefined()
  })

  test('a zone that does not exist is not found', () => {
    expect(TimeZone.find('Mars/Olympus')).toBeUndefined()
  })
})

/* The model: the wall clock of the zone, minute by minute, as the runtime shows it. */

/** The local minute as a number that grows with the wall clock. */
function wallClock(zone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return (atMs) => {
    const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, value]))
    const { year = '', month = '', day = '', hour = '', minute = '' } = parts
    const two = (text: string): string => text.padStart(2, '0')
    return (parseTime(`${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:00Z`) ?? NaN) / minuteMs
  }
}

const has = (set: ReadonlySet<number>, number: number): boolean => set.has(number)

function matches({ cron }: Timing, wallMinute: number): boolean {
  const date = formatTime(wallMinute * minuteMs)
  const weekday = (Math.floor(wallMinute / 1440) + 4) % 7
  const isDay = has(cron.days, Number(date.slice(8, 10)))
  const isWeekday = has(cron.weekdays, weekday)
  return (
    has(cron.months, Number(date.slice(5, 7))) &&
    (cron.isEitherDay ? isDay || isWeekday : isDay && isWeekday) &&
    has(cron.hours, Number(date.slice(11, 13))) &&
    has(cron.minutes, Number(date.slice(14, 16)))
  )
}

function modelTimes(timing: Timing, walls: readonly number[], fromMinute: number): number[] {
  const due: number[] = []
  let highest = walls[0] ?? 0
  for (const [index, wall] of walls.entries()) {
    if (index === 0) continue
    // Minutes that the wall clock leaves out count for the first one after them.
    let isDue = false
    for (let skipped = (walls[index - 1] ?? 0) + 1; skipped < wall; skipped++) isDue ||= matches(timing, skipped)
    isDue ||= matches(timing, wall) && (timing.cron.isEveryHour || wall > highest)
    if (isDue) due.push((fromMinute + index) * minuteMs)
    highest = Math.max(highest, wall)
  }
  return due
}

const changes = [
  ['Europe/Berlin', '2026-03-28T00:00:00Z'],
  ['Europe/Berlin', '2026-10-24T00:00:00Z'],
  ['America/New_York', '2026-03-07T12:00:00Z'],
  ['America/New_York', '2026-10-31T12:00:00Z'],
  // Half an hour, at 02:00.
  ['Australia/Lord_Howe', '2026-04-04T00:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T00:00:00Z'],
  // At midnight.
  ['America/Sao_Paulo', '2018-11-03T12:00:00Z'],
  ['America/Sao_Paulo', '2018-02-17T12:00:00Z'],
  // A whole day is left out.
  ['Pacific/Apia', '2011-12-29T12:00:00Z'],
  ['Asia/Kathmandu', '2026-03-28T00:00:00Z'],
] as const

function randomField(random: Random, first: number, last: number): string {
  const number = (): number => first + randomInt(random, last - first + 1)
  const [a, b] = [number(), number()].sort((x, y) => x - y) as [number, number]
  switch (randomInt(random, 5)) {
    case 0:
      return `${a}-${b}`
    case 1:
      return `*/${1 + randomInt(random, 30)}`
    case 2:
      return `${a},${b}`
    case 3:
      return '*'
    default:
      return String(a)
  }
}

function randomCron(random: Random): string {
  const days = randomInt(random, 3) === 0 ? randomField(random, 1, 31) : '*'
  const weekdays = randomInt(random, 3) === 0 ? randomField(random, 0, 7) : '*'
  return `${randomField(random, 0, 59)} ${randomField(random, 0, 23)} ${days} * ${weekdays}`
}

test.each(changes)('W39: in %s around %s the times are those of a model that looks at every minute', (zone, from) => {
  const fromMinute = (parseTime(from) ?? 0) / minuteMs
  const wallAt = wallClock(zone)
  const walls = Array.from({ length: 2 * 1440 }, (_, index) => wallAt((fromMinute + index) * minuteMs))
  const random = new SeededRandom(`${zone} ${from}`)
  for (let round = 0; round < 40; round++) {
    const text = randomCron(random)
    const timing = timingOf(text, zone)
    const expected = modelTimes(timing, walls, fromMinute).map((at) => formatTime(at))
    const found: string[] = []
    const untilMs = (fromMinute + walls.length - 1) * minuteMs
    for (let at = nextTime(timing, fromMinute * minuteMs); at !== undefined && at <= untilMs; at = nextTime(timing, at))
      found.push(formatTime(at))
    expect({ text, times: found }).toEqual({ text, times: expected })
  }
})
