import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import { Backoff } from './backoff.ts'
import { ParkedKeys, requeue, type Outcome, type RequeueDecision } from './outcome.ts'
import { WorkQueue } from './work-queue.ts'

class Bench {
  readonly clock = new SimulatedClock()
  readonly queue = new WorkQueue({ clock: this.clock })
  readonly backoff = new Backoff({ jitter: 0 })
  readonly parked = new ParkedKeys()

  /** Adds the key unless it waits, takes it when it is ready, and ends the work like this. */
  async run(
    outcome: Outcome,
    { priority = 0, during }: { priority?: number; during?: () => void } = {},
  ): Promise<RequeueDecision> {
    if (this.queue.readyCount + this.queue.waitingCount === 0) this.queue.add('a', { priority })
    while (this.queue.readyCount === 0) await this.clock.advance(this.clock.nextInMs ?? 0)
    const item = await this.queue.take()
    during?.()
    const decision = requeue(item ?? { key: '', priority: 0, reasons: [] }, outcome, this)
    this.queue.done('a')
    return decision
  }

  get states(): unknown[] {
    return [...this.queue.entries()].map(({ next, dueInMs, priority }) => ({ next, dueInMs, priority }))
  }
}

const error: Outcome = { kind: 'error', error: new Error('no luck') }
const done: Outcome = { kind: 'done' }

