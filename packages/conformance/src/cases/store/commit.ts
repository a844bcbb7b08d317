/**
 * One write: it succeeds if the key is as expected, gets its own revision and keeps its bytes.
 */
import assert from 'node:assert/strict'
import type { StoreCase } from '../../targets/target.ts'
import { bytes, entryAt, good, keysBelow, put, Reader, remove, textOf } from './shorthand.ts'

const races: readonly StoreCase[] = [
  {
    id: 'store/commit/first-revision-is-2',
    rule: 'An empty store is at revision 1, and its first commit is revision 2.',
    needs: ['alone'],
    async run(target) {
      const store = await target.open()
      assert.equal(await store.head(), 1)
      assert.equal(await put(store, '/a'), 2)
      assert.equal(await store.head(), 2)
      assert.equal(await put(store, '/b'), 3)
    },
  },
  {
    id: 'store/commit/revisions-rise',
    rule: 'Every commit gets a revision above all earlier ones, and reads see it as the newest.',
    async run(target) {
      const store = await target.open()
      let last = await store.head()
      for (let index = 0; index < 10; index++) {
        const revision = await put(store, `/${index}`)
        assert.ok(revision > last)
        assert.equal(await store.head(), revision)
        assert.equal(good(await store.get(`/${index}`)).revision, revision)
        last = revision
      }
    },
  },
  {
    id: 'store/commit/create-update-delete',
    rule: 'A key keeps its create revision through updates and has the revision of its last write.',
    async run(target) {
      const store = await target.open()
      const created = await put(store, '/a', { value: 'one' })
      assert.deepEqual(await entryAt(store, '/a'), { key: '/a', value: 'one', revision: created, created })
      const updated = await put(store, '/a', { value: 'two', expect: created })
      assert.deepEqual(await entryAt(store, '/a'), { key: '/a', value: 'two', revision: updated, created })
      await remove(store, '/a', updated)
      assert.equal(await entryAt(store, '/a'), undefined)
    },
  },
  {
    id: 'store/commit/created-again-after-delete',
    rule: 'A key that was deleted and created again has the create revision of the second create.',
    async run(target) {
      const store = await target.open()
      const first = await put(store, '/a')
      await remove(store, '/a', first)
      const again = await put(store, '/a', { value: 'again' })
      assert.ok(again > first)
      assert.deepEqual(await entryAt(store, '/a'), { key: '/a', value: 'again', revision: again, created: again })
    },
  },
  {
    id: 'store/commit/lost-race-changes-nothing',
    rule: 'A write whose key is not as expected writes nothing, uses no revision and returns the current entry.',
    async run(target) {
      const store = await target.open()
      const revision = await put(store, '/a', { value: 'mine' })
      const lost = await store.commit({ key: '/a', value: bytes('yours'), expect: 0 })
      assert.equal(lost.ok, false)
      assert.equal(lost.key, '/a')
      assert.equal(textOf(lost.current), 'mine')
      assert.equal(lost.current?.revision, revision)
      assert.equal(await store.head(), revision)
      assert.equal((await entryAt(store, '/a'))?.value, 'mine')
    },
  },
  {
    id: 'store/commit/stale-expect-is-lost',
    rule: 'An update or a delete loses if it expects an older revision, a later one or a missing key.',
    async run(target) {
      const store = await target.open()
      const first = await put(store, '/a', { value: '1' })
      const second = await put(store, '/a', { value: '2', expect: first })
      for (const write of [{ value: bytes('3') }, {}]) {
        for (const expect of [first, second + 1, second + 1000]) {
          const lost = await store.commit({ key: '/a', expect, ...write })
          assert.equal(lost.ok, false)
          assert.deepEqual([lost.current?.revision, lost.current?.created, textOf(lost.current)], [second, first, '2'])
        }
        const missing = await store.commit({ key: '/none', expect: first, ...write })
        assert.deepEqual(missing, { ok: false, key: '/none', current: undefined })
      }
      assert.equal(await store.head(), second)
    },
  },
  {
    id: 'store/commit/deleted-is-absent',
    rule: 'After a delete the key is absent: deleting it again loses, and a writer must expect 0.',
    async run(target) {
      const store = await target.open()
      const made = await put(store, '/a')
      const gone = await remove(store, '/a', made)
      for (const expect of [made, gone])
        assert.deepEqual(await store.commit({ key: '/a', expect }), { ok: false, key: '/a', current: undefined })
      assert.deepEqual(await store.commit({ key: '/a', value: bytes('x'), expect: gone }), {
        ok: false,
        key: '/a',
        current: undefined,
      })
      assert.ok((await put(store, '/a')) > gone)
    },
  },
  {
    id: 'store/commit/one-winner',
    rule: 'Of many writers with the same expectation exactly one wins, and the others get its write.',
    async run(target) {
      const store = await target.open()
      let expect = 0
      for (let round = 0; round < 5; round++) {
        const results = await Promise.all(
          Array.from({ length: 12 }, (_, writer) =>
            store.commit({ key: '/a', value: bytes(`${round}/${writer}`), expect }),
          ),
        )
        const winners = results.flatMap((result, writer) => (result.ok ? [{ revision: result.revision, writer }] : []))
        assert.equal(winners.length, 1)
        const { revision, writer } = winners[0] ?? assert.fail()
        for (const result of results) {
          if (!result.ok)
            assert.deepEqual([result.current?.revision, textOf(result.current)], [revision, `${round}/${writer}`])
        }
        expect = revision
      }
    },
  },
  {
    id: 'store/commit/in-the-order-of-calls-on-success',
    rule: 'Concurrent commits each get a different revision, and all are visible once they return.',
    async run(target) {
      const store = await target.open()
      const revisions = await Promise.all(Array.from({ length: 40 }, (_, index) => put(store, `/${index}`)))
      assert.equal(new Set(revisions).size, 40)
      assert.equal(await store.head(), Math.max(...revisions))
      assert.equal((await keysBelow(store, '/')).length, 40)
    },
  },
]

