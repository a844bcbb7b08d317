/**
 * Ranges: which keys, in which order, and page by page.
 */
import assert from 'node:assert/strict'
import type { Store, Write } from 'evenkeel/unstable/store'
import type { StoreCase } from '../../targets/target.ts'
import { bytes, commitAll, good, keysBelow, put, rejectsRange, remove } from './shorthand.ts'

async function fill(store: Store, keys: readonly string[]): Promise<number> {
  let revision = 0
  for (let start = 0; start < keys.length; start += 128) {
    revision = await commitAll(
      store,
      keys.slice(start, start + 128).map((key): Write => ({ key, value: bytes(key), expect: 0 })),
    )
  }
  return revision
}

/** All pages of a prefix, each checked for its revision and its remaining count. */
async function pages(
  store: Store,
  prefix: string,
  { limit, revision, between }: { limit: number; revision: number; between?: () => Promise<unknown> },
): Promise<string[][]> {
  const total = good(await store.range(prefix, { revision })).entries.length
  const found: string[][] = []
  for (let after: string | undefined, seen = 0; ;) {
    const page = good(await store.range(prefix, { revision, limit, after }))
    const keys = page.entries.map(({ key }) => key)
    found.push(keys)
    seen += keys.length
    assert.deepEqual([page.revision, page.remaining], [revision, total - seen])
    if (page.remaining === 0) return found
    after = keys.at(-1)
    await between?.()
  }
}

const order: readonly StoreCase[] = [
  {
    id: 'store/range/order-of-bytes',
    rule: 'Entries are ordered by the bytes of their keys, whatever the order of the writes.',
    async run(target) {
      const store = await target.open()
      const keys = [
        'b',
        'a',
        'B',
        'A',
        'aa',
        'a!',
        'a~',
        '~',
        '!',
        '10',
        '9',
        '1',
        '/',
        '//',
        '/a',
        '/A',
        '-',
        '_',
        'Zz',
        'z',
      ]
      for (const key of keys) await put(store, key)
      assert.deepEqual(
        await keysBelow(store, ''),
        [...keys].sort((a, b) => (a < b ? -1 : 1)),
      )
    },
  },
  {
    id: 'store/range/prefix-edges',
    rule: 'A range contains every key with the prefix, including the key equal to it, and no neighbors.',
    async run(target) {
      const store = await target.open()
      await fill(store, ['/', '/a', '/a!', '/a/', '/a/b', '/a0', '/a~', '/a~~', '/b', '/B', '0', '.'])
      const below = {
        '': 12,
        '/': 10,
        '/a': 7,
        '/a/': 2,
        '/a/b': 1,
        '/a0': 1,
        '/a~': 2,
        '/a~~': 1,
        '/a~~~': 0,
        '/b': 1,
        '/c': 0,
        '0': 1,
        '!': 0,
        '~': 0,
      }
      for (const [prefix, count] of Object.entries(below)) {
        const keys = await keysBelow(store, prefix)
        assert.equal(keys.length, count, `below ${prefix}`)
        assert.ok(keys.every((key) => key.startsWith(prefix)))
      }
      assert.deepEqual(await keysBelow(store, '/a/'), ['/a/', '/a/b'])
    },
  },
  {
    id: 'store/range/highest-characters',
    rule: 'A prefix that ends with the highest character has an upper bound too.',
    async run(target) {
      const store = await target.open()
      await fill(store, ['}', '~', '~~', '~~~', '~!'])
      assert.deepEqual(await keysBelow(store, '~'), ['~', '~!', '~~', '~~~'])
      assert.deepEqual(await keysBelow(store, '~~'), ['~~', '~~~'])
      assert.deepEqual(await keysBelow(store, ''), ['}', '~', '~!', '~~', '~~~'])
    },
  },
  {
    id: 'store/range/deleted-keys-are-gone',
    rule: 'Deleted keys are neither returned nor counted as remaining.',
    async run(target) {
      const store = await target.open()
      const revision = await fill(store, ['/1', '/2', '/3', '/4', '/5'])
      await remove(store, '/2', revision)
      await remove(store, '/5', revision)
      assert.deepEqual(await keysBelow(store, '/'), ['/1', '/3', '/4'])
      const { entries, remaining } = good(await store.range('/', { limit: 1 }))
      assert.deepEqual([entries.map(({ key }) => key), remaining], [['/1'], 2])
    },
  },
]