describe('requeue', () => {
  test.each<{ outcome: Outcome; result: RequeueDecision['result']; afterMs?: number; retries: number }>([
    { outcome: done, result: 'success', retries: 0 },
    { outcome: { kind: 'after', afterMs: 700 }, result: 'requeue_after', afterMs: 700, retries: 0 },
    { outcome: { kind: 'after', afterMs: 0 }, result: 'success', retries: 0 },
    { outcome: { kind: 'after', afterMs: -1 }, result: 'success', retries: 0 },
    { outcome: { kind: 'park', waitingFor: 'a secret' }, result: 'success', retries: 0 },
    { outcome: { kind: 'error', error: new Error('busy'), leastMs: 900 }, result: 'error', afterMs: 900, retries: 3 },
    { outcome: { kind: 'error', error: new Error('busy'), leastMs: 1 }, result: 'error', afterMs: 20, retries: 3 },
    { outcome: { kind: 'error', error: new Error('busy'), leastMs: NaN }, result: 'error', afterMs: 20, retries: 3 },
    { outcome: error, result: 'error', afterMs: 20, retries: 3 },
    { outcome: { kind: 'terminal', error: 'never' }, result: 'error', retries: 2 },
    { outcome: { kind: 'conflict', error: 'late' }, result: 'requeue', afterMs: 20, retries: 3 },
    { outcome: { kind: 'deferred', afterMs: 300 }, result: undefined, afterMs: 300, retries: 2 },
  ])(
    'after two failures, $outcome counts as $result, goes again after $afterMs ms, and leaves $retries failures',
    async ({ outcome, result, afterMs, retries }) => {
      const bench = new Bench()
      await bench.run(error)
      await bench.run(error)
      expect(await bench.run(outcome)).toMatchObject({ result, afterMs, retries })
      expect(bench.backoff.retries('a')).toBe(retries)
      expect(bench.states).toEqual(afterMs === undefined ? [] : [{ next: 'waiting', dueInMs: afterMs, priority: 0 }])
    },
  )

  test('case 26: after three failures and a success, the next failure waits 5 ms', async () => {
    const bench = new Bench()
    for (const outcome of [error, error, error, done]) await bench.run(outcome)
    expect((await bench.run(error)).afterMs).toBe(5)
  })

  test('case 27: a success that asks to go again later starts afresh, too', async () => {
    const bench = new Bench()
    for (const outcome of [error, error, { kind: 'after', afterMs: 10 } as const]) await bench.run(outcome)
    expect((await bench.run(error)).afterMs).toBe(5)
  })

  test('case 28: what goes again without an error (conflicts: there is no `requeue: true`) waits longer each time', async () => {
    const bench = new Bench()
    const waits: unknown[] = []
    for (let round = 0; round < 4; round++)
      waits.push((await bench.run({ kind: 'conflict', error: undefined })).afterMs)
    expect(waits).toEqual([5, 10, 20, 40])
  })

  test('case 29: a terminal error does not go again and leaves the count as it was: the next error is one more', async () => {
    const bench = new Bench()
    await bench.run(error)
    const reason = new Error('never')
    expect(await bench.run({ kind: 'terminal', error: reason })).toMatchObject({
      afterMs: undefined,
      retries: 1,
      failure: { error: reason, isTerminal: true },
    })
    expect(bench.states).toEqual([])
    expect(await bench.run(error)).toMatchObject({ afterMs: 10, retries: 2, failure: { isTerminal: false } })
  })

  test('case 30: an event during a back-off of 1000 s makes the key run now, and a failure then counts on', async () => {
    const bench = new Bench()
    for (let round = 0; round < 19; round++) await bench.run(error)
    expect(bench.states).toEqual([{ next: 'waiting', dueInMs: 1_000_000, priority: 0 }])
    const before = bench.clock.monotonic()
    bench.queue.add('a')
    expect(await bench.run(error)).toMatchObject({ afterMs: 1_000_000, retries: 20 })
    expect(bench.clock.monotonic()).toBe(before)
  })

  test('case 32: forgetting a key leaves the retry that is under way', async () => {
    const bench = new Bench()
    await bench.run(error)
    bench.backoff.forget('a')
    await bench.clock.advance(5)
    expect(bench.queue.readyCount).toBe(1)
  })

  test('case 39: a key goes again with the priority of its run, unless the outcome names another', async () => {
    const bench = new Bench()
    await bench.run(error, { priority: -100 })
    expect(bench.states).toMatchObject([{ priority: -100 }])
    await bench.run({ ...error, priority: 7 })
    expect(bench.states).toMatchObject([{ priority: 7 }])
    await bench.run({ kind: 'after', afterMs: 5, priority: -3 })
    expect(bench.states).toMatchObject([{ priority: -3 }])
  })

  test('what was added during the work goes again at once, whatever the outcome', async () => {
    for (const outcome of [
      done,
      error,
      { kind: 'after', afterMs: 5000 },
      { kind: 'terminal', error: 1 },
      { kind: 'park', waitingFor: '' },
      { kind: 'deferred', afterMs: 5000 },
    ] as const) {
      const bench = new Bench()
      await bench.run(outcome, {
        during: () => {
          bench.queue.add('a')
        },
      })
      expect(bench.states).toEqual([{ next: 'ready', dueInMs: undefined, priority: 0 }])
    }
  })

  test('case 60: a conflict is quiet, until there are more than five in a row', async () => {
    const bench = new Bench()
    const results: unknown[] = []
    for (let round = 0; round < 6; round++) {
      const { result, failure } = await bench.run({ kind: 'conflict', error: 'late' })
      results.push(failure ? [result, failure.error] : result)
    }
    expect(results).toEqual(['requeue', 'requeue', 'requeue', 'requeue', 'requeue', ['error', 'late']])
  })

  test('a deferred key keeps its priority, its reasons and its place among the parked keys', async () => {
    const bench = new Bench()
    bench.parked.park('a', { waitingFor: 'a secret', priority: 3 })
    bench.queue.add('a', { priority: 3, reason: 'x' })
    bench.queue.add('a', { reason: 'y' })
    expect(await bench.run({ kind: 'deferred', afterMs: 300 })).toEqual({
      result: undefined,
      afterMs: 300,
      retries: 0,
      failure: undefined,
    })
    expect([bench.states, bench.parked.size]).toEqual([[{ next: 'waiting', dueInMs: 300, priority: 3 }], 1])
    await bench.clock.advance(300)
    expect(await bench.queue.take()).toMatchObject({ priority: 3, reasons: ['x', 'y'] })
  })

  test.each([NaN, Infinity, -Infinity])(
    'a delay or a priority of %d is a failure: the key is not lost',
    async (value) => {
      for (const outcome of [
        { kind: 'after', afterMs: value },
        { kind: 'deferred', afterMs: value },
        { kind: 'error', error: 1, priority: value },
      ] as const) {
        const bench = new Bench()
        const { afterMs, failure } = await bench.run(outcome)
        expect([afterMs, failure?.error]).toEqual([5, expect.any(RangeError)])
      }
    },
  )
})

describe('ParkedKeys', () => {
  test('a parked key waits without a timer, and any add makes it run', async () => {
    const bench = new Bench()
    await bench.run({ kind: 'park', waitingFor: 'the secret s' }, { priority: -100 })
    expect([...bench.parked]).toEqual([['a', { waitingFor: 'the secret s', priority: -100 }]])
    expect([bench.states, bench.clock.pending]).toEqual([[], 0])
    await bench.run(done)
    expect(bench.parked.size).toBe(0)
  })

  test('wake adds those who wait for the same thing, and says how many', async () => {
    const queue = new WorkQueue({ clock: new SimulatedClock() })
    const parked = new ParkedKeys()
    for (const [key, waitingFor] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'x'],
    ] as const)
      parked.park(key, { waitingFor, priority: 2 })
    expect(parked.wake(queue, (_key, { waitingFor }) => waitingFor === 'x', { reason: 'x is there' })).toBe(2)
    expect([await queue.take(), await queue.take()]).toMatchObject([
      { key: 'a', priority: 2, reasons: ['x is there'] },
      { key: 'c' },
    ])
    expect([...parked].map(([key]) => key)).toEqual(['b'])
  })
})
