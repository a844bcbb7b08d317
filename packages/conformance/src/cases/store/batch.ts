/**
 * Several writes in one commit: all at one revision, or none.
 */
import assert from 'node:assert/strict'
import { storeLimits } from 'evenkeel/unstable/store'
import type { Write } from 'evenkeel/unstable/store'
import type { StoreCase } from '../../targets/target.ts'
import {
  bytes,
  changesBetween,
  commitAll,
  entriesAt,
  entryAt,
  keysBelow,
  put,
  Reader,
  rejectsRange,
  remove,
  textOf,
} from './shorthand.ts'

const value = bytes('x')

const together: readonly StoreCase[] = [
  {
    id: 'store/batch/one-revision',
    rule: 'The creates, updates and deletes of one commit all happen, at one revision.',
    async run(target) {
      const store = await target.open()
      const updated = await put(store, '/update', { value: 'old' })
      const removed = await put(store, '/remove')
      const revision = await commitAll(store, [
        { key: '/create', value: bytes('new'), expect: 0 },
        { key: '/update', value: bytes('newer'), expect: updated },
        { key: '/remove', expect: removed },
      ])
      assert.deepEqual(await entriesAt(store, '/'), [
        { key: '/create', value: 'new', revision, created: revision },
        { key: '/update', value: 'newer', revision, created: updated },
      ])
      assert.deepEqual(await keysBelow(store, '/', { revision: removed }), ['/remove', '/update'])
    },
  },
  {
    id: 'store/batch/one-watch-batch',
    rule: 'A watcher receives the changes of one commit together, live and from history.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const live = new Reader(store.watch('/', { after: start }))
      await live.until(start)
      const writes = Array.from({ length: 50 }, (_, index): Write => ({ key: `/${index}`, value, expect: 0 }))
      const revision = await commitAll(store, writes)
      const past = new Reader(store.watch('/', { after: start }))
      for (const reader of [live, past]) {
        const { changes, revision: seen } = await reader.batch()
        assert.ok(seen >= revision)
        assert.deepEqual(
          changes.map(({ key, revision: at }) => [key, at]),
          writes.map(({ key }) => [key, revision]),
        )
        await reader.leave()
      }
    },
  },
  {
    id: 'store/batch/stamps-agree',
    rule: 'All stamped values of a commit contain the same revision.',
    async run(target) {
      const store = await target.open()
      const revision = await commitAll(
        store,
        [0, 1, 2].map((place): Write => ({ key: `/${place}`, value: bytes('ab'), expect: 0, stampAt: place })),
      )
      assert.deepEqual(
        (await entriesAt(store, '/')).map((entry) => entry.value),
        [`${revision}ab`, `a${revision}b`, `ab${revision}`],
      )
    },
  },
  {
    id: 'store/batch/none-when-one-is-lost',
    rule: 'If any key is not as expected, the commit writes nothing, whatever the position of the key.',
    async run(target) {
      const store = await target.open()
      const there = await put(store, '/there', { value: 'kept' })
      const fine: Write[] = [
        { key: '/a', value, expect: 0 },
        { key: '/there', expect: there },
        { key: '/c', value, expect: 0 },
      ]
      for (const place of [0, 1, 2, 3]) {
        const writes = [...fine.slice(0, place), { key: '/lost', value, expect: there }, ...fine.slice(place)]
        assert.deepEqual(await store.commitAll(writes), { ok: false, key: '/lost', current: undefined })
        assert.deepEqual(await keysBelow(store, '/'), ['/there'])
      }
      assert.equal(await store.head(), there)
      assert.deepEqual((await changesBetween(store, '/', { after: there - 1, until: there })).length, 1)
    },
  },
  {
    id: 'store/batch/first-lost-key-is-named',
    rule: 'A lost race reports the first key that was not as expected: writes in order, then checks.',
    async run(target) {
      const store = await target.open()
      const revision = await put(store, '/b', { value: 'b' })
      const bad = (key: string): Write => ({ key, value, expect: key === '/b' ? 0 : revision })
      const good: Write = { key: '/good', value, expect: 0 }
      const named = async (writes: readonly Write[], checks: readonly Write[]): Promise<string> => {
        const result = await store.commitAll(writes, { checks: checks.map(({ key, expect }) => ({ key, expect })) })
        return result.ok ? 'none' : result.key
      }
      assert.equal(await named([bad('/b'), bad('/a')], []), '/b')
      assert.equal(await named([bad('/z'), bad('/b')], [bad('/a')]), '/z')
      assert.equal(await named([good], [bad('/z'), bad('/a')]), '/z')
      assert.equal(await named([good, bad('/q')], [bad('/a')]), '/q')
      assert.equal(await store.head(), revision)
    },
  },
  {
    id: 'store/batch/racing-batches',
    rule: 'Of two commits that share a key only one can win, and all of its writes are visible.',
    async run(target) {
      const store = await target.open()
      for (let round = 0; round < 8; round++) {
        const batches = ['left', 'right'].map((side) =>
          [`/${round}/${side}`, `/${round}/shared`, `/${round}/${side}/more`].map((key): Write => ({
            key,
            value: bytes(side),
            expect: 0,
          })),
        )
        const results = await Promise.all(batches.map((writes) => store.commitAll(writes)))
        assert.deepEqual(results.map(({ ok }) => ok).sort(), [false, true])
        const entries = await entriesAt(store, `/${round}/`)
        assert.equal(entries.length, 3)
        assert.equal(new Set(entries.map((entry) => `${entry.value}@${entry.revision}`)).size, 1)
      }
    },
  },
]

