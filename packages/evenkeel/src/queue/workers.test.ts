import { deferred, SeededRandom, SimulatedClock, sleep } from '#base'
import type { Deferred } from '#base'
import { describe, expect, test } from 'vitest'
import { Backoff } from './backoff.ts'
import { runWorkers } from './workers.ts'
import type { WorkersOptions } from './workers.ts'
import { WorkQueue } from './work-queue.ts'

function setUp(): { clock: SimulatedClock; options: WorkersOptions<string> } {
  const clock = new SimulatedClock()
  return { clock, options: { queue: new WorkQueue({ clock }), backoff: new Backoff({ jitter: 0 }) } }
}

describe('runWorkers', () => {
  test.each([undefined, 'a text', null, new Error('no luck')])(
    'cases 12 and 41: work that throws %s fails, and its key is let go',
    async (thrown) => {
      const { clock, options } = setUp()
      const runs: number[] = []
      const failures: unknown[] = []
      options.queue.add('a')
      const running = runWorkers(
        () => {
          runs.push(clock.monotonic())
          return runs.length < 3 ? Promise.reject(thrown as Error) : Promise.resolve(undefined)
        },
        { ...options, onFinished: ({ decision: settled }) => failures.push(settled.failure?.error) },
      )
      await clock.advance(60_000)
      await options.queue.stop()
      await running
      expect(runs).toEqual([0, 5, 15])
      expect(failures).toEqual([thrown, thrown, undefined])
      expect([options.queue.workingCount, options.backoff.retries('a')]).toEqual([0, 0])
    },
  )

  test('work that throws before its first await fails like any other', async () => {
    const { clock, options } = setUp()
    options.queue.add('a')
    const running = runWorkers(() => {
      throw new Error('at once')
    }, options)
    await clock.advance(0)
    expect([options.queue.workingCount, options.queue.waitingCount]).toEqual([0, 1])
    await options.queue.stop()
    await running
  })

  test('case 44: five workers never do more than five keys at once, nor one key twice', async () => {
    const { clock, options } = setUp()
    const random = new SeededRandom('workers')
    const busy = new Set<string>()
    let [most, runs] = [0, 0]
    for (let index = 0; index < 100; index++) options.queue.add(String(index))
    const running = runWorkers(
      async ({ key }) => {
        expect(busy.has(key)).toBe(false)
        busy.add(key)
        most = Math.max(most, busy.size)
        options.queue.add(key, { afterMs: random.uint32() % 20 })
        await sleep(clock, random.uint32() % 10)
        busy.delete(key)
        return ++runs < 1000 ? { kind: 'after', afterMs: 1 + (random.uint32() % 5) } : undefined
      },
      { ...options, concurrency: 5 },
    )
    await clock.advance(2000)
    const drained = options.queue.stop({ drain: true })
    await clock.advance(2000)
    await Promise.all([drained, running])
    expect(most).toBe(5)
    expect(runs).toBeGreaterThan(1000)
  })

  test('an abort lets begun work finish, takes nothing more and loses no key', async () => {
    const { clock, options } = setUp()
    const stopping = new AbortController()
    const work: Deferred<undefined> = deferred()
    const begun: string[] = []
    options.queue.add('a')
    options.queue.add('b')
    let ended = false
    const running = runWorkers(
      ({ key }) => {
        begun.push(key)
        return work.promise
      },
      { ...options, signal: stopping.signal },
    ).then(() => {
      ended = true
    })
    await clock.advance(0)
    stopping.abort(new Error('lease lost'))
    await clock.advance(0)
    expect(ended).toBe(false)
    work.resolve(undefined)
    await running
    expect(begun).toEqual(['a'])
    expect((await options.queue.take())?.key).toBe('b')
  })

  test('a key that was handed out as the abort came goes back with its reasons', async () => {
    const { clock, options } = setUp()
    const stopping = new AbortController()
    const begun: string[] = []
    const running = runWorkers(({ key }) => Promise.resolve(void begun.push(key)), {
      ...options,
      signal: stopping.signal,
    })
    options.queue.add('a', { reason: 'updated', priority: 4 })
    // After the queue's own microtask, before that of the worker.
    queueMicrotask(() => {
      stopping.abort(new Error('enough'))
    })
    await running
    await clock.advance(0)
    expect(begun).toEqual([])
    expect(await options.queue.take()).toMatchObject({ key: 'a', reasons: ['updated'], priority: 4 })
  })

  test('a failing onFinished stops all workers, and is told when they have ended', async () => {
    const { options } = setUp()
    options.queue.add('a')
    await expect(
      runWorkers(() => Promise.resolve(undefined), {
        ...options,
        concurrency: 3,
        onFinished: () => {
          throw new Error('broken counter')
        },
      }),
    ).rejects.toThrow('broken counter')
    expect(options.queue.workingCount).toBe(0)
  })

  test('refuses a concurrency that is no whole number above 0', async () => {
    for (const concurrency of [0, -1, 1.5, NaN])
      await expect(runWorkers(() => Promise.resolve(undefined), { ...setUp().options, concurrency })).rejects.toThrow(
        RangeError,
      )
  })
})
