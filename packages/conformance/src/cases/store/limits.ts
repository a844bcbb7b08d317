/**
 * Limits that all stores share: every engine rejects the same calls and writes nothing.
 */
import assert from 'node:assert/strict'
import { isStoreError, storeLimits } from 'evenkeel/unstable/store'
import type { Write } from 'evenkeel/unstable/store'
import type { StoreCase } from '../../targets/target.ts'
import { bytes, entryAt, good, keysBelow, put, rejectsRange } from './shorthand.ts'

const value = bytes('x')
const badKeys = [
  '',
  ' ',
  'a b',
  'a\n',
  '\u0000',
  'a\u0000',
  '\u007f',
  'a\u0080',
  'é',
  '日本',
  '😀',
  '\ud800',
  'a'.repeat(storeLimits.keyLengthMax + 1),
]

export const limitCases: readonly StoreCase[] = [
  {
    id: 'store/limits/keys',
    rule: `A key has 1 to ${storeLimits.keyLengthMax} characters from ! to ~; every other one is the caller's mistake.`,
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      for (const key of badKeys) {
        await rejectsRange(store.commit({ key, value, expect: 0 }))
        await rejectsRange(store.commit({ key, expect: 1 }))
        await rejectsRange(
          store.commitAll([
            { key: '/a', value, expect: 0 },
            { key, value, expect: 0 },
          ]),
        )
        await rejectsRange(store.commit({ key: '/a', value, expect: 0 }, { checks: [{ key, expect: 0 }] }))
        await rejectsRange(store.get(key))
        if (key !== '') await rejectsRange(store.range(key))
      }
      assert.equal(await store.head(), start)
      const every = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))
      for (const key of ['!', '~', every.join(''), 'k'.repeat(storeLimits.keyLengthMax)]) {
        const revision = await put(store, key, { value: 'x' })
        assert.deepEqual(await entryAt(store, key), { key, value: 'x', revision, created: revision })
        assert.deepEqual(await keysBelow(store, key), [key])
      }
    },
  },
  {
    id: 'store/limits/expectations',
    rule: 'An expectation is a revision, and a delete must have one.',
    async run(target) {
      const store = await target.open()
      const revision = await put(store, '/a')
      for (const expect of [-1, 0.5, NaN, Infinity, 2 ** 53]) {
        await rejectsRange(store.commit({ key: '/b', value, expect }))
        await rejectsRange(store.commit({ key: '/a', expect }))
        await rejectsRange(store.commit({ key: '/b', value, expect: 0 }, { checks: [{ key: '/a', expect }] }))
      }
      await rejectsRange(store.commit({ key: '/a', expect: 0 }))
      await rejectsRange(store.commit({ key: '/none', expect: 0 }))
      assert.deepEqual([await store.head(), await keysBelow(store, '')], [revision, ['/a']])
    },
  },
  {
    id: 'store/limits/stamps',
    rule: 'A stamp position lies within the value: from its start to its end.',
    async run(target) {
      const store = await target.open()
      const head = await store.head()
      for (const stampAt of [-1, 5, 1.5, NaN, Infinity])
        await rejectsRange(store.commit({ key: '/a', value: bytes('four'), expect: 0, stampAt }))
      assert.equal(await store.head(), head)
      await put(store, '/a', { value: 'four', stampAt: 4 })
    },
  },
  {
    id: 'store/limits/large-values',
    rule: `A value of ${storeLimits.valueBytesMax} bytes is kept exactly.`,
    needs: ['large'],
    async run(target) {
      const store = await target.open()
      const large = Uint8Array.from({ length: storeLimits.valueBytesMax }, (_, index) => (index * 31) >> 3)
      const first = good(await store.commit({ key: '/a', value: large, expect: 0 })).revision
      assert.ok(Buffer.from(good(await store.get('/a')).entry?.value ?? []).equals(large))
      const stamped = good(
        await store.commit({ key: '/a', value: large, expect: first, stampAt: large.length }),
      ).revision
      const { entry } = good(await store.get('/a'))
      assert.equal(entry?.value.length, large.length + String(stamped).length)
      assert.ok(Buffer.from(good(await store.get('/a', { revision: first })).entry?.value ?? []).equals(large))
    },
  },
  {
    id: 'store/limits/too-large-for-all',
    rule: "A value above the limit is the caller's mistake, in every engine.",
    async run(target) {
      const store = await target.open()
      const head = await store.head()
      await rejectsRange(store.commit({ key: '/a', value: new Uint8Array(storeLimits.valueBytesMax + 1), expect: 0 }))
      assert.deepEqual([await store.head(), await keysBelow(store, '')], [head, []])
    },
  },
  {
    id: 'store/limits/too-large-for-one',
    rule: 'A commit that is too large for an engine fails with TooLarge and writes nothing; the store keeps working.',
    async run(target) {
      const store = await target.open()
      const large = new Uint8Array(storeLimits.valueBytesMax).fill(7)
      const writes: Write[] = [
        { key: '/small', value, expect: 0 },
        { key: '/large', value: large, expect: 0 },
      ]
      const outcome = await store.commitAll(writes).then(
        () => 'kept',
        (error: unknown) => (isStoreError(error, 'TooLarge') ? 'refused' : String(error)),
      )
      assert.equal(outcome, target.lacks.large ? 'refused' : 'kept')
      assert.deepEqual(await keysBelow(store, ''), target.lacks.large ? [] : ['/large', '/small'])
      await put(store, '/after')
      assert.equal(store.failure(), undefined)
    },
  },
]