const conditions: readonly StoreCase[] = [
  {
    id: 'store/batch/checks-hold',
    rule: 'A commit whose checks hold succeeds and does not change the checked keys.',
    async run(target) {
      const store = await target.open()
      const leader = await put(store, '/leader', { value: 'me' })
      const revision = await commitAll(store, [{ key: '/a', value, expect: 0 }], {
        checks: [
          { key: '/leader', expect: leader },
          { key: '/stop', expect: 0 },
        ],
      })
      assert.deepEqual(await entryAt(store, '/leader'), {
        key: '/leader',
        value: 'me',
        revision: leader,
        created: leader,
      })
      assert.deepEqual(await keysBelow(store, '/'), ['/a', '/leader'])
      assert.deepEqual(
        (await changesBetween(store, '/', { after: leader, until: revision })).map(({ key }) => key),
        ['/a'],
      )
    },
  },
  {
    id: 'store/batch/checks-fail',
    rule: 'A commit with a failing check writes nothing and reports the checked key.',
    async run(target) {
      const store = await target.open()
      const first = await put(store, '/leader', { value: 'me' })
      const second = await put(store, '/leader', { value: 'you', expect: first })
      for (const expect of [0, first, second + 1]) {
        const result = await store.commit({ key: '/a', value, expect: 0 }, { checks: [{ key: '/leader', expect }] })
        assert.equal(result.ok, false)
        assert.deepEqual([result.key, result.current?.revision, textOf(result.current)], ['/leader', second, 'you'])
      }
      const missing = await store.commit(
        { key: '/a', value, expect: 0 },
        { checks: [{ key: '/none', expect: second }] },
      )
      assert.deepEqual(missing, { ok: false, key: '/none', current: undefined })
      assert.equal(await store.head(), second)
      await remove(store, '/leader', second)
      assert.equal(
        (await store.commit({ key: '/a', value, expect: 0 }, { checks: [{ key: '/leader', expect: second }] })).ok,
        false,
      )
    },
  },
  {
    id: 'store/batch/keys-once',
    rule: 'A commit contains each key once, as a write or as a check.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const a: Write = { key: '/a', value, expect: 0 }
      const b: Write = { key: '/b', value, expect: 0 }
      await rejectsRange(store.commitAll([a, b, a]))
      await rejectsRange(store.commitAll([a, b], { checks: [{ key: '/a', expect: 0 }] }))
      await rejectsRange(
        store.commitAll([a], {
          checks: [
            { key: '/c', expect: 0 },
            { key: '/c', expect: 0 },
          ],
        }),
      )
      assert.equal(await store.head(), start)
    },
  },
  {
    id: 'store/batch/size',
    rule: `A commit takes 1 to ${storeLimits.batchMax} keys, those that are checked included.`,
    async run(target) {
      const store = await target.open()
      const writes = (count: number): Write[] =>
        Array.from({ length: count }, (_, index) => ({ key: `/${count}/${index}`, value, expect: 0 }))
      const start = await store.head()
      await rejectsRange(store.commitAll([]))
      await rejectsRange(store.commitAll([], { checks: [{ key: '/a', expect: 0 }] }))
      await rejectsRange(store.commitAll(writes(storeLimits.batchMax + 1)))
      await rejectsRange(store.commitAll(writes(storeLimits.batchMax), { checks: [{ key: '/a', expect: 0 }] }))
      assert.equal(await store.head(), start)
      await commitAll(store, writes(storeLimits.batchMax))
      const checks = Array.from({ length: storeLimits.batchMax - 1 }, (_, index) => ({
        key: `/absent/${index}`,
        expect: 0,
      }))
      await commitAll(store, [{ key: '/a', value, expect: 0 }], { checks })
      assert.equal((await keysBelow(store, '/')).length, storeLimits.batchMax + 1)
    },
  },
  {
    id: 'store/batch/bytes',
    rule: `The values of a commit have at most ${storeLimits.batchBytesMax} bytes together.`,
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const big = new Uint8Array(storeLimits.valueBytesMax)
      const count = Math.floor(storeLimits.batchBytesMax / big.length) + 1
      await rejectsRange(
        store.commitAll(Array.from({ length: count }, (_, index) => ({ key: `/${index}`, value: big, expect: 0 }))),
      )
      assert.equal(await store.head(), start)
    },
  },
]

export const batchCases: readonly StoreCase[] = [...together, ...conditions]
