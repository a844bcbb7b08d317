import { expect, test } from 'vitest'
import { deferred, SimulatedClock } from '#base'
import { StoreProbe } from './store-probe.ts'

function make(head: () => Promise<number>): { probe: StoreProbe; clock: SimulatedClock; asked: () => number } {
  let asked = 0
  const clock = new SimulatedClock()
  const counted = (): Promise<number> => {
    asked++
    return head()
  }
  return { probe: new StoreProbe({ head: counted, failure: () => undefined }, clock), clock, asked: () => asked }
}

test('a store that stops answering is not ready after two seconds, and ready again at once', async () => {
  let answer: () => Promise<number> = () => new Promise(() => undefined)
  const { probe, clock } = make(() => answer())
  const waiting = probe.failure()
  await clock.advance(1_999)
  expect(await Promise.race([waiting, Promise.resolve('waits')])).toBe('waits')
  await clock.advance(1)
  expect(await waiting).toBe('the store does not answer within 2000 ms')
  answer = () => Promise.resolve(1)
  expect(await probe.failure()).toBeUndefined()
  expect(clock.pending).toBe(0)
})

test('questions that arrive together share one answer, which holds for half a second', async () => {
  const head = deferred<number>()
  const { probe, clock, asked } = make(() => head.promise)
  const together = Promise.all(Array.from({ length: 100 }, async () => probe.failure()))
  head.resolve(1)
  expect(new Set(await together)).toEqual(new Set([undefined]))
  await probe.failure()
  expect(asked()).toBe(1)
  await clock.advance(500)
  await probe.failure()
  expect(asked()).toBe(2)
})

test('a failure that the store reports counts at once, and an error as well', async () => {
  const clock = new SimulatedClock()
  const failing = new StoreProbe(
    { head: () => Promise.resolve(1), failure: () => ({ state: 'full', message: 'the disk is full' }) },
    clock,
  )
  expect(await failing.failure()).toBe('the disk is full')
  expect(await make(() => Promise.reject(new Error('broken'))).probe.failure()).toBe('Error: broken')
})
