import { SimulatedClock } from '#base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { QueueModel } from './queue-model.fixture.ts'
import type { ModelAdd } from './queue-model.fixture.ts'
import { WorkQueue } from './work-queue.ts'

type Step =
  | { do: 'add'; add: ModelAdd }
  | { do: 'take' }
  | { do: 'done'; key: string }
  | { do: 'advance'; byMs: number }

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__')
const add: fc.Arbitrary<ModelAdd> = fc.record({
  key,
  afterMs: fc.constantFrom(-1, 0, 0, 0, 1, 5, 20, 60),
  priority: fc.constantFrom(-100, 0, 0, 3),
  reason: fc.constantFrom('x', 'y', 'z'),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('add' as const), add }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('done' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), byMs: fc.integer({ min: 0, max: 40 }) }) },
)

const ageing = { agedMs: 15, agedTurns: 3 }

class Pair {
  readonly clock = new SimulatedClock()
  readonly queue = new WorkQueue({ clock: this.clock, ...ageing })
  readonly model = new QueueModel(ageing)
  readonly working = new Set<string>()

  async do(one: Step): Promise<void> {
    if (one.do === 'add') {
      this.queue.add(one.add.key, one.add)
      this.model.add(one.add)
    } else if (one.do === 'take') await this.take()
    else if (one.do === 'done') {
      this.working.delete(one.key)
      this.queue.done(one.key)
      this.model.done(one.key)
    } else {
      await this.clock.advance(one.byMs)
      this.model.advance(one.byMs)
    }
    this.compare()
  }

  /** Takes from both; false when there was nothing. */
  async take(): Promise<boolean> {
    const expected = this.model.take()
    if (!expected) return false
    const item = await this.queue.take()
    expect(item).toEqual({ ...expected, reasonsLeftOut: 0 })
    expect(this.working.has(expected.key)).toBe(false)
    this.working.add(expected.key)
    return true
  }

  compare(): void {
    const states = [...this.queue.entries()].map(({ key: name, next, workingMs }) => [
      name,
      next,
      workingMs !== undefined,
    ])
    expect(states.sort()).toEqual(
      [...this.model.keys.values()].map(({ key: name, next, working }) => [name, next, working]).sort(),
    )
    expect(this.clock.pending).toBe(this.queue.waitingCount > 0 ? 1 : 0)
  }
}

test('WorkQueue does what a sorted map does: order, merging, one worker per key, nothing lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const pair = new Pair()
      for (const one of steps) await pair.do(one)
      // Whatever was asked for is handed out in the end.
      for (const name of [...pair.working]) await pair.do({ do: 'done', key: name })
      await pair.do({ do: 'advance', byMs: 1000 })
      while (await pair.take()) for (const name of [...pair.working]) await pair.do({ do: 'done', key: name })
      expect([...pair.queue.entries()]).toEqual([])
    }),
    { numRuns: 300 },
  )
})

test('WorkQueue loses no add and never has two workers on a key, with workers that wait', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(add, fc.integer({ min: 0, max: 5 })), { maxLength: 60 }),
      fc.integer({ min: 1, max: 4 }),
      async (adds, workers) => {
        const clock = new SimulatedClock()
        const queue = new WorkQueue({ clock, ...ageing })
        const pending = new Map<string, number>()
        const busy = new Set<string>()
        const running = Array.from({ length: workers }, async (_, index) => {
          for (let item = await queue.take(); item; item = await queue.take()) {
            expect(busy.has(item.key)).toBe(false)
            busy.add(item.key)
            pending.delete(item.key)
            await new Promise<void>((resolve) => {
              clock.after(index + 1, resolve)
            })
            busy.delete(item.key)
            queue.done(item.key)
          }
        })
        for (const [one, pauseMs] of adds) {
          queue.add(one.key, one)
          pending.set(one.key, (pending.get(one.key) ?? 0) + 1)
          await clock.advance(pauseMs)
        }
        await clock.advance(1000)
        await Promise.all([queue.stop(), ...running])
        expect([...pending]).toEqual([])
      },
    ),
    { numRuns: 60 },
  )
})
