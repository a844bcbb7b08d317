import { expect, test } from 'vitest'
import { age, humanDuration } from './age.ts'

const [minute, hour, day, year] = [60, 3600, 86_400, 365 * 86_400]

test.each([
  [0, '0s'],
  [0.9, '0s'],
  [-1.9, '0s'],
  [-2, '<invalid>'],
  [-year, '<invalid>'],
  [NaN, '<invalid>'],
  [119.9, '119s'],
  [120, '2m'],
  [121, '2m1s'],
  [10 * minute - 1, '9m59s'],
  [10 * minute, '10m'],
  [3 * hour - 1, '179m'],
  [3 * hour, '3h'],
  [3 * hour + 61, '3h1m'],
  [8 * hour - 1, '7h59m'],
  [8 * hour, '8h'],
  [2 * day - 1, '47h'],
  [2 * day, '2d'],
  [2 * day + hour, '2d1h'],
  [8 * day - 1, '7d23h'],
  [8 * day, '8d'],
  [2 * year - 1, '729d'],
  [2 * year, '2y'],
  [2 * year + day, '2y1d'],
  [8 * year - 1, '7y364d'],
  [8 * year, '8y'],
  [8 * year + 300 * day, '8y'],
  [2000 * year, '292y'],
])('humanDuration of %d seconds is %s', (seconds, text) => {
  expect(humanDuration(seconds * 1000)).toBe(text)
})

test('age counts from the moment to now', () => {
  const nowMs = 1_767_225_660_000
  expect(age('2026-01-01T00:00:00Z', nowMs)).toBe('60s')
  expect(age('2026-01-01T00:00:59.500000Z', nowMs)).toBe('0s')
  expect(age('2026-01-01T01:00:00+01:00', nowMs)).toBe('60s')
  expect(age('2026-01-01T00:02:00Z', nowMs)).toBe('<invalid>')
})

test.each([undefined, null, '', 'yesterday', 5, '0001-01-01T00:00:00Z', {}])('age of %j is not known', (moment) => {
  expect(age(moment, 0)).toBe('<unknown>')
})
