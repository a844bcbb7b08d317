/**
 * Reads: the newest state, or exactly the state at a revision.
 */
import assert from 'node:assert/strict'
import { SeededRandom, randomInt } from 'evenkeel/unstable/base'
import type { Store, Write } from 'evenkeel/unstable/store'
import { plainEntry, StoreModel } from '../../model/store-model.ts'
import type { StoreCase } from '../../targets/target.ts'
import { bytes, commitAll, entryAt, good, hashOf, put, rejectsRange, remove } from './shorthand.ts'

/** Random writes to a few keys, one to three at a time, mirrored in a model. */
export async function scribble(
  store: Store,
  { seed, commits, keys = ['/a', '/a/b', '/a0', '/b'] }: { seed: string; commits: number; keys?: readonly string[] },
): Promise<StoreModel> {
  const random = new SeededRandom(seed)
  const model = new StoreModel(await store.head())
  for (let round = 0; round < commits; round++) {
    const writes = new Map<string, Write>()
    for (let count = 1 + randomInt(random, 3); count > 0; count--) {
      const key = keys[randomInt(random, keys.length)] ?? ''
      const expect = model.get(key)?.revision ?? 0
      const isDelete = expect > 0 && randomInt(random, 3) === 0
      writes.set(key, {
        key,
        expect,
        ...(!isDelete && {
          value: bytes(`${round}`.repeat(randomInt(random, 4))),
          ...(randomInt(random, 2) === 0 && { stampAt: 0 }),
        }),
      })
    }
    const list = [...writes.values()]
    model.commit(list, await commitAll(store, list))
  }
  return model
}

export const readCases: readonly StoreCase[] = [
  {
    id: 'store/read/absent',
    rule: 'A missing key reads as undefined, at the newest revision.',
    async run(target) {
      const store = await target.open()
      const head = await store.head()
      assert.deepEqual(await store.get('/none'), { ok: true, revision: head, entry: undefined })
      assert.deepEqual(await store.range('/none'), { ok: true, revision: head, entries: [], remaining: 0 })
    },
  },
  {
    id: 'store/read/own-writes',
    rule: 'After a commit has returned, every kind of read sees it.',
    async run(target) {
      const store = await target.open()
      let expect = 0
      for (let round = 0; round < 10; round++) {
        expect = await put(store, '/a', { value: String(round), expect })
        assert.deepEqual((await entryAt(store, '/a'))?.value, String(round))
        assert.deepEqual(
          good(await store.range('/')).entries.map(({ revision }) => revision),
          [expect],
        )
        assert.ok((await store.head()) >= expect)
        assert.deepEqual((await entryAt(store, '/a', expect))?.revision, expect)
      }
    },
  },
  {
    id: 'store/read/every-past-revision',
    rule: 'A read at a revision sees exactly the state at that revision, also between two changes of a key.',
    async run(target) {
      const store = await target.open()
      const model = await scribble(store, { seed: 'past', commits: 40 })
      for (const revision of model.revisions) {
        for (const key of ['/a', '/a/b', '/a0', '/b']) {
          const result = good(await store.get(key, { revision }))
          assert.deepEqual([result.revision, plainEntry(result.entry)], [revision, model.get(key, revision)])
        }
        for (const prefix of ['', '/a', '/a/']) {
          const result = good(await store.range(prefix, { revision }))
          assert.deepEqual(
            [result.revision, result.entries.map((entry) => plainEntry(entry))],
            [revision, model.range(prefix, revision)],
          )
          assert.equal(await hashOf(store, prefix, revision), model.hash(prefix, revision))
        }
      }
    },
  },
  {
    id: 'store/read/deleted-in-between',
    rule: 'A key that was deleted and created again is absent exactly in between.',
    async run(target) {
      const store = await target.open()
      const first = await put(store, '/a', { value: 'first' })
      const gone = await remove(store, '/a', first)
      const other = await put(store, '/b')
      const again = await put(store, '/a', { value: 'again' })
      const seen = await Promise.all(
        [first - 1, first, gone, other, again].map(async (revision) => (await entryAt(store, '/a', revision))?.value),
      )
      assert.deepEqual(seen, [undefined, 'first', undefined, undefined, 'again'])
    },
  },
  {
    id: 'store/read/ahead',
    rule: 'A future revision is rejected with the newest one; the newest itself is served.',
    async run(target) {
      const store = await target.open()
      const head = await put(store, '/a')
      for (const revision of [head + 1, head + 1000, Number.MAX_SAFE_INTEGER]) {
        const refused = { ok: false, reason: 'ahead', revision: head } as const
        assert.deepEqual(await store.get('/a', { revision }), refused)
        assert.deepEqual(await store.range('/', { revision }), refused)
        assert.deepEqual(await store.hash('/', { revision }), refused)
      }
      good(await store.get('/a', { revision: head }))
      good(await store.range('/', { revision: head }))
      good(await store.hash('/', { revision: head }))
    },
  },
  {
    id: 'store/read/before-everything',
    rule: 'Before its first commit the store is empty, from revision 0 on.',
    needs: ['alone'],
    async run(target) {
      const store = await target.open()
      await put(store, '/a')
      for (const revision of [0, 1]) {
        assert.deepEqual(await store.get('/a', { revision }), { ok: true, revision, entry: undefined })
        assert.deepEqual(await store.range('/', { revision }), { ok: true, revision, entries: [], remaining: 0 })
      }
    },
  },
  {
    id: 'store/read/revision-must-be-one',
    rule: "A revision that is not a whole number from 0 to 2^53 - 1 is the caller's mistake.",
    async run(target) {
      const store = await target.open()
      for (const revision of [-1, 1.5, NaN, Infinity, 2 ** 53]) {
        await rejectsRange(store.get('/a', { revision }))
        await rejectsRange(store.range('/', { revision }))
        await rejectsRange(store.hash('/', { revision }))
        await rejectsRange(store.compact(revision))
        assert.throws(() => store.watch('/', { after: revision }), RangeError)
      }
    },
  },
  {
    id: 'store/read/explicit-undefined',
    rule: 'An option that is explicitly undefined counts as omitted.',
    async run(target) {
      const store = await target.open()
      const head = await put(store, '/a')
      const got = good(await store.get('/a', { revision: undefined, signal: undefined }))
      const ranged = good(
        await store.range('/', { revision: undefined, after: undefined, limit: undefined, signal: undefined }),
      )
      assert.deepEqual([got.revision, ranged.revision, ranged.entries.length], [head, head, 1])
    },
  },
]
