/**
 * Hashes: equal for equal contents, different for any difference.
 */
import assert from 'node:assert/strict'
import { ContentHash } from 'evenkeel/unstable/store'
import type { StoreCase } from '../../targets/target.ts'
import { scribble } from './read.ts'
import { good, hashOf, put, rejectsRange, remove } from './shorthand.ts'

export const hashCases: readonly StoreCase[] = [
  {
    id: 'store/hash/any-change-shows',
    rule: 'Every write changes the hash, also with the same bytes, an empty value or only a new lease; reads do not.',
    async run(target) {
      const store = await target.open()
      const { id } = await store.grant(3_600_000)
      const seen = [await hashOf(store)]
      const next = async (revision: Promise<number>): Promise<number> => {
        const made = await revision
        seen.push(await hashOf(store))
        assert.equal(await hashOf(store), seen.at(-1))
        return made
      }
      const first = await next(put(store, '/a', { value: 'a' }))
      const second = await next(put(store, '/a', { value: 'a', expect: first }))
      const third = await next(put(store, '/a', { value: '', expect: second }))
      await next(put(store, '/a', { value: '', expect: third, lease: id }))
      const other = await next(put(store, '/b', { value: '' }))
      await next(remove(store, '/b', other))
      await next(put(store, '/b', { value: '' }))
      assert.equal(new Set(seen).size, seen.length - 1, 'only a create followed by a delete restores the hash')
      assert.equal(seen[4], seen[6])
    },
  },
  {
    id: 'store/hash/at-a-revision',
    rule: 'The hash at a revision equals the hash when that revision was the newest.',
    async run(target) {
      const store = await target.open()
      const hashes = new Map<number, string>()
      let expect = 0
      for (let round = 0; round < 10; round++) {
        expect = await put(store, '/a', { value: String(round), expect })
        const { revision, hash } = good(await store.hash(''))
        assert.equal(revision, expect)
        hashes.set(revision, hash)
      }
      for (const [revision, hash] of hashes)
        assert.deepEqual(await store.hash('', { revision }), { ok: true, revision, hash })
    },
  },
  {
    id: 'store/hash/below-a-prefix',
    rule: 'A hash covers the keys with its prefix: other changes do not affect it.',
    async run(target) {
      const store = await target.open()
      const revision = await put(store, '/a/1')
      await put(store, '/b/1')
      const [a, all, nothing] = [await hashOf(store, '/a/'), await hashOf(store), await hashOf(store, '/none/')]
      await put(store, '/b/2')
      await put(store, '/a0')
      assert.equal(await hashOf(store, '/a/'), a)
      assert.equal(await hashOf(store, '/none/'), nothing)
      assert.notEqual(await hashOf(store), all)
      await put(store, '/a/1', { expect: revision })
      assert.notEqual(await hashOf(store, '/a/'), a)
    },
  },
  {
    id: 'store/hash/of-the-contents',
    rule: 'The hash over key, value, revision, creation and lease is the same in every engine.',
    async run(target) {
      const store = await target.open()
      const model = await scribble(store, { seed: 'hash', commits: 15 })
      const { id } = await store.grant(3_600_000)
      await put(store, '/leased', { lease: id })
      for (const prefix of ['', '/a', '/leased', '/none']) {
        const own = new ContentHash()
        for (const entry of good(await store.range(prefix)).entries) own.add(entry)
        assert.equal(await hashOf(store, prefix), own.digest())
      }
      for (const revision of model.revisions) assert.equal(await hashOf(store, '', revision), model.hash('', revision))
    },
  },
  {
    id: 'store/hash/wrong-prefix',
    rule: "A prefix that no key can start with is the caller's mistake.",
    async run(target) {
      const store = await target.open()
      for (const prefix of [' ', 'a b', 'é']) await rejectsRange(store.hash(prefix))
    },
  },
]
