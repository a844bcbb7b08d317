/**
 * Compaction at revision C: earlier revisions are rejected, later ones are unchanged.
 */
import assert from 'node:assert/strict'
import type { Store } from 'evenkeel/unstable/store'
import { plainEntry } from '../../model/store-model.ts'
import type { StoreCase } from '../../targets/target.ts'
import { scribble } from './read.ts'
import {
  changesBetween,
  changesOf,
  endOf,
  entriesAt,
  entryAt,
  good,
  hashOf,
  keysBelow,
  put,
  Reader,
  remove,
} from './shorthand.ts'

/** Writes a key this many times; returns the revisions. */
async function rewrite(store: Store, key: string, times: number): Promise<number[]> {
  const revisions: number[] = []
  for (let round = 0; round < times; round++)
    revisions.push(await put(store, key, { value: String(round), expect: revisions.at(-1) ?? 0 }))
  return revisions
}

const boundary: readonly StoreCase[] = [
  {
    id: 'store/compaction/exact-boundary',
    rule: 'Below revision C every read and watch fails with C; from C on all are served.',
    async run(target) {
      const store = await target.open()
      const revisions = await rewrite(store, '/a', 7)
      const [below = 0, at = 0, above = 0] = revisions.slice(2, 5)
      assert.deepEqual(await store.compact(at), { ok: true })
      const compacted = at
      for (const revision of [revisions[0] ?? 0, below, at - 1]) {
        const refused = { ok: false, reason: 'compacted', compacted } as const
        assert.deepEqual(await store.get('/a', { revision }), refused)
        assert.deepEqual(await store.range('/', { revision }), refused)
        assert.deepEqual(await store.range('/', { revision, limit: 1 }), refused)
        assert.deepEqual(await store.hash('/', { revision }), refused)
        assert.deepEqual(await endOf(store.watch('/', { after: revision })), { reason: 'compacted', compacted })
      }
      for (const [index, revision] of [at, above].entries()) {
        assert.equal((await entryAt(store, '/a', revision))?.value, String(3 + index))
        assert.equal((await entriesAt(store, '/', { revision })).length, 1)
        await hashOf(store, '/', revision)
        const received = await changesBetween(store, '/', { after: revision, until: revisions.at(-1) ?? 0 })
        assert.deepEqual(
          received.map((change) => change.revision),
          revisions.filter((made) => made > revision),
        )
      }
    },
  },
  {
    id: 'store/compaction/reported',
    rule: 'The store reports its compacted revision.',
    async run(target) {
      const store = await target.open()
      if (!target.lacks.alone) assert.equal(await store.compacted(), 0)
      const revisions = await rewrite(store, '/a', 3)
      good(await store.compact(revisions[1] ?? 0))
      assert.equal(await store.compacted(), revisions[1])
      good(await store.compact(revisions[2] ?? 0))
      assert.equal(await store.compacted(), revisions[2])
    },
  },
  {
    id: 'store/compaction/again-and-backwards',
    rule: 'Compacting at a compacted revision succeeds and changes nothing; compacting at a future revision fails.',
    async run(target) {
      const store = await target.open()
      const [first = 0, second = 0, head = 0] = await rewrite(store, '/a', 3)
      good(await store.compact(second))
      for (const revision of [second, first, 1, 0]) {
        assert.deepEqual(await store.compact(revision), { ok: true })
        assert.equal(await store.compacted(), second)
      }
      for (const revision of [head + 1, head + 1_000])
        assert.deepEqual(await store.compact(revision), { ok: false, reason: 'ahead', revision: head })
      assert.equal(await store.compacted(), second)
      good(await store.get('/a', { revision: second }))
    },
  },
  {
    id: 'store/compaction/at-head',
    rule: 'Compaction up to the newest revision is possible, and that revision is still served.',
    async run(target) {
      const store = await target.open()
      const head = (await rewrite(store, '/a', 4)).at(-1) ?? 0
      good(await store.compact(head))
      assert.equal((await entryAt(store, '/a', head))?.value, '3')
      assert.deepEqual(await store.get('/a', { revision: head - 1 }), {
        ok: false,
        reason: 'compacted',
        compacted: head,
      })
      const reader = new Reader(store.watch('/', { after: head }))
      assert.deepEqual(changesOf(await reader.until(head)), [])
      const next = await put(store, '/a', { value: 'next', expect: head })
      assert.deepEqual(
        (await reader.changes(next)).map(({ previous, entry }) => [previous?.value, entry?.value]),
        [['3', 'next']],
      )
      await reader.leave()
    },
  },
]