const paging: readonly StoreCase[] = [
  {
    id: 'store/range/pages',
    rule: 'Consecutive pages return every entry once, in order, and the number of remaining entries.',
    async run(target) {
      const store = await target.open()
      const keys = Array.from({ length: 300 }, (_, index) => `/p/${String(index).padStart(4, '0')}`)
      const revision = await fill(store, ['/o/x', ...keys, '/q/x'])
      for (const limit of [1, 7, 100, 299, 300, 301]) {
        if (limit === 1) assert.deepEqual((await pages(store, '/p/000', { limit, revision })).flat(), keys.slice(0, 10))
        else assert.deepEqual((await pages(store, '/p/', { limit, revision })).flat(), keys)
      }
    },
  },
  {
    id: 'store/range/pages-of-one-revision',
    rule: 'Writes, deletes and new keys do not affect pages of a pinned revision.',
    async run(target) {
      const store = await target.open()
      const keys = Array.from({ length: 30 }, (_, index) => `/${String(index).padStart(2, '0')}`)
      const revision = await fill(store, keys)
      let round = 0
      const between = async (): Promise<void> => {
        await put(store, keys[round] ?? '', { value: 'changed', expect: revision })
        await remove(store, keys.at(-1 - round) ?? '', revision)
        await put(store, `/new${round}`)
        await put(store, `/${round}.5`)
        round++
      }
      const found = await pages(store, '/', { limit: 4, revision, between })
      assert.deepEqual(found.flat(), keys)
      assert.equal(round, 7)
      assert.deepEqual(
        good(await store.range('/', { revision })).entries.map(({ revision: at }) => at),
        keys.map(() => revision),
      )
    },
  },
  {
    id: 'store/range/after-any-text',
    rule: '`after` need not be an existing key or start with the prefix.',
    async run(target) {
      const store = await target.open()
      await fill(store, ['/a/1', '/a/2', '/a/3', '/b/1'])
      const behind = {
        '/a/1': 2,
        '/a/0': 3,
        '/a/15': 2,
        '/a/3': 0,
        '/': 3,
        '/a': 3,
        '/Z': 3,
        '/b': 0,
        '/b/1': 0,
        '~': 0,
      }
      for (const [after, count] of Object.entries(behind))
        assert.equal((await keysBelow(store, '/a/', { after })).length, count, `after ${after}`)
      assert.deepEqual(await keysBelow(store, '', { after: '/a/2' }), ['/a/3', '/b/1'])
      const { entries, remaining } = good(await store.range('', { after: '/a/1', limit: 1 }))
      assert.deepEqual([entries.map(({ key }) => key), remaining], [['/a/2'], 2])
    },
  },
  {
    id: 'store/range/many',
    rule: 'A range of many keys has one revision and is complete and in order.',
    async run(target) {
      const store = await target.open()
      const keys = Array.from({ length: 1_500 }, (_, index) => `/many/${index}`)
      const revision = await fill(store, keys)
      const result = good(await store.range('/many/'))
      assert.deepEqual([result.revision, result.remaining], [revision, 0])
      assert.deepEqual(
        result.entries.map(({ key }) => key),
        [...keys].sort(),
      )
    },
  },
  {
    id: 'store/range/limit-must-be-one',
    rule: "A limit below 1 is the caller's mistake.",
    async run(target) {
      const store = await target.open()
      for (const limit of [0, -1, NaN, -Infinity]) await rejectsRange(store.range('/', { limit }))
    },
  },
]

export const rangeCases: readonly StoreCase[] = [...order, ...paging]
