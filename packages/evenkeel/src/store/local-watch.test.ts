import { describe, expect, test, vi } from 'vitest'
import type { WatchBatch, WatchOptions } from './store.ts'
import { Versions } from './versions.ts'
import { LocalWatch, WatchHub } from './watch.ts'

interface Fixture {
  readonly versions: Versions
  readonly hub: WatchHub
  readonly write: (key?: string, length?: number) => number
  readonly watch: (options: WatchOptions, prefix?: string) => LocalWatch
}

/** Versions and a hub that are told in one step, as a store does. */
function setUp(): Fixture {
  const [versions, hub] = [new Versions(), new WatchHub()]
  const write = (key = '/a', length = 1): number => {
    const revision = versions.published + 1
    const made = [versions.apply({ key, value: new Uint8Array(length) }, revision)]
    versions.publish(made, revision)
    hub.publish(made, revision)
    return revision
  }
  return { versions, hub, write, watch: (options, prefix = '/') => new LocalWatch(prefix, { versions, hub }, options) }
}

async function batchOf(watch: LocalWatch): Promise<WatchBatch | undefined> {
  const { done, value } = await watch.next()
  return done ? undefined : value
}

const revisionsOf = (batch: WatchBatch | undefined): number[] | undefined =>
  batch?.changes.map(({ revision }) => revision)
const reason = new Error('enough')

describe('LocalWatch', () => {
  test('replays history at the pace of the reader, without a buffer, then becomes live', async () => {
    const { versions, write, watch } = setUp()
    for (let index = 0; index < 1_200; index++) write()
    const reader = watch({ after: 1, backlogBytesMax: 100 })
    const first = await batchOf(reader)
    const more = write()
    const [second, third] = [await batchOf(reader), await batchOf(reader)]
    expect([first, second, third].flatMap((batch) => revisionsOf(batch) ?? [])).toEqual(
      Array.from({ length: 1_201 }, (_, index) => index + 2),
    )
    expect(third?.revision).toBe(more)
    const waiting = batchOf(reader)
    expect(revisionsOf(await Promise.race([waiting, Promise.resolve(undefined)]))).toBe(undefined)
    write()
    expect(revisionsOf(await waiting)).toEqual([versions.published])
  })

  test('skips history outside its prefix', async () => {
    const { write, watch } = setUp()
    for (let index = 0; index < 2_000; index++) write('/other/x')
    const last = write('/mine/x')
    expect(revisionsOf(await batchOf(watch({ after: 1 }, '/mine/')))).toEqual([last])
  })

  test('reports the compacted revision to a replaying watch that a compaction overtook', async () => {
    const { versions, write, watch } = setUp()
    for (let index = 0; index < 1_000; index++) write()
    const reader = watch({ after: 1 })
    await batchOf(reader)
    versions.compact(900)
    expect(await reader.next()).toEqual({ done: true, value: { reason: 'compacted', compacted: 900 } })
  })

  test('is unaffected by compaction once it is live, whatever its backlog', async () => {
    const { versions, write, watch } = setUp()
    const reader = watch({ after: 1 })
    write()
    write()
    versions.compact(3)
    while (versions.clean(100)) {
      /* all of it */
    }
    const batches = [await batchOf(reader), await batchOf(reader)]
    expect(batches.map((batch) => [revisionsOf(batch), batch?.changes[0]?.previous?.revision])).toEqual([
      [[2], undefined],
      [[3], 2],
    ])
  })

  test('reports progress in order with the changes', async () => {
    const { write, watch } = setUp()
    const reader = watch({ after: 1 })
    reader.requestProgress()
    write()
    reader.requestProgress()
    const batches = [await batchOf(reader), await batchOf(reader), await batchOf(reader)]
    expect(batches.map((batch) => [batch?.revision, revisionsOf(batch)])).toEqual([
      [1, []],
      [2, [2]],
      [2, []],
    ])
  })
})

describe('an ended LocalWatch leaves no registration behind', () => {
  test.each<[string, (fixture: Fixture, watch: LocalWatch) => unknown]>([
    [
      'closed',
      (_, watch) => {
        watch.close()
      },
    ],
    ['left', (_, watch) => watch.return()],
    [
      'overflowed',
      ({ write }) => {
        for (let index = 0; index < 10; index++) write('/a', 1_000)
      },
    ],
    [
      'ended by the store',
      ({ hub }) => {
        hub.endAll({ reason: 'closed' })
      },
    ],
  ])('when it is %s', async (_, finish) => {
    const fixture = setUp()
    fixture.write()
    const { signal } = new AbortController()
    const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')]
    for (const isLive of [true, false]) {
      const watch = fixture.watch({ after: isLive ? fixture.versions.published : 1, signal, backlogBytesMax: 3_000 })
      if (!isLive) await batchOf(watch)
      if (!isLive) watch.requestProgress()
      if (!isLive) await batchOf(watch)
      expect(fixture.hub.size).toBe(1)
      await finish(fixture, watch)
      expect([fixture.hub.size, added.mock.calls.length - removed.mock.calls.length]).toEqual([0, 0])
    }
  })

  test('when its signal aborts, before or during', async () => {
    const { hub, watch } = setUp()
    const controller = new AbortController()
    const [before, during] = [
      watch({ after: 1, signal: AbortSignal.abort(reason) }),
      watch({ after: 1, signal: controller.signal }),
    ]
    expect(hub.size).toBe(1)
    controller.abort(reason)
    expect(hub.size).toBe(0)
    await expect(before.next()).rejects.toBe(reason)
    await expect(during.next()).rejects.toBe(reason)
  })

  test('when it was refused', async () => {
    const { versions, hub, write, watch } = setUp()
    write()
    write()
    versions.compact(3)
    const refused = [watch({ after: 1 }), watch({ after: 4 })]
    const ends = await Promise.all(refused.map((one) => one.next()))
    expect(ends.map(({ value }) => value as unknown)).toEqual([
      { reason: 'compacted', compacted: 3 },
      { reason: 'ahead', revision: 3 },
    ])
    expect(hub.size).toBe(0)
  })
})
