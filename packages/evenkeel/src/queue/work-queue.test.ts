import { SimulatedClock } from '#base'
import { describe, expect, test } from 'vitest'
import { WorkQueue } from './work-queue.ts'
import type { WorkQueueOptions } from './work-queue.ts'

function setUp(options: WorkQueueOptions = {}): { clock: SimulatedClock; queue: WorkQueue } {
  const clock = new SimulatedClock()
  return { clock, queue: new WorkQueue({ clock, ...options }) }
}

/** Takes what is ready, in order; none of it is done. */
async function takeAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = []
  while (queue.readyCount > 0) keys.push((await queue.take())?.key ?? '')
  return keys
}

/** Takes a key and says `done`, `times` times. */
async function workOff(queue: WorkQueue, times: number): Promise<string[]> {
  const keys: string[] = []
  for (let round = 0; round < times; round++) {
    const key = (await queue.take())?.key ?? ''
    keys.push(key)
    queue.done(key)
  }
  return keys
}

describe('WorkQueue.add', () => {
  test('case 1: a key that is ready is handed out once, however often it is added', async () => {
    const { queue } = setUp()
    for (let round = 0; round < 3; round++) queue.add('a')
    expect(queue.readyCount).toBe(1)
    expect(await takeAll(queue)).toEqual(['a'])
  })

  test('case 2: a key that is worked on goes again once, and not before it is done', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    await queue.take()
    for (let round = 0; round < 3; round++) queue.add('a')
    const again: string[] = []
    void queue.take().then((item) => again.push(item?.key ?? ''))
    await clock.advance(1000)
    expect(again).toEqual([])
    queue.done('a')
    await clock.advance(0)
    expect(again).toEqual(['a'])
    queue.done('a')
    expect([...queue.entries()]).toEqual([])
  })

  test('case 3: a key that was added while it was worked on comes after those that were ready', async () => {
    const { queue } = setUp()
    queue.add('a')
    await queue.take()
    queue.add('b')
    queue.add('a')
    queue.done('a')
    expect(await takeAll(queue)).toEqual(['b', 'a'])
  })

  test('case 4: a key that was not added again is idle when it is done', async () => {
    const { queue } = setUp()
    queue.add('a')
    await queue.take()
    queue.done('a')
    expect(queue.readyCount + queue.waitingCount + queue.workingCount).toBe(0)
    expect([...queue.entries()]).toEqual([])
  })

  test('cases 5 and 6: keys are text, so what is written alike is one key', async () => {
    const { queue } = setUp()
    queue.add(['local', '', 'y'].join('/'))
    queue.add(`local/${''}/y`)
    expect(await takeAll(queue)).toEqual(['local//y'])
  })

  test('case 7: keys that are written differently are two, also those that objects inherit', async () => {
    const { queue } = setUp()
    const keys = ['a/b%2Fc', 'a%2Fb/c', '__proto__', 'constructor', '']
    for (const key of keys) queue.add(key)
    expect(await takeAll(queue)).toEqual(keys)
  })

  test('refuses delays and priorities that are no numbers', () => {
    const { queue } = setUp()
    for (const value of [NaN, Infinity, -Infinity]) {
      expect(() => queue.add('a', { afterMs: value })).toThrow(RangeError)
      expect(() => queue.add('a', { priority: value })).toThrow(RangeError)
    }
    expect([...queue.entries()]).toEqual([])
  })
})

