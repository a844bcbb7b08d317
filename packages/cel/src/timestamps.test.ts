import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addDuration,
  civilTime,
  Duration,
  printDuration,
  printTimestamp,
  readDuration,
  readTimestamp,
  Timestamp,
} from './timestamps.ts'
import { EvaluationError } from './values.ts'

const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 })

describe('timestamps', () => {
  test('are read as they were printed, to the nanosecond', () => {
    fc.assert(
      fc.property(seconds, fc.integer({ min: 0, max: 999_999_999 }), (whole, nanos) => {
        expect(readTimestamp(printTimestamp(new Timestamp(whole, nanos)))).toEqual(new Timestamp(whole, nanos))
      }),
    )
  })

  test('plus a duration and minus it again are what they were, or out of range', () => {
    fc.assert(
      fc.property(seconds, fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (whole, nanos) => {
        const later = addDuration(new Timestamp(whole), nanos)
        if (!(later instanceof EvaluationError)) expect(addDuration(later, -nanos)).toEqual(new Timestamp(whole))
      }),
    )
  })

  test('remember the offset they were written with', () => {
    const moment = readTimestamp('2024-01-01T00:30:00+02:30')
    expect(moment instanceof Timestamp && [moment.seconds, printTimestamp(moment)]).toEqual([
      1_704_060_000,
      '2024-01-01T00:30:00+02:30',
    ])
  })

  test('know the calendar, also before 1970 and on leap days', () => {
    expect(civilTime(0)).toMatchObject({ year: 1970, month: 1, day: 1, dayOfWeek: 4, dayOfYear: 0 })
    expect(civilTime(-1)).toMatchObject({ year: 1969, month: 12, day: 31, hour: 23, second: 59, dayOfYear: 364 })
    expect(civilTime(1_709_164_800)).toMatchObject({ year: 2024, month: 2, day: 29, dayOfYear: 59, dayOfWeek: 4 })
    expect(civilTime(-62_135_596_800)).toMatchObject({ year: 1, month: 1, day: 1, dayOfWeek: 1 })
  })
})

describe('durations', () => {
  test.each([
    ['1h30m', '5400s'],
    ['-1.5s', '-1.5s'],
    ['100ns', '0.0000001s'],
    ['1.000000001s', '1.000000001s'],
    ['0', '0s'],
    ['1us1ms', '0.001001s'],
  ])('reads %s as %s', (text, printed) => {
    expect(printDuration(readDuration(text)!)).toBe(printed)
  })

  test('are refused when they are none or do not fit', () => {
    expect(['', 's', '1', '1d', '1 h', '9223372037s', '1e3s'].map((text) => readDuration(text))).toEqual(
      new Array(7).fill(undefined),
    )
    expect(readDuration('9223372036.854775807s')).toEqual(new Duration(2n ** 63n - 1n))
  })
})