const contents: readonly StoreCase[] = [
  {
    id: 'store/compaction/keeps-what-is-there',
    rule: 'Compaction removes old values and deleted keys, never current entries or their revisions.',
    async run(target) {
      const store = await target.open()
      const revisions = await rewrite(store, '/kept', 3)
      const gone = await put(store, '/gone')
      const removed = await remove(store, '/gone', gone)
      const [before, hash] = [await entriesAt(store, ''), await hashOf(store)]
      good(await store.compact(removed))
      assert.deepEqual(await entriesAt(store, ''), before)
      assert.deepEqual(await entryAt(store, '/kept'), {
        key: '/kept',
        value: '2',
        revision: revisions[2],
        created: revisions[0],
      })
      assert.equal(await hashOf(store), hash)
      assert.equal(await entryAt(store, '/gone', removed), undefined)
      const again = await put(store, '/gone', { value: 'again' })
      assert.deepEqual(await entryAt(store, '/gone'), { key: '/gone', value: 'again', revision: again, created: again })
      assert.equal(await entryAt(store, '/gone', removed), undefined)
    },
  },
  {
    id: 'store/compaction/history-above-is-exact',
    rule: 'After each of many compactions, every read and watch from C on returns exactly what it did before.',
    async run(target) {
      const store = await target.open()
      const model = await scribble(store, { seed: 'compaction', commits: 24 })
      const { revisions } = model
      for (const compacted of [5, 6, 12, 20].map((place) => revisions[place] ?? 0)) {
        good(await store.compact(compacted))
        await Promise.all(
          revisions
            .filter((one) => one >= compacted)
            .map(async (revision) => {
              assert.deepEqual(await entriesAt(store, '', { revision }), model.range('', revision))
              assert.deepEqual(
                await changesBetween(store, '', { after: revision, until: model.head }),
                model.changesAfter(revision),
              )
            }),
        )
      }
    },
  },
  {
    id: 'store/compaction/of-a-deletion',
    rule: 'A deletion at C is removed with its previous entry; a later deletion is still sent, with its previous entry.',
    async run(target) {
      const store = await target.open()
      const [a, b] = [await put(store, '/a', { value: 'a' }), await put(store, '/b', { value: 'b' })]
      const first = await remove(store, '/a', a)
      const second = await remove(store, '/b', b)
      good(await store.compact(first))
      assert.deepEqual(await keysBelow(store, '/', { revision: first }), ['/b'])
      const previous = { key: '/b', value: 'b', revision: b, created: b }
      assert.deepEqual(await changesBetween(store, '/', { after: first, until: second }), [
        { key: '/b', revision: second, previous },
      ])
    },
  },
]

const meanwhile: readonly StoreCase[] = [
  {
    id: 'store/compaction/live-watch-goes-on',
    rule: 'Compaction does not affect a watcher that is up to date.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const reader = new Reader(store.watch('/', { after: start }))
      await reader.until(start)
      let expect = 0
      for (let round = 0; round < 10; round++) {
        expect = await put(store, '/a', { value: String(round), expect })
        assert.deepEqual(
          (await reader.changes(expect)).map(({ entry }) => entry?.value),
          [String(round)],
        )
        good(await store.compact(expect))
      }
      await reader.leave()
    },
  },
  {
    id: 'store/compaction/overtakes-a-reader',
    rule: 'A reader that compaction overtakes receives changes in order without a gap, to the end or up to an error.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const watch = store.watch('/', { after: start })
      const revisions = await rewrite(store, '/a', 8)
      const slow = new Reader(store.watch('/', { after: start }))
      good(await store.compact(revisions[5] ?? 0))
      for (const reader of [new Reader(watch), slow]) {
        const received: number[] = []
        for (let done = false; !done && received.length < revisions.length;) {
          const step = await reader.next()
          done = step.done ?? false
          if (step.done) assert.deepEqual(step.value, { reason: 'compacted', compacted: revisions[5] })
          else received.push(...step.value.changes.map(({ revision }) => revision))
        }
        assert.deepEqual(received, revisions.slice(0, received.length))
        await reader.leave()
      }
    },
  },
  {
    id: 'store/compaction/readers-and-writers-meanwhile',
    rule: 'During repeated compactions a read at a revision is correct or fails; it is never wrong.',
    async run(target) {
      const store = await target.open()
      const writing = scribble(store, { seed: 'meanwhile', commits: 30 })
      const reads: { revision: number; result: ReturnType<Store['range']> }[] = []
      for (let round = 0; round < 30; round++) {
        const head = await store.head()
        reads.push({ revision: head, result: store.range('', { revision: head }) })
        await store.compact(head)
      }
      const model = await writing
      for (const { revision, result } of reads) {
        const found = await result
        if (found.ok)
          assert.deepEqual(
            found.entries.map((entry) => plainEntry(entry)),
            model.range('', revision),
          )
        else assert.equal(found.reason, 'compacted')
      }
      assert.deepEqual(await entriesAt(store, ''), model.range(''))
    },
  },
]

export const compactionCases: readonly StoreCase[] = [...boundary, ...contents, ...meanwhile]