describe('WorkQueue.add with afterMs', () => {
  test('holds a key back for exactly its delay', async () => {
    const { clock, queue } = setUp()
    let taken = false
    queue.add('a', { afterMs: 100 })
    void queue.take().then(() => {
      taken = true
    })
    await clock.advance(99)
    expect(taken).toBe(false)
    await clock.advance(1)
    expect(taken).toBe(true)
  })

  test('case 14: a delay of 0 or less is now', async () => {
    const { queue } = setUp()
    queue.add('a', { afterMs: 0 })
    queue.add('b', { afterMs: -5000 })
    expect(await takeAll(queue)).toEqual(['a', 'b'])
  })

  test.each([
    [15, [10_000, 1000]],
    [16, [1000, 10_000]],
  ])('case %d: of the delays %j the earliest counts, and the key runs once', async (_case, delays) => {
    const { clock, queue } = setUp()
    for (const afterMs of delays) queue.add('a', { afterMs })
    await clock.advance(999)
    expect(queue.readyCount).toBe(0)
    await clock.advance(1)
    expect(await workOff(queue, 1)).toEqual(['a'])
    await clock.advance(100_000)
    expect([...queue.entries()]).toEqual([])
  })

  test('case 17: an add without delay swallows the pending one (priority mode, the only one there is)', async () => {
    const { clock, queue } = setUp()
    queue.add('a', { afterMs: 10_000 })
    queue.add('a')
    expect(await workOff(queue, 1)).toEqual(['a'])
    await clock.advance(100_000)
    expect([...queue.entries()]).toEqual([])
  })

  test('case 18: a delayed add of a ready key is no second run', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    queue.add('a', { afterMs: 10_000 })
    expect(await workOff(queue, 1)).toEqual(['a'])
    await clock.advance(100_000)
    expect([...queue.entries()]).toEqual([])
  })

  test('case 38: of two delays, one asked for and one of the back-off, the smaller counts', async () => {
    const { clock, queue } = setUp()
    queue.add('a', { afterMs: 5000 })
    queue.add('a', { afterMs: 5 })
    await clock.advance(5)
    expect(await takeAll(queue)).toEqual(['a'])
  })

  test('a delay that ends while the key is worked on makes it go again after done', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    await queue.take()
    queue.add('a', { afterMs: 10 })
    await clock.advance(10)
    expect(queue.waitingCount).toBe(0)
    expect([...queue.entries()]).toEqual([
      { key: 'a', priority: 0, reasons: [], reasonsLeftOut: 0, next: 'ready', workingMs: 10 },
    ])
    queue.done('a')
    expect(await takeAll(queue)).toEqual(['a'])
  })
})

describe('WorkQueue priorities', () => {
  test('case 33: the higher goes first, and inside a priority the first', async () => {
    const { queue } = setUp()
    const low = Array.from({ length: 10 }, (_, index) => `low-${index}`)
    for (const key of low) queue.add(key, { priority: -100 })
    queue.add('high-1')
    queue.add('high-2')
    expect(await takeAll(queue)).toEqual(['high-1', 'high-2', ...low])
  })

  test('case 33: of all that is added in one go the highest goes first, also to a worker that waits', async () => {
    const { clock, queue } = setUp()
    const taken = queue.take()
    queue.add('low', { priority: -100 })
    queue.add('high')
    await clock.advance(0)
    expect((await taken)?.key).toBe('high')
  })

  test('case 34: a higher priority moves a key behind those who have it; a lower one changes nothing', async () => {
    const { queue } = setUp()
    queue.add('a', { priority: -100 })
    queue.add('b')
    queue.add('a')
    queue.add('c')
    queue.add('b', { priority: -200 })
    expect(await takeAll(queue)).toEqual(['b', 'a', 'c'])
  })

  test('case 34: a delayed add raises a waiting and a ready key too', async () => {
    const { clock, queue } = setUp()
    queue.add('waiting', { priority: -100, afterMs: 10 })
    queue.add('waiting', { priority: 5, afterMs: 20 })
    queue.add('ready', { priority: -100 })
    queue.add('ready', { priority: 7, afterMs: 20 })
    await clock.advance(10)
    expect([await queue.take(), await queue.take()].map((item) => [item?.key, item?.priority])).toEqual([
      ['ready', 7],
      ['waiting', 5],
    ])
  })

  test('case 35: a high key that is worked on and added again does not hold up lower ones', async () => {
    const { queue } = setUp()
    queue.add('high', { priority: 10 })
    await queue.take()
    queue.add('high', { priority: 10 })
    queue.add('low', { priority: -100 })
    expect((await queue.take())?.key).toBe('low')
  })

  test('case 36: a key whose delay ends comes after those that were ready before', async () => {
    const { clock, queue } = setUp()
    queue.add('x', { afterMs: 10 })
    await clock.advance(5)
    queue.add('y')
    await clock.advance(5)
    expect(await takeAll(queue)).toEqual(['y', 'x'])
  })

  test('case 37: a low key runs within the ageing bound while higher ones come without end', async () => {
    const { clock, queue } = setUp({ agedMs: 1000, agedTurns: 4 })
    queue.add('low', { priority: -100 })
    const runs: string[] = []
    for (let turn = 0; !runs.includes('low') && turn < 200; turn++) {
      queue.add(`high-${turn}-a`)
      queue.add(`high-${turn}-b`)
      runs.push(...(await workOff(queue, 1)))
      await clock.advance(100)
    }
    expect(runs.indexOf('low')).toBeGreaterThanOrEqual(10)
    expect(runs.indexOf('low')).toBeLessThan(10 + 4)
  })
})

