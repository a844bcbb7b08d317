import { expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { SpamFilter } from './event-recorder.ts'

test('SpamFilter lets a burst pass, then one per refill, each object on its own', async () => {
  const clock = new SimulatedClock()
  const filter = new SpamFilter({ clock, burst: 2, refillMs: 100 })
  expect([filter.accepts('a'), filter.accepts('a'), filter.accepts('a'), filter.accepts('b')]).toEqual([
    true,
    true,
    false,
    true,
  ])
  await clock.advance(99)
  expect(filter.accepts('a')).toBe(false)
  await clock.advance(1)
  expect([filter.accepts('a'), filter.accepts('a')]).toEqual([true, false])
  await clock.advance(100_000)
  expect([filter.accepts('a'), filter.accepts('a'), filter.accepts('a')]).toEqual([true, true, false])
})

test('SpamFilter forgets the object that was longest not written about', () => {
  const filter = new SpamFilter({ clock: new SimulatedClock(), burst: 1, objectsMax: 2 })
  expect(['a', 'b', 'a', 'c'].map((object) => filter.accepts(object))).toEqual([true, true, false, true])
  expect(['a', 'b'].map((object) => filter.accepts(object))).toEqual([false, true])
})