const contents: readonly StoreCase[] = [
  {
    id: 'store/commit/bytes-exactly',
    rule: 'A value is bytes: all of them are returned unchanged, zeros and empty values included.',
    async run(target) {
      const store = await target.open()
      const all = Uint8Array.from({ length: 256 }, (_, index) => index)
      const values = [
        all,
        Uint8Array.from([...all].reverse()),
        new Uint8Array(0),
        new Uint8Array(1),
        new Uint8Array(1000),
        Uint8Array.of(0, 69, 75, 1),
        Uint8Array.of(255, 254),
      ]
      for (const [index, value] of values.entries()) {
        const { revision } = good(await store.commit({ key: `/${index}`, value, expect: 0 }))
        const { entry } = good(await store.get(`/${index}`))
        assert.deepEqual([...(entry?.value ?? [])], [...value])
        assert.equal(entry?.revision, revision)
      }
      const ranged = good(await store.range('/')).entries
      assert.deepEqual(
        ranged.map(({ value }) => [...value]),
        values.map((value) => [...value]),
      )
    },
  },
  {
    id: 'store/commit/empty-is-not-absent',
    rule: 'An empty value is a value: the key exists and has a revision.',
    async run(target) {
      const store = await target.open()
      const revision = await put(store, '/a', { value: '' })
      assert.deepEqual(await entryAt(store, '/a'), { key: '/a', value: '', revision, created: revision })
      const lost = await store.commit({ key: '/a', value: bytes(''), expect: 0 })
      assert.equal(lost.ok, false)
      const full = await put(store, '/a', { value: 'full', expect: revision })
      const again = await put(store, '/a', { value: '', expect: full })
      assert.deepEqual(await entryAt(store, '/a'), { key: '/a', value: '', revision: again, created: revision })
      assert.equal((await entryAt(store, '/a', full))?.value, 'full')
    },
  },
  {
    id: 'store/commit/same-bytes-new-revision',
    rule: 'Writing identical bytes is a commit like any other.',
    async run(target) {
      const store = await target.open()
      const first = await put(store, '/a', { value: 'same' })
      const second = await put(store, '/a', { value: 'same', expect: first })
      assert.ok(second > first)
      assert.deepEqual(await entryAt(store, '/a'), { key: '/a', value: 'same', revision: second, created: first })
    },
  },
  {
    id: 'store/commit/writer-keeps-its-buffer',
    rule: 'Changing the buffer after the commit has returned changes nothing in the store.',
    async run(target) {
      const store = await target.open()
      const value = bytes('before')
      const revision = good(await store.commit({ key: '/a', value, expect: 0 })).revision
      value.fill(0)
      assert.equal((await entryAt(store, '/a'))?.value, 'before')
      assert.equal((await entryAt(store, '/a', revision))?.value, 'before')
    },
  },
  {
    id: 'store/commit/what-was-read-stays',
    rule: 'A value that was read never changes, whatever is written, deleted or compacted afterwards.',
    async run(target) {
      const store = await target.open()
      let revision = await put(store, '/a', { value: 'held'.repeat(100) })
      const held = good(await store.get('/a')).entry
      for (let round = 0; round < 20; round++)
        revision = await put(store, '/a', { value: String(round).repeat(400), expect: revision })
      await remove(store, '/a', revision)
      good(await store.compact(await store.head()))
      for (let round = 0; round < 20; round++) await put(store, `/${round}`, { value: 'other'.repeat(80) })
      assert.equal(textOf(held), 'held'.repeat(100))
    },
  },
]

