import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { httpDates } from './http-date.ts'

test('httpDates writes the time of the clock, a new text only when the second changes', async () => {
  const clock = new SimulatedClock({ startMs: 784_111_777_000 })
  const date = httpDates(clock)
  expect(date()).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
  await clock.advance(999)
  expect(date()).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
  await clock.advance(1)
  expect(date()).toBe('Sun, 06 Nov 1994 08:49:38 GMT')
  clock.jumpWall(-784_111_778_000 - 86_400_000)
  expect(date()).toBe('Wed, 31 Dec 1969 00:00:00 GMT')
})
