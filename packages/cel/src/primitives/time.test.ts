import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDuration, formatMicroTime, formatTime, parseDuration, parseTime, parseTimestamp } from './time.ts'

/** The calendar once more, counted day by day: slow, and too simple to be wrong. */
function naiveText(epochMs: number): string {
  let days = Math.floor(epochMs / 86_400_000)
  let [year, month] = [1970, 0]
  const length = (): number =>
    [31, year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][
      month
    ] ?? 0
  while (days < 0) {
    month = (month + 11) % 12
    if (month === 11) year--
    days += length()
  }
  while (days >= length()) {
    days -= length()
    month = (month + 1) % 12
    if (month === 0) year++
  }
  const ms = epochMs - Math.floor(epochMs / 86_400_000) * 86_400_000
  const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60]
    .map((part) => String(Math.floor(part)).padStart(2, '0'))
    .join(':')
  return `${String(year).padStart(4, '0')}-${String(month + 1).padStart(2, '0')}-${String(days + 1).padStart(2, '0')}T${clock}.${String(ms % 1000).padStart(3, '0')}Z`
}

const [minMs, maxMs] = [-62_135_596_800_000, 253_402_300_799_999]
const anyMs = fc.oneof(
  fc.integer({ min: minMs, max: maxMs }),
  fc.constantFrom(minMs, maxMs, 0, -1, 999, 951_782_400_000, -2_203_891_201_000),
)

describe('times', () => {
  test.each([
    [0, '1970-01-01T00:00:00Z'],
    [1_700_000_000_000, '2023-11-14T22:13:20Z'],
    [951_782_400_000, '2000-02-29T00:00:00Z'],
    [-1, '1969-12-31T23:59:59Z'],
    [minMs, '0001-01-01T00:00:00Z'],
    [maxMs, '9999-12-31T23:59:59Z'],
    [4_107_542_400_000, '2100-03-01T00:00:00Z'],
    [4_107_542_399_999, '2100-02-28T23:59:59Z'],
  ])('formatTime(%d)', (ms, text) => expect(formatTime(ms)).toBe(text))

  test('formatTime and formatMicroTime agree with a calendar counted day by day', () => {
    fc.assert(
      fc.property(anyMs, (ms) => {
        expect(formatTime(ms)).toBe(naiveText(Math.floor(ms / 1000) * 1000).replace('.000Z', 'Z'))
        expect(formatMicroTime(ms)).toBe(naiveText(ms).replace('Z', '000Z'))
      }),
      { numRuns: 300 },
    )
  })

  test('formatMicroTime keeps microseconds it is given', () => {
    expect(formatMicroTime(1_700_000_000_123.25)).toBe('2023-11-14T22:13:20.123250Z')
  })

  test('parseTime reads back what both write', () => {
    fc.assert(
      fc.property(anyMs, (ms) => {
        expect(parseTime(formatMicroTime(ms))).toBe(ms)
        expect(parseTime(formatTime(ms))).toBe(Math.floor(ms / 1000) * 1000)
      }),
    )
  })

  test.each([
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00+02:00', '2026-03-01T10:00:00.000Z'],
    ['2026-03-01T12:00:00+23:59', '2026-02-28T12:01:00.000Z'],
    ['2026-03-01T00:00:00-05:30', '2026-03-01T05:30:00.000Z'],
    ['2024-02-29T23:59:59.9Z', '2024-02-29T23:59:59.900Z'],
    ['1969-12-31T23:59:59.001Z', '1969-12-31T23:59:59.001Z'],
    ['2026-03-01T12:00:00.123456789Z', '2026-03-01T12:00:00.123Z'],
  ])('parseTime reads %s', (text, iso) => expect(formatMicroTime(parseTime(text) ?? 0)).toBe(iso.replace('Z', '000Z')))

  test('parseTimestamp keeps nanoseconds, and cuts what is finer', () => {
    expect(parseTimestamp('1970-01-01T00:00:01.000000009Z')).toEqual({ seconds: 1, nanos: 9 })
    expect(parseTimestamp('1970-01-01T00:00:01.9999999999Z')).toEqual({ seconds: 1, nanos: 999_999_999 })
    expect(parseTimestamp('1969-12-31T23:59:59.25Z')).toEqual({ seconds: -1, nanos: 250_000_000 })
  })

  test.each([
    '',
    'now',
    '2026-03-01',
    '2026-03-01 12:00:00Z',
    '2026-03-01T12:00:00',
    '2026-03-01T12:00Z',
    '2026-13-01T12:00:00Z',
    '2026-00-01T12:00:00Z',
    '2026-02-29T12:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-03-00T12:00:00Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T12:60:00Z',
    '2026-03-01T12:00:60Z',
    '2026-03-01T12:00:00.Z',
    '2026-03-01T12:00:00+24:00',
    '2026-03-01T12:00:00+01:60',
    '2026-03-01T12:00:00+0100',
    '2026-03-01T12:00:00z',
    ' 2026-03-01T12:00:00Z',
    '2026-03-01T12:00:00Z\n',
  ])('parseTime refuses %j', (text) => expect(parseTime(text)).toBeUndefined())

  test.each([NaN, Infinity, maxMs + 1, minMs - 1])('formatTime refuses %d', (ms) =>
    expect(() => formatTime(ms)).toThrow(RangeError),
  )
})

describe('durations', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['1s', 1000],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['300ms', 300],
    ['-300ms', -300],
    ['+1m', 60_000],
    ['.5s', 500],
    ['1.s', 1000],
    ['1us', 0.001],
    ['1µs', 0.001],
    ['1μs', 0.001],
    ['1000000ns', 1],
    ['1h0m0s', 3_600_000],
    ['-0', 0],
  ])('parseDuration reads %s', (text, ms) => expect(parseDuration(text)).toBeCloseTo(ms, 9))

  test.each(['', '1', 's', '1d', '1 s', '--1s', '1s-1s', '.s', '1m1', 'infinity'])(
    'parseDuration refuses %j',
    (text) => {
      expect(parseDuration(text)).toBeUndefined()
    },
  )

  test.each([
    [0, '0s'],
    [1000, '1s'],
    [1500, '1.5s'],
    [60_000, '1m0s'],
    [90_500, '1m30.5s'],
    [3_600_000, '1h0m0s'],
    [5_400_000, '1h30m0s'],
    [300, '300ms'],
    [1.5, '1.5ms'],
    [0.001, '1µs'],
    [0.0015, '1.5µs'],
    [0.000001, '1ns'],
    [-1500, '-1.5s'],
    [100 * 3_600_000, '100h0m0s'],
    [10_000, '10s'],
  ])('formatDuration writes %d ms', (ms, text) => expect(formatDuration(ms)).toBe(text))

  test('what is written reads back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBeCloseTo(ms, 3)
      }),
    )
  })

  test('formatDuration refuses what is no number', () => expect(() => formatDuration(NaN)).toThrow('got NaN'))
})