const stamps: readonly StoreCase[] = [
  {
    id: 'store/commit/stamp-position',
    rule: 'The digits of the revision are inserted exactly at the stamp position: start, middle or end.',
    async run(target) {
      const store = await target.open()
      const around = { '/start': [0, '', 'abcd'], '/inside': [2, 'ab', 'cd'], '/end': [4, 'abcd', ''] } as const
      for (const [key, [stampAt, before, after]] of Object.entries(around)) {
        const revision = await put(store, key, { value: 'abcd', stampAt })
        const stamped = `${before}${revision}${after}`
        assert.equal((await entryAt(store, key))?.value, stamped)
        const updated = await put(store, key, { value: '', expect: revision, stampAt: 0 })
        assert.equal((await entryAt(store, key))?.value, String(updated))
        assert.equal((await entryAt(store, key, revision))?.value, stamped)
      }
      await put(store, '/none', { value: 'abcd' })
      assert.equal((await entryAt(store, '/none'))?.value, 'abcd')
    },
  },
  {
    id: 'store/commit/stamp-digits-grow',
    rule: 'However many digits the revision has, the value around them is intact.',
    async run(target) {
      const store = await target.open()
      let expect = 0
      for (let round = 0; round < 110; round++) {
        expect = await put(store, '/a', { value: '{"v":""}', expect, stampAt: 6 })
        assert.equal((await entryAt(store, '/a'))?.value, `{"v":"${expect}"}`)
      }
      if (!target.lacks.alone) assert.equal(expect, 111)
    },
  },
  {
    id: 'store/commit/stamp-everywhere',
    rule: 'Reads, ranges, watches, lost races and earlier values all show the stamped value.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const first = await put(store, '/a', { value: '<>', stampAt: 1 })
      const second = await put(store, '/a', { value: '[]', stampAt: 1, expect: first })
      assert.deepEqual(good(await store.range('/')).entries.map(textOf), [`[${second}]`])
      const lost = await store.commit({ key: '/a', value: bytes('x'), expect: first })
      assert.equal(lost.ok ? undefined : textOf(lost.current), `[${second}]`)
      const reader = new Reader(store.watch('/', { after: start }))
      const changes = await reader.changes(second)
      assert.deepEqual(
        changes.map(({ entry, previous }) => [previous?.value, entry?.value]),
        [
          [undefined, `<${first}>`],
          [`<${first}>`, `[${second}]`],
        ],
      )
      await reader.leave()
    },
  },
]

export const commitCases: readonly StoreCase[] = [...races, ...contents, ...stamps]
