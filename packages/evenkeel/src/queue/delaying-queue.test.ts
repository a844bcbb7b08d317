import type { Clock } from '#base'
import { SimulatedClock } from '#base'
import { expect, test } from 'vitest'
import { WorkQueue } from './work-queue.ts'

const dayMs = 24 * 60 * 60 * 1000

/** A clock whose timers fire when the test says so, as after a sleep of the machine. */
class HandClock implements Clock {
  timeMs = 0
  readonly timers = new Set<() => void>()

  now(): number {
    return 0
  }

  monotonic(): number {
    return this.timeMs
  }

  after(_delayMs: number, callback: () => void): () => void {
    const timer = (): void => {
      callback()
    }
    this.timers.add(timer)
    return () => {
      this.timers.delete(timer)
    }
  }

  soon(callback: () => void): void {
    this.after(0, callback)
  }

  /** Fires the timers that are set now. */
  fire(): void {
    for (const timer of [...this.timers]) {
      this.timers.delete(timer)
      timer()
    }
  }
}

test('case 19: a delay of 30 days does not end now', async () => {
  const clock = new SimulatedClock()
  const queue = new WorkQueue({ clock })
  queue.add('a', { afterMs: 30 * dayMs })
  await clock.advance(30 * dayMs - 1)
  expect(queue.readyCount).toBe(0)
  await clock.advance(1)
  expect(queue.readyCount).toBe(1)
})

test.each([-1, 1])('case 20: a jump of the wall clock by %d h changes no delay', async (hours) => {
  const clock = new SimulatedClock()
  const queue = new WorkQueue({ clock })
  queue.add('a', { afterMs: 1000 })
  clock.jumpWall(hours * 60 * 60 * 1000)
  await clock.advance(999)
  expect(queue.readyCount).toBe(0)
  await clock.advance(1)
  expect(queue.readyCount).toBe(1)
})

test('case 21: after a sleep of the machine all that is overdue is ready, once each, in the order of its times', async () => {
  const clock = new HandClock()
  const queue = new WorkQueue({ clock })
  queue.add('c', { afterMs: 300 })
  queue.add('a', { afterMs: 100 })
  queue.add('b', { afterMs: 200 })
  queue.add('d', { afterMs: dayMs })
  clock.timeMs = 60 * 60 * 1000
  clock.fire()
  expect([await queue.take(), await queue.take(), await queue.take()].map((item) => item?.key)).toEqual(['a', 'b', 'c'])
  expect([queue.readyCount, queue.waitingCount, clock.timers.size]).toEqual([0, 1, 1])
})

test('case 22: 50 000 keys that fall due together are released in steps, with room for others in between', () => {
  const clock = new HandClock()
  const queue = new WorkQueue({ clock })
  for (let index = 0; index < 50_000; index++) queue.add(String(index), { afterMs: 10 })
  clock.timeMs = 10
  let most = 0
  for (let before = 0; queue.waitingCount > 0; before = queue.readyCount) {
    clock.fire()
    most = Math.max(most, queue.readyCount - before)
  }
  expect(most).toBe(1000)
  expect(queue.readyCount).toBe(50_000)
  expect(clock.timers.size).toBe(0)
})

test('Delays sets its timer again when it fires too early', () => {
  const clock = new HandClock()
  const queue = new WorkQueue({ clock })
  queue.add('a', { afterMs: 10 })
  clock.timeMs = 9.7
  clock.fire()
  expect([queue.readyCount, clock.timers.size]).toEqual([0, 1])
  clock.timeMs = 10
  clock.fire()
  expect([queue.readyCount, clock.timers.size]).toEqual([1, 0])
})

test('Delays sets one timer, for the earliest', async () => {
  const clock = new SimulatedClock()
  const queue = new WorkQueue({ clock })
  for (const afterMs of [500, 100, 300, 200]) queue.add(String(afterMs), { afterMs })
  expect([clock.pending, clock.nextInMs]).toEqual([1, 100])
  await clock.advance(250)
  expect([queue.readyCount, clock.pending, clock.nextInMs]).toEqual([2, 1, 50])
})
