/**
 * The lifecycle of a watch: progress, end, and isolation from other watchers.
 */
import assert from 'node:assert/strict'
import type { Store } from 'evenkeel/unstable/store'
import type { StoreCase } from '../../targets/target.ts'
import { changesBetween, changesOf, endOf, put, Reader } from './shorthand.ts'

const progress: readonly StoreCase[] = [
  {
    id: 'store/watch/progress-when-idle',
    rule: 'A requested progress reports how far the reader has seen everything, even without changes under its prefix.',
    async run(target) {
      const store = await target.open()
      const reader = new Reader(store.watch('/quiet/', { after: await store.head() }))
      for (let round = 0; round < 3; round++) {
        const revision = await put(store, `/busy/${round}`)
        const batches = await reader.until(revision)
        assert.deepEqual(changesOf(batches), [])
        assert.ok((batches.at(-1)?.revision ?? 0) <= (await store.head()))
      }
      await reader.leave()
    },
  },
  {
    id: 'store/watch/progress-in-order',
    rule: 'Progress is ordered with changes: the changes it covers come before it, and none comes after.',
    async run(target) {
      const store = await target.open()
      const watch = store.watch('/', { after: await store.head() })
      const reader = new Reader(watch)
      const revisions: number[] = []
      for (let index = 0; index < 12; index++) {
        watch.requestProgress()
        revisions.push(await put(store, `/${index}`))
        watch.requestProgress()
      }
      const [seen, last] = [[] as number[], revisions.at(-1) ?? 0]
      for (const { revision, changes } of await reader.until(last)) {
        seen.push(...changes.map((change) => change.revision))
        assert.deepEqual(
          seen,
          revisions.filter((made) => made <= revision),
        )
      }
      await reader.leave()
    },
  },
  {
    id: 'store/watch/progress-while-replaying',
    rule: 'Progress requested during a replay arrives after the reader has the whole history.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      let head = start
      for (let index = 0; index < 10; index++) head = await put(store, `/${index}`)
      const watch = store.watch('/', { after: start })
      watch.requestProgress()
      const reader = new Reader(watch)
      let seen = 0
      for (let at = start; at < head;) {
        const { done, value } = await reader.next()
        if (done) return assert.fail('the watch ended')
        seen += value.changes.length
        at = value.revision
        if (at >= head) assert.equal(seen, 10)
      }
      await reader.leave()
    },
  },
  {
    id: 'store/watch/progress-can-be-resumed-from',
    rule: 'A watch from a progress revision misses nothing and repeats nothing.',
    async run(target) {
      const store = await target.open()
      const reader = new Reader(store.watch('/', { after: await store.head() }))
      const first = await put(store, '/1')
      const at = (await reader.until(first)).at(-1)?.revision ?? 0
      const idle = new Reader(store.watch('/none/', { after: at }))
      const bookmark = (await idle.until(at)).at(-1)?.revision ?? 0
      const second = await put(store, '/2')
      assert.deepEqual(
        (await changesBetween(store, '/', { after: bookmark, until: second })).map(({ revision }) => revision),
        [second],
      )
      await idle.leave()
      await reader.leave()
    },
  },
]

/** A watch that receives every change live. */
async function liveReader(store: Store, options: { backlogBytesMax?: number } = {}): Promise<Reader> {
  const head = await store.head()
  const reader = new Reader(store.watch('/', { after: head, ...options }))
  await reader.until(head)
  return reader
}

