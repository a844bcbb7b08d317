import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReadyNode, ReadyQueue } from './ready-queue.ts'

class Key extends ReadyNode {
  override readonly priority: number
  override readonly readyMs: number

  constructor(priority: number, readyMs: number) {
    super()
    this.priority = priority
    this.readyMs = readyMs
  }
}

test('ReadyKeys gives whoever is aged its turn within the bound, whatever comes after it', () => {
  const arrival = fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 3 })
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(arrival, { minLength: 100, maxLength: 200 }),
      (agedTurns, arrivals) => {
        const agedMs = 20
        const ready = new ReadyQueue<Key>({ agedMs, agedTurns })
        const low = new Key(-100, 0)
        ready.push(new Key(-50, 0))
        ready.push(low)
        const bound = agedMs + 2 * agedTurns
        const turn = arrivals.findIndex((priorities, index) => {
          const nowMs = index + 1
          for (const priority of priorities) ready.push(new Key(priority, nowMs))
          return ready.shift(nowMs) === low
        })
        expect(turn).toBeGreaterThanOrEqual(0)
        expect(turn).toBeLessThanOrEqual(bound)
      },
    ),
  )
})

test('ReadyKeys leaves priorities alone on all other turns: a backlog of old ones does not hold up a fresh one', () => {
  const ready = new ReadyQueue<Key>({ agedMs: 10, agedTurns: 8 })
  for (let index = 0; index < 1000; index++) ready.push(new Key(-100, 0))
  let waits = 0
  for (let nowMs = 1000; nowMs < 1100; nowMs++) {
    const fresh = new Key(0, nowMs)
    ready.push(fresh)
    while (ready.shift(nowMs) !== fresh) waits++
  }
  expect(waits).toBeLessThanOrEqual(100 / 7 + 1)
  expect(waits).toBeGreaterThan(0)
})

test('ReadyKeys takes any number of priorities, and holds none that is not used', () => {
  const ready = new ReadyQueue<Key>()
  const priorities = Array.from({ length: 1000 }, (_, index) => (index * 7919) % 1000)
  for (const priority of priorities) ready.push(new Key(priority, 0))
  expect(Array.from({ length: 1000 }, () => ready.shift(0)?.priority)).toEqual(priorities.sort((a, b) => b - a))
  expect([ready.size, ready.shift(0)]).toEqual([0, undefined])
})

test('ReadyKeys refuses numbers that make no sense', () => {
  for (const agedMs of [-1, NaN]) expect(() => new ReadyQueue({ agedMs })).toThrow(RangeError)
  for (const agedTurns of [0, 1.5, NaN]) expect(() => new ReadyQueue({ agedTurns })).toThrow(RangeError)
})
