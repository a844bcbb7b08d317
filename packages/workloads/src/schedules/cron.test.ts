/** Cron expressions: what they match, and what is refused. */
import { formatTime, parseTime } from 'evenkeel/unstable/api'
import { describe, expect, test } from 'vitest'
import { nextLocalTime, parseCron } from './cron.ts'

/** The next three local times. */
function times(text: string, from: string): string[] {
  const cron = parseCron(text)
  const found: string[] = []
  let at = parseTime(from) ?? 0
  for (let count = 0; count < 3; count++) {
    const next = nextLocalTime(cron, at)
    if (next === undefined) break
    found.push(formatTime(next).slice(0, 16))
    at = next + 60_000
  }
  return found
}

describe('a cron expression', () => {
  test.each([
    ['30 2 * * *', ['2026-01-01T02:30', '2026-01-02T02:30', '2026-01-03T02:30']],
    ['*/20 8-9 * * *', ['2026-01-01T08:00', '2026-01-01T08:20', '2026-01-01T08:40']],
    ['5/30 * * * *', ['2026-01-01T00:05', '2026-01-01T00:35', '2026-01-01T01:05']],
    ['0 0 29 feb *', ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00']],
    ['0 9 * * MON-FRI', ['2026-01-01T09:00', '2026-01-02T09:00', '2026-01-05T09:00']],
    ['0 0 * * 7', ['2026-01-04T00:00', '2026-01-11T00:00', '2026-01-18T00:00']],
    // Both days are given: one of them is enough.
    ['0 0 13 * FRI', ['2026-01-02T00:00', '2026-01-09T00:00', '2026-01-13T00:00']],
    // A field that begins with a star is open: both must match.
    ['0 0 */2 * SUN', ['2026-01-11T00:00', '2026-01-25T00:00', '2026-02-01T00:00']],
    ['0 12 1,15 jan,JUL *', ['2026-01-01T12:00', '2026-01-15T12:00', '2026-07-01T12:00']],
    ['@hourly', ['2026-01-01T00:00', '2026-01-01T01:00', '2026-01-01T02:00']],
    ['@Yearly', ['2026-01-01T00:00', '2027-01-01T00:00', '2028-01-01T00:00']],
    ['0 0 ? * 1', ['2026-01-05T00:00', '2026-01-12T00:00', '2026-01-19T00:00']],
    ['0 0 30 2 *', []],
  ])('%s', (text, expected) => {
    expect(times(text, '2026-01-01T00:00:00Z')).toEqual(expected)
  })

  test.each([
    ['70 * * * *', '"70" is not possible as minute: write a number of 0 to 59'],
    ['* * * *', 'an expression has five fields (minute, hour, day of month, month, day of week), got 4'],
    ['0 0 0 * *', '"0" is not possible as day of month: write a number of 1 to 31'],
    ['0 0 * JNA *', '"JNA" is not possible as month: write a number of 1 to 12 or a name (JAN, FEB …)'],
    ['0 22-2 * * *', '"22-2" is not possible as hour: write 22-23,0-2'],
    ['*/0 * * * *', '"*/0" is not possible as minute: a step is 1 or more'],
    ['1,,2 * * * *', '"" is not possible as minute'],
    ['0 0 L * *', '"L" is not possible as day of month'],
    ['@reboot', '@reboot is not known: write one of @hourly, @daily'],
    ['', 'an expression has five fields'],
  ])('%s is refused with what to write instead', (text, message) => {
    expect(() => parseCron(text)).toThrow(message)
  })
})
