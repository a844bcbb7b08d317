/**
 * Opening, closing, aborting, and the content after a restart or a power cut.
 */
import assert from 'node:assert/strict'
import type { Store } from 'evenkeel/unstable/store'
import type { StoreCase } from '../../targets/target.ts'
import { scribble } from './read.ts'
import {
  bytes,
  changesBetween,
  endOf,
  entriesAt,
  entryAt,
  good,
  hashOf,
  keysBelow,
  put,
  Reader,
  rejectsStore,
} from './shorthand.ts'

/** Every call that returns a promise, by name. */
const calls: Readonly<Record<string, (store: Store, signal?: AbortSignal) => Promise<unknown>>> = {
  head: (store, signal) => store.head({ signal }),
  compacted: (store, signal) => store.compacted({ signal }),
  commit: (store, signal) => store.commit({ key: '/call', value: bytes('x'), expect: 0 }, { signal }),
  commitAll: (store, signal) => store.commitAll([{ key: '/call', value: bytes('x'), expect: 0 }], { signal }),
  get: (store, signal) => store.get('/call', { signal }),
  range: (store, signal) => store.range('/', { signal }),
  compact: (store, signal) => store.compact(1, { signal }),
  grant: (store, signal) => store.grant(60_000, { signal }),
  renew: (store, signal) => store.renew('1', { signal }),
  revoke: (store, signal) => store.revoke('1', { signal }),
  hash: (store, signal) => store.hash('/', { signal }),
}

const closing: readonly StoreCase[] = [
  {
    id: 'store/lifecycle/closed',
    rule: 'A closed store rejects every call; closing it again is allowed.',
    async run(target) {
      const store = await target.open()
      await put(store, '/a')
      await store.close()
      await store.close()
      for (const call of Object.values(calls)) await rejectsStore(call(store), 'Closed')
      assert.deepEqual(await endOf(store.watch('/', { after: 1 })), { reason: 'closed' })
    },
  },
  {
    id: 'store/lifecycle/closed-at-once',
    rule: 'A store is closed from the moment close is called.',
    async run(target) {
      const store = await target.open()
      await put(store, '/a')
      const closing = store.close()
      const late = Object.values(calls).map((call) => rejectsStore(call(store), 'Closed'))
      await Promise.all([closing, ...late])
    },
  },
  {
    id: 'store/lifecycle/close-ends-watches',
    rule: 'Closing the store ends every watch with that reason, waiting or not.',
    async run(target) {
      const store = await target.open()
      const head = await put(store, '/a')
      const waiting = new Reader(store.watch('/', { after: head }))
      await waiting.until(head)
      const idle = store.watch('/', { after: head })
      const ended = waiting.rest()
      await store.close()
      assert.deepEqual((await ended).end, { reason: 'closed' })
      assert.deepEqual((await new Reader(idle).rest()).end, { reason: 'closed' })
    },
  },
  {
    id: 'store/lifecycle/close-waits-for-writes',
    rule: 'A write in progress when the store closes gets a response, and the response is correct.',
    needs: ['reopen'],
    async run(target) {
      const first = await target.open()
      const writes = Array.from({ length: 10 }, (_, index) =>
        first.commit({ key: `/${index}`, value: bytes('x'), expect: 0 }),
      )
      await first.close()
      const results = await Promise.allSettled(writes)
      const made = results.flatMap((result, index) =>
        result.status === 'fulfilled' && result.value.ok ? [`/${index}`] : [],
      )
      assert.deepEqual(await keysBelow(await target.reopen(), '/'), made)
      assert.equal(made.length, 10)
    },
  },
  {
    id: 'store/lifecycle/well',
    rule: 'A healthy store reports no problem.',
    async run(target) {
      const store = await target.open()
      assert.equal(store.failure(), undefined)
      await put(store, '/a')
      await store.commit({ key: '/a', value: bytes('lost'), expect: 0 })
      assert.equal(store.failure(), undefined)
    },
  },
]

const aborting: readonly StoreCase[] = [
  {
    id: 'store/lifecycle/aborted-before',
    rule: "A call with an aborted signal fails with the signal's reason and does nothing.",
    async run(target) {
      const store = await target.open()
      const head = await store.head()
      for (const call of Object.values(calls)) {
        const reason = new Error('enough')
        await assert.rejects(call(store, AbortSignal.abort(reason)), (error) => error === reason)
      }
      assert.deepEqual([await store.head(), await keysBelow(store, '')], [head, []])
    },
  },
  {
    id: 'store/lifecycle/aborted-during',
    rule: "An abort during a call gives the signal's reason or the result, and the store stays consistent.",
    async run(target) {
      const store = await target.open()
      for (const call of Object.values(calls)) {
        const [reason, controller] = [new Error('enough'), new AbortController()]
        const outcome = call(store, controller.signal).then(
          () => undefined,
          (error: unknown) => error,
        )
        controller.abort(reason)
        assert.ok([undefined, reason].includes((await outcome) as Error | undefined), String(await outcome))
      }
      const revision = await put(store, '/after')
      assert.equal((await entryAt(store, '/after'))?.revision, revision)
      assert.ok(['x', undefined].includes((await entryAt(store, '/call'))?.value))
    },
  },
]

