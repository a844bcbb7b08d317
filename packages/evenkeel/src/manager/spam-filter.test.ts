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

test('SpamFilter knows 4096 objects, each with a burst of 25 and one more every five minutes', async () => {
  const clock = new SimulatedClock()
  const filter = new SpamFilter({ clock })
  const accepted = Array.from({ length: 26 }, () => filter.accepts('a'))
  expect(accepted).toEqual([...Array.from({ length: 25 }, () => true), false])
  await clock.advance(300_000)
  expect([filter.accepts('a'), filter.accepts('a')]).toEqual([true, false])
  const small = new SpamFilter({ clock, burst: 1 })
  for (let index = 0; index < 4096; index++) small.accepts(`o${index}`)
  expect(small.accepts('o0')).toBe(false)
  small.accepts('o4096')
  expect(small.accepts('o1')).toBe(true)
})
