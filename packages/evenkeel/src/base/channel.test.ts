import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { Channel } from './channel.ts'
import type { ChannelOptions } from './channel.ts'
import { countedSignal } from './counted-signal.fixture.ts'

const make = (options: Partial<ChannelOptions<number, string>> = {}): Channel<number, string> =>
  new Channel({ weightMax: 10, overflow: 'overflow', ...options })
const reason = new Error('enough')

/** Everything that is left in a channel, then why it is over. */
async function drain(channel: Channel<number, string>): Promise<{ items: number[]; end: string | undefined }> {
  const items: number[] = []
  for (;;) {
    const { done, value } = await channel.next()
    if (done) return { items, end: value }
    items.push(value)
  }
}

describe('an open Channel', () => {
  test('gives items in the order they went in, to a reader that waits or that comes later', async () => {
    const channel = make()
    const first = channel.next()
    channel.push(1)
    channel.push(2)
    channel.push(3)
    expect(await first).toEqual({ done: false, value: 1 })
    expect(await channel.next()).toEqual({ done: false, value: 2 })
    expect(await channel.next()).toEqual({ done: false, value: 3 })
    expect([channel.open, channel.reason]).toEqual([true, undefined])
  })

  test('reports the weight of its backlog', async () => {
    const channel = make({ weigh: (item) => item })
    channel.push(3)
    channel.push(4)
    expect(channel.weight).toBe(7)
    await channel.next()
    expect(channel.weight).toBe(4)
    await channel.next()
    expect(channel.weight).toBe(0)
    const waiting = channel.next()
    expect(channel.push(100)).toBe(true)
    expect([channel.weight, await waiting]).toEqual([0, { done: false, value: 100 }])
  })

  test('runs no code of the reader inside push', async () => {
    const channel = make()
    const order: string[] = []
    const reading = channel.next().then(() => {
      order.push('read')
    })
    channel.push(1)
    order.push('pushed')
    await reading
    expect(order).toEqual(['pushed', 'read'])
  })

  test('can be read with for await', async () => {
    const channel = make()
    channel.push(1)
    channel.push(2)
    channel.end('done')
    const items: number[] = []
    for await (const item of channel) items.push(item)
    expect(items).toEqual([1, 2])
  })

  test('is a list that is written at one end and read at the other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 100 }), async (isPush) => {
        const channel = make({ weightMax: 1_000 })
        const list: number[] = []
        for (const [index, pushes] of isPush.entries()) {
          if (pushes) {
            expect(channel.push(index)).toBe(true)
            list.push(index)
          } else if (list.length > 0) expect(await channel.next()).toEqual({ done: false, value: list.shift() })
          expect(channel.weight).toBe(list.length)
        }
        channel.end('over')
        expect(await drain(channel)).toEqual({ items: list, end: 'over' })
      }),
    )
  })
})

describe('a Channel that is ended', () => {
  test('returns the backlog first, then the reason, repeatedly', async () => {
    const onClose = vi.fn()
    const channel = make({ onClose })
    channel.push(1)
    channel.push(2)
    channel.end('over')
    channel.end('later')
    expect([channel.open, channel.reason, channel.push(3)]).toEqual([false, 'over', false])
    expect(await drain(channel)).toEqual({ items: [1, 2], end: 'over' })
    expect(await channel.next()).toEqual({ done: true, value: 'over' })
    expect(onClose).toHaveBeenCalledTimes(1)
  })

  test('ends a pending read', async () => {
    const channel = make()
    const waiting = channel.next()
    channel.end('over')
    expect(await waiting).toEqual({ done: true, value: 'over' })
  })
})

describe('a Channel that overflows', () => {
  test('accepts exactly its limit; one more item overflows', async () => {
    const onClose = vi.fn()
    const channel = make({ weightMax: 3, onClose })
    expect([channel.push(1), channel.push(2), channel.push(3)]).toEqual([true, true, true])
    expect(onClose).not.toHaveBeenCalled()
    expect(channel.push(4)).toBe(false)
    expect([channel.open, channel.weight, channel.reason]).toEqual([false, 0, 'overflow'])
    expect(onClose).toHaveBeenCalledTimes(1)
    expect(await drain(channel)).toEqual({ items: [], end: 'overflow' })
  })

  test('counts weights, not items', () => {
    const channel = make({ weigh: (item) => item })
    expect([channel.push(9), channel.push(1), channel.push(0)]).toEqual([true, true, true])
    expect(channel.push(1)).toBe(false)
    expect(make({ weigh: (item) => item }).push(11)).toBe(false)
  })

  test.each([0, -1, NaN])('needs a bound above %d', (weightMax) => {
    expect(() => make({ weightMax })).toThrow(RangeError)
  })
})

describe('a Channel with a signal', () => {
  test('rejects with the reason after an abort, drops its backlog and calls onClose', async () => {
    const onClose = vi.fn()
    const { controller, signal, listeners } = countedSignal()
    const channel = make({ signal, onClose })
    channel.push(1)
    controller.abort(reason)
    expect([channel.open, channel.weight, channel.push(2), listeners()]).toEqual([false, 0, false, 0])
    await expect(channel.next()).rejects.toBe(reason)
    await expect(channel.next()).rejects.toBe(reason)
    expect(onClose).toHaveBeenCalledTimes(1)
  })

  test('rejects a reader that waits', async () => {
    const { controller, signal } = countedSignal()
    const waiting = make({ signal }).next()
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })

  test('is closed from the start when the signal has aborted', async () => {
    const onClose = vi.fn()
    const channel = make({ signal: AbortSignal.abort(reason), onClose })
    expect([channel.open, channel.push(1)]).toEqual([false, false])
    expect(onClose).toHaveBeenCalledTimes(1)
    await expect(channel.next()).rejects.toBe(reason)
  })

  test.each<[string, (channel: Channel<number, string>) => unknown]>([
    [
      'end',
      (channel) => {
        channel.end('over')
      },
    ],
    ['return', (channel) => channel.return()],
    ['overflow', (channel) => Array.from({ length: 11 }, (_, index) => channel.push(index))],
  ])('stops listening after %s', async (_, finish) => {
    const { controller, signal, listeners } = countedSignal()
    const channel = make({ signal })
    expect(listeners()).toBe(1)
    await finish(channel)
    expect(listeners()).toBe(0)
    controller.abort(reason)
    expect((await channel.next()).done).toBe(true)
  })
})

describe('a reader that leaves', () => {
  test('discards the backlog, and push returns false', async () => {
    const onClose = vi.fn()
    const channel = make({ onClose })
    channel.push(1)
    for await (const item of channel) {
      expect(item).toBe(1)
      channel.push(2)
      break
    }
    expect([channel.open, channel.weight, channel.push(3), channel.reason]).toEqual([false, 0, false, undefined])
    expect(await channel.next()).toEqual({ done: true, value: undefined })
    expect(onClose).toHaveBeenCalledTimes(1)
  })

  test('answers a read that still waits', async () => {
    const channel = make()
    const waiting = channel.next()
    expect(await channel.return()).toEqual({ done: true, value: undefined })
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  test('keeps the reason of a stream that was ended before', async () => {
    const channel = make()
    channel.push(1)
    channel.end('over')
    expect(await channel.return()).toEqual({ done: true, value: 'over' })
    expect(await drain(channel)).toEqual({ items: [], end: 'over' })
  })
})