describe('WorkQueue reasons', () => {
  test('are merged while a key waits, each once, and handed out with it', async () => {
    const { queue } = setUp()
    queue.add('a', { reason: 'created', afterMs: 10 })
    queue.add('a', { reason: 'updated' })
    queue.add('a')
    queue.add('a', { reason: 'created' })
    expect(await queue.take()).toEqual({ key: 'a', priority: 0, reasons: ['created', 'updated'], reasonsLeftOut: 0 })
    queue.add('a', { reason: 'deleted' })
    queue.done('a')
    expect((await queue.take())?.reasons).toEqual(['deleted'])
  })

  test('are bounded per key, and the rest is counted', async () => {
    const { queue } = setUp({ reasonsMax: 2 })
    for (let index = 0; index < 5; index++) queue.add('a', { reason: String(index) })
    expect(await queue.take()).toMatchObject({ reasons: ['0', '1'], reasonsLeftOut: 3 })
  })

  test('may be objects', async () => {
    const queue = new WorkQueue<{ version: string }>({ clock: new SimulatedClock() })
    const reason = { version: '7' }
    queue.add('a', { reason })
    queue.add('a', { reason })
    expect((await queue.take())?.reasons).toEqual([reason])
  })
})

describe('WorkQueue.take', () => {
  test('gives those who wait what comes, first come, first served', async () => {
    const { clock, queue } = setUp()
    const taken: [number, string | undefined][] = []
    for (const taker of [1, 2, 3]) void queue.take().then((item) => taken.push([taker, item?.key]))
    queue.add('a')
    queue.add('b')
    await clock.advance(0)
    expect(taken).toEqual([
      [1, 'a'],
      [2, 'b'],
    ])
    await queue.stop()
  })

  test('ends with the reason of its signal, loses nothing, and leaves the others their place', async () => {
    const { queue } = setUp()
    const leaving = new AbortController()
    const first = queue.take({ signal: leaving.signal })
    const second = queue.take()
    leaving.abort(new Error('enough'))
    queue.add('a')
    await expect(first).rejects.toThrow('enough')
    expect((await second)?.key).toBe('a')
    await expect(queue.take({ signal: leaving.signal })).rejects.toThrow('enough')
  })

  test('hands a key to nobody who left after it was added', async () => {
    const { queue } = setUp()
    const leaving = new AbortController()
    const first = queue.take({ signal: leaving.signal })
    queue.add('a')
    leaving.abort(new Error('enough'))
    await expect(first).rejects.toThrow('enough')
    expect(await takeAll(queue)).toEqual(['a'])
  })
})

test('case 13: WorkQueue.done for a key that nobody took changes nothing', async () => {
  const { queue } = setUp()
  queue.done('never')
  queue.add('a')
  queue.done('a')
  expect(queue.workingCount).toBe(0)
  expect(await workOff(queue, 1)).toEqual(['a'])
  queue.done('a')
  expect(queue.workingCount).toBe(0)
})

test('WorkQueue.putBack gives a key back with its priority and reasons', async () => {
  const { queue } = setUp()
  queue.add('a', { priority: 3, reason: 'updated' })
  const item = await queue.take()
  queue.putBack(item ?? { key: '', priority: 0, reasons: [], reasonsLeftOut: 0 })
  expect(queue.workingCount).toBe(0)
  expect(await queue.take()).toEqual(item)
})