const falling: readonly StoreCase[] = [
  {
    id: 'store/watch/overflow',
    rule: 'A reader that falls too far behind ends with a reason; writers and other watchers are not affected.',
    async run(target) {
      const store = await target.open()
      const slow = await liveReader(store, { backlogBytesMax: 4_000 })
      const other = await liveReader(store)
      const revisions: number[] = []
      for (let index = 0; index < 20; index++)
        revisions.push(await put(store, `/${index}`, { value: 'x'.repeat(1_000) }))
      const last = revisions.at(-1) ?? 0
      assert.deepEqual(
        (await other.changes(last)).map(({ revision }) => revision),
        revisions,
      )
      const { batches, end } = await slow.rest()
      assert.deepEqual(end, { reason: 'overflow' })
      const received = changesOf(batches).map(({ revision }) => revision)
      assert.deepEqual(received, revisions.slice(0, received.length))
      const resumed = await changesBetween(store, '/', {
        after: received.at(-1) ?? (revisions[0] ?? 0) - 1,
        until: last,
      })
      assert.deepEqual(
        resumed.map(({ revision }) => revision),
        revisions.slice(received.length),
      )
      const more = await put(store, '/more')
      assert.deepEqual(
        (await other.changes(more)).map(({ key }) => key),
        ['/more'],
      )
      await other.leave()
    },
  },
  {
    id: 'store/watch/backlog-is-kept',
    rule: 'A reader that falls behind by less than its backlog receives everything.',
    async run(target) {
      const store = await target.open()
      const slow = await liveReader(store, { backlogBytesMax: 100_000 })
      const revisions: number[] = []
      for (let index = 0; index < 20; index++)
        revisions.push(await put(store, `/${index}`, { value: 'x'.repeat(1_000) }))
      assert.deepEqual(
        (await slow.changes(revisions.at(-1) ?? 0)).map(({ revision }) => revision),
        revisions,
      )
      await slow.leave()
    },
  },
  {
    id: 'store/watch/history-is-no-backlog',
    rule: 'A history larger than the backlog does not overflow: it is sent as fast as the reader pulls.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const revisions: number[] = []
      for (let index = 0; index < 30; index++)
        revisions.push(await put(store, `/${index}`, { value: 'x'.repeat(1_000) }))
      const reader = new Reader(store.watch('/', { after: start, backlogBytesMax: 5_000 }))
      const received: number[] = []
      while (received.length < 30) received.push(...(await reader.batch()).changes.map(({ revision }) => revision))
      assert.deepEqual(received, revisions)
      await reader.leave()
    },
  },
  {
    id: 'store/watch/ahead',
    rule: 'A watch from a future revision is rejected with the newest one.',
    async run(target) {
      const store = await target.open()
      const head = await put(store, '/a')
      for (const after of [head + 1, head + 1_000])
        assert.deepEqual(await endOf(store.watch('/', { after })), { reason: 'ahead', revision: head })
      const reader = new Reader(store.watch('/', { after: head }))
      assert.deepEqual(changesOf(await reader.until(head)), [])
      await reader.leave()
    },
  },
]

const ending: readonly StoreCase[] = [
  {
    id: 'store/watch/close',
    rule: "Closing a watch ends its reader's loop, even if it is waiting.",
    async run(target) {
      const store = await target.open()
      const after = await store.head()
      const [idle, waiting] = [store.watch('/', { after }), store.watch('/', { after })]
      idle.close()
      idle.close()
      assert.deepEqual((await new Reader(idle).rest()).end, { reason: 'closed' })
      assert.deepEqual(idle.end, { reason: 'closed' })
      const reader = await liveReader(store)
      const pending = new Reader(waiting).rest()
      waiting.close()
      assert.deepEqual((await pending).end, { reason: 'closed' })
      const revision = await put(store, '/a')
      assert.equal((await reader.changes(revision)).length, 1)
      await reader.leave()
    },
  },
  {
    id: 'store/watch/break',
    rule: 'Leaving the loop ends a watch.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      await put(store, '/a')
      const watch = store.watch('/', { after: start })
      let batches = 0
      for await (const { changes } of watch) {
        batches += changes.length
        if (batches > 0) break
      }
      await put(store, '/b')
      const again = await watch[Symbol.asyncIterator]().next()
      assert.equal(again.done, true)
      assert.equal(batches, 1)
    },
  },
  {
    id: 'store/watch/abort-before',
    rule: "A watch with an aborted signal fails with the signal's reason and gives nothing else.",
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      await put(store, '/a')
      for (const after of [start, await store.head()]) {
        const reason = new Error('enough')
        await assert.rejects(
          new Reader(store.watch('/', { after, signal: AbortSignal.abort(reason) })).next(),
          (error) => error === reason,
        )
      }
    },
  },
  {
    id: 'store/watch/abort-during',
    rule: "An abort ends a watch with the signal's reason, even while its reader waits.",
    async run(target) {
      const store = await target.open()
      const head = await store.head()
      const controller = new AbortController()
      const reader = new Reader(store.watch('/', { after: head, signal: controller.signal }))
      await reader.until(head)
      const waiting = reader.next()
      const reason = new Error('enough')
      controller.abort(reason)
      await assert.rejects(waiting, (error) => error === reason)
      await put(store, '/a')
      await assert.rejects(reader.next(), (error) => error === reason)
    },
  },
  {
    id: 'store/watch/wrong-options',
    rule: "A prefix that no key can start with, or a backlog of zero, is the caller's mistake.",
    async run(target) {
      const store = await target.open()
      for (const prefix of [' ', 'a b', '\u007f', 'é', 'a'.repeat(1025)])
        assert.throws(() => store.watch(prefix, { after: 0 }), RangeError)
      for (const backlogBytesMax of [0, -1, NaN])
        assert.throws(() => store.watch('/', { after: 0, backlogBytesMax }), RangeError)
    },
  },
]

export const watchLifeCases: readonly StoreCase[] = [...progress, ...falling, ...ending]