const restarts: readonly StoreCase[] = [
  {
    id: 'store/lifecycle/reopened',
    rule: 'After a clean stop everything is still stored under the same revisions, and new revisions continue above.',
    needs: ['reopen'],
    async run(target) {
      const first = await target.open()
      const model = await scribble(first, { seed: 'reopened', commits: 20 })
      const [hash, head] = [await hashOf(first), await first.head()]
      const store = await target.reopen()
      assert.equal(await hashOf(store), hash)
      assert.ok((await store.head()) >= head)
      assert.deepEqual(await entriesAt(store, ''), model.range(''))
      if (!target.lacks.alone) assert.equal(await store.head(), head)
      assert.ok((await put(store, '/new')) > head)
    },
  },
  {
    id: 'store/lifecycle/reopened-history',
    rule: 'After a restart reads and watches from `compacted` on are exact, and compacted revisions stay rejected.',
    needs: ['reopen'],
    async run(target) {
      const first = await target.open()
      const model = await scribble(first, { seed: 'history', commits: 20 })
      const boundary = model.revisions[8] ?? 0
      good(await first.compact(boundary))
      const store = await target.reopen()
      const compacted = await store.compacted()
      assert.ok(compacted >= boundary)
      assert.deepEqual(await store.get('/a', { revision: compacted - 1 }), {
        ok: false,
        reason: 'compacted',
        compacted,
      })
      await Promise.all(
        model.revisions
          .filter((one) => one >= compacted)
          .map(async (revision) => {
            assert.deepEqual(await entriesAt(store, '', { revision }), model.range('', revision))
            assert.deepEqual(
              await changesBetween(store, '', { after: revision, until: model.head }),
              model.changesAfter(revision),
            )
          }),
      )
    },
  },
  {
    id: 'store/lifecycle/reopened-many-times',
    rule: 'A store continues where it stopped, however often it restarts.',
    needs: ['reopen'],
    async run(target) {
      let store = await target.open()
      let [expect, created] = [0, 0]
      for (let round = 0; round < 6; round++) {
        expect = await put(store, '/a', { value: String(round), expect })
        created ||= expect
        store = await target.reopen()
        assert.deepEqual(await entryAt(store, '/a'), { key: '/a', value: String(round), revision: expect, created })
      }
    },
  },
  {
    id: 'store/lifecycle/power-cut',
    rule: 'Acknowledged commits survive a power cut; revisions are never reused, and old ones are rejected.',
    needs: ['crash'],
    async run(target) {
      let store = await target.open()
      let model = await scribble(store, { seed: 'cut', commits: 10 })
      for (let round = 0; round < 5; round++) {
        const head = await store.head()
        store = await target.crash()
        assert.deepEqual(await entriesAt(store, ''), model.range(''))
        const [risen, compacted] = [await store.head(), await store.compacted()]
        assert.ok(risen > head && compacted > head)
        assert.deepEqual(await store.get('/a', { revision: head }), { ok: false, reason: 'compacted', compacted })
        assert.deepEqual(await endOf(store.watch('/', { after: head })), { reason: 'compacted', compacted })
        const more = await put(store, `/after/${round}`)
        assert.ok(more > risen)
        const after = new Map(model.range('').map((entry) => [entry.key, entry]))
        assert.equal((await entriesAt(store, '')).length, after.size + 1)
        model = await cleared(store)
      }
    },
  },
  {
    id: 'store/lifecycle/power-cut-under-way',
    rule: 'After a power cut, a commit in progress is complete or absent, and earlier ones are complete.',
    needs: ['crash'],
    async run(target) {
      let store = await target.open()
      for (let round = 0; round < 12; round++) {
        await put(store, `/${round}/acknowledged`)
        const under = store.commitAll(
          Array.from({ length: 20 }, (_, index) => ({
            key: `/${round}/${index}`,
            value: bytes('x'.repeat(300)),
            expect: 0,
          })),
        )
        under.catch(() => undefined)
        for (let turn = 0; turn < round; turn++) await Promise.resolve()
        store = await target.crash()
        const keys = await keysBelow(store, `/${round}/`)
        assert.ok(keys.includes(`/${round}/acknowledged`))
        assert.ok([1, 21].includes(keys.length), `${keys.length} keys`)
      }
    },
  },
]

/** Empties the store and its model. */
async function cleared(store: Store): Promise<Awaited<ReturnType<typeof scribble>>> {
  for (const { key, revision } of await entriesAt(store, '')) good(await store.commit({ key, expect: revision }))
  return scribble(store, { seed: 'again', commits: 5 })
}

export const lifecycleCases: readonly StoreCase[] = [...closing, ...aborting, ...restarts]
