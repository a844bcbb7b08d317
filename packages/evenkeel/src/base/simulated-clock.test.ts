import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sleep } from './abort.ts'
import { flushPromises, SimulatedClock } from './simulated-clock.ts'

test('SimulatedClock moves only by advance', async () => {
  const clock = new SimulatedClock({ startMs: 1_000 })
  let fired = 0
  clock.after(100, () => {
    fired++
  })
  expect([clock.now(), clock.monotonic(), clock.pending, clock.nextInMs]).toEqual([1_000, 0, 1, 100])
  await clock.advance(99)
  expect([clock.now(), clock.monotonic(), fired, clock.nextInMs]).toEqual([1_099, 99, 0, 1])
  await clock.advance(1)
  expect([clock.now(), clock.monotonic(), fired, clock.pending, clock.nextInMs]).toEqual([1_100, 100, 1, 0, undefined])
})

test('SimulatedClock starts in 2026 by default', () => {
  expect(new Date(new SimulatedClock().now()).toISOString()).toBe('2026-01-01T00:00:00.000Z')
})

test('SimulatedClock fires timers in the order of their due times, then in the order they were set', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 }), async (delays) => {
      const clock = new SimulatedClock()
      const fired: [number, number][] = []
      for (const [index, delay] of delays.entries())
        clock.after(delay, () => {
          fired.push([clock.monotonic(), index])
        })
      await clock.advance(20)
      const expected = delays
        .map((delay, index): [number, number] => [delay, index])
        .sort(([a, i], [b, j]) => a - b || i - j)
      expect(fired).toEqual(expected)
    }),
  )
})

test('SimulatedClock runs promise callbacks between two timers', async () => {
  const clock = new SimulatedClock()
  const order: string[] = []
  clock.after(1, () => {
    order.push('first')
    void Promise.resolve()
      .then(() => undefined)
      .then(() => undefined)
      .then(() => {
        order.push('its promises')
      })
  })
  clock.after(1, () => {
    order.push('second')
  })
  await clock.advance(1)
  expect(order).toEqual(['first', 'its promises', 'second'])
})

test('SimulatedClock runs timers that timers set, if they fall due', async () => {
  const clock = new SimulatedClock()
  const fired: number[] = []
  const tick = (): void => {
    fired.push(clock.monotonic())
    clock.after(10, tick)
  }
  clock.after(10, tick)
  await clock.advance(35)
  expect(fired).toEqual([10, 20, 30])
  expect(clock.nextInMs).toBe(5)
})

test('SimulatedClock lets a loop that sleeps run a simulated day, with every second of it', async () => {
  const clock = new SimulatedClock()
  let seconds = 0
  void (async () => {
    for (;;) {
      await sleep(clock, 1_000)
      seconds++
    }
  })()
  await clock.advance(86_400_000)
  expect(seconds).toBe(86_400)
  expect(clock.pending).toBe(1)
})

test('SimulatedClock forgets a cancelled timer, also one cancelled by another that is due with it', async () => {
  const clock = new SimulatedClock()
  let fired = 0
  const cancel = clock.after(5, () => {
    fired++
  })
  clock.after(4, cancel)
  clock.after(5, () => {
    other()
  })
  const other = clock.after(5, () => {
    fired++
  })
  await clock.advance(10)
  other()
  expect([fired, clock.pending]).toEqual([0, 0])
})

test('SimulatedClock.soon is due at once, but not synchronous', async () => {
  const clock = new SimulatedClock()
  let fired = 0
  clock.soon(() => {
    fired++
  })
  expect(fired).toBe(0)
  await clock.advance(0)
  expect([fired, clock.monotonic()]).toEqual([1, 0])
})

test('SimulatedClock.jumpWall moves the wall clock only', async () => {
  const clock = new SimulatedClock({ startMs: 10_000_000 })
  let fired = 0
  clock.after(10, () => {
    fired++
  })
  clock.jumpWall(-3_600_000)
  expect([clock.now(), clock.monotonic(), clock.nextInMs]).toEqual([6_400_000, 0, 10])
  clock.jumpWall(1e12)
  await clock.advance(9)
  expect(fired).toBe(0)
  await clock.advance(1)
  expect([fired, clock.now()]).toEqual([1, 10_000_000 - 3_600_000 + 1e12 + 10])
})

test.each([-1, NaN, Infinity])('SimulatedClock refuses a delay of %d', async (delayMs) => {
  const clock = new SimulatedClock()
  expect(() => clock.after(delayMs, () => undefined)).toThrow(RangeError)
  await expect(clock.advance(delayMs)).rejects.toThrow(RangeError)
})

test('flushPromises waits for promise chains of any length, and for their ticks', async () => {
  const done: string[] = []
  const chain = async (name: string, hops: number): Promise<void> => {
    for (let hop = 0; hop < hops; hop++) await Promise.resolve()
    done.push(name)
  }
  void chain('short', 3)
  void chain('long', 5000)
  void chain('asks', 10)
    .then(
      () =>
        new Promise<void>((resolve) => {
          process.nextTick(resolve)
        }),
    )
    .then(() => chain('asked', 100))
  await flushPromises()
  expect(done).toEqual(['short', 'asks', 'long', 'asked'])
})

test('a pure clock runs promise callbacks between two timers, without a turn of the event loop', async () => {
  const clock = new SimulatedClock({ isPure: true })
  const order: string[] = []
  clock.after(1, () => {
    void Promise.resolve()
      .then(() => undefined)
      .then(() => {
        order.push('its promises')
      })
  })
  clock.after(1, () => {
    order.push('second')
  })
  await clock.advance(1)
  expect(order).toEqual(['its promises', 'second'])
})

test('SimulatedClock fires timers that became due while time passed at the next advance', async () => {
  const clock = new SimulatedClock({ startMs: 1_000 })
  const fired: number[] = []
  for (const delayMs of [1, 5])
    clock.after(delayMs, () => {
      fired.push(clock.monotonic())
    })
  clock.elapse(3)
  expect([clock.now(), clock.nextInMs, fired]).toEqual([1_003, 0, []])
  await clock.advance(0)
  expect([fired, clock.nextInMs]).toEqual([[3], 2])
})
