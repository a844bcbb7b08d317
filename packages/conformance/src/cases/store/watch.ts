/**
 * The changes of a watch: every change after a revision, in order, none missing, none twice.
 */
import assert from 'node:assert/strict'
import type { Store, Watch, Write } from 'evenkeel/unstable/store'
import { plainEntry } from '../../model/store-model.ts'
import type { PlainEntry } from '../../model/store-model.ts'
import type { StoreCase } from '../../targets/target.ts'
import { scribble } from './read.ts'
import { bytes, changesBetween, changesOf, commitAll, entriesAt, good, put, Reader, remove } from './shorthand.ts'

const past: readonly StoreCase[] = [
  {
    id: 'store/watch/from-every-revision',
    rule: 'A watch sends exactly the changes after its revision, with the right entries and previous entries.',
    async run(target) {
      const store = await target.open()
      const model = await scribble(store, { seed: 'watch', commits: 30 })
      await Promise.all(
        model.revisions.map(async (after) => {
          const prefix = ['', '/a', '/a/'][after % 3] ?? ''
          assert.deepEqual(
            await changesBetween(store, prefix, { after, until: model.head }),
            model.changesAfter(after, prefix),
          )
        }),
      )
    },
  },
  {
    id: 'store/watch/shape-of-a-change',
    rule: 'A change of a new key has no previous entry, one of an updated key has both, and one of a deleted key has only the previous one.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const made = await put(store, '/a', { value: '1' })
      const updated = await put(store, '/a', { value: '2', expect: made })
      const gone = await remove(store, '/a', updated)
      const again = await put(store, '/a', { value: '3' })
      const first = { key: '/a', value: '1', revision: made, created: made }
      const second = { key: '/a', value: '2', revision: updated, created: made }
      const expected = [
        { key: '/a', revision: made, entry: first },
        { key: '/a', revision: updated, entry: second, previous: first },
        { key: '/a', revision: gone, previous: second },
        { key: '/a', revision: again, entry: { key: '/a', value: '3', revision: again, created: again } },
      ]
      assert.deepEqual(await changesBetween(store, '/', { after: start, until: again }), expected)
    },
  },
  {
    id: 'store/watch/long-history',
    rule: 'A watch sends a history of many commits completely and does not split a commit.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const keys = Array.from({ length: 90 }, (_, index) => `/${index}`)
      const revisions: number[] = []
      for (let round = 0; round < 16; round++) {
        const writes = keys.map((key): Write => ({ key, value: bytes(String(round)), expect: revisions.at(-1) ?? 0 }))
        revisions.push(await commitAll(store, writes))
      }
      const reader = new Reader(store.watch('/', { after: start }))
      const batches = await reader.until(revisions.at(-1) ?? 0)
      assert.equal(changesOf(batches).length, keys.length * 16)
      for (const { changes } of batches) {
        for (const revision of new Set(changes.map((change) => change.revision))) {
          assert.deepEqual(
            changes.filter((change) => change.revision === revision).map(({ key }) => key),
            keys,
          )
        }
      }
      await reader.leave()
    },
  },
]

const live: readonly StoreCase[] = [
  {
    id: 'store/watch/live',
    rule: 'A watch from the newest revision sends no old changes and every new one, in order.',
    async run(target) {
      const store = await target.open()
      await put(store, '/old')
      const reader = new Reader(store.watch('/', { after: await store.head() }))
      const revisions: number[] = []
      for (let index = 0; index < 20; index++) {
        revisions.push(await put(store, `/${index}`))
        if (index % 3 === 0) await reader.batch()
      }
      const received = await reader.changes(revisions.at(-1) ?? 0)
      assert.deepEqual(
        received.map(({ revision }) => revision),
        revisions.slice(-received.length),
      )
      await reader.leave()
    },
  },
  {
    id: 'store/watch/history-then-live',
    rule: 'Between the history and concurrent writes no change is lost or sent twice.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const revisions: number[] = []
      for (let index = 0; index < 30; index++) revisions.push(await put(store, `/before/${index}`))
      const reader = new Reader(store.watch('/', { after: start }))
      const writing = Promise.all(Array.from({ length: 30 }, (_, index) => put(store, `/during/${index}`)))
      const first = await reader.batch()
      const during = await writing
      const last = await put(store, '/last')
      const received = [
        ...first.changes.map(({ revision }) => revision),
        ...(await reader.changes(last)).map(({ revision }) => revision),
      ]
      assert.deepEqual(received, [...revisions, ...[...during].sort((a, b) => a - b), last])
      await reader.leave()
    },
  },
  {
    id: 'store/watch/seam-of-range-and-watch',
    rule: 'A range plus a watch from its revision always give the content of the store.',
    async run(target) {
      const store = await target.open()
      const writers = Promise.all([0, 1, 2].map((writer) => churn(store, `/${writer}`, 25)))
      const mirrors = await Promise.all(Array.from({ length: 6 }, () => mirror(store)))
      await writers
      const head = await put(store, '/end')
      const expected = await entriesAt(store, '/', { revision: head })
      for (const { reader, entries } of mirrors) {
        for (const { key, entry } of await reader.changes(head)) {
          if (entry) entries.set(key, entry)
          else entries.delete(key)
        }
        assert.deepEqual(
          [...entries.values()].sort((a, b) => (a.key < b.key ? -1 : 1)),
          expected,
        )
        await reader.leave()
      }
    },
  },
  {
    id: 'store/watch/sent-after-readable',
    rule: 'When a watcher receives a revision, reads see at least that revision.',
    async run(target) {
      const store = await target.open()
      const reader = new Reader(store.watch('/', { after: await store.head() }))
      const writing = Promise.all(Array.from({ length: 10 }, (_, index) => put(store, `/${index}`)))
      for (let seen = 0; seen < 10;) {
        const { revision, changes } = await reader.batch()
        seen += changes.length
        assert.ok((await store.head()) >= revision)
        for (const { key, entry } of changes)
          assert.deepEqual(plainEntry(good(await store.get(key)).entry), plainEntry(entry))
      }
      await writing
      await reader.leave()
    },
  },
]

const many: readonly StoreCase[] = [
  {
    id: 'store/watch/prefix',
    rule: 'A watch sends only the changes of keys with its prefix, live and from history.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const prefixes = ['', '/', '/a', '/a/', '/a/b', '/a0', '/b', '~', '/none']
      const readers = prefixes.map((prefix) => new Reader(store.watch(prefix, { after: start })))
      for (const reader of readers) await reader.until(start)
      const keys = ['/a', '/a/b', '/a/b/c', '/a0', '/a~', '/b', '0', '~']
      let head = start
      for (const key of keys) head = await put(store, key)
      await Promise.all(
        prefixes.map(async (prefix, index) => {
          const expected = keys.filter((key) => key.startsWith(prefix))
          assert.deepEqual(
            (await readers[index]?.changes(head))?.map(({ key }) => key),
            expected,
            `live below ${prefix}`,
          )
          assert.deepEqual(
            (await changesBetween(store, prefix, { after: start, until: head })).map(({ key }) => key),
            expected,
            `history below ${prefix}`,
          )
          await readers[index]?.leave()
        }),
      )
    },
  },
  {
    id: 'store/watch/part-of-a-commit',
    rule: 'When a commit touches several prefixes, each watcher receives its own part, under the same revision.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const readers = ['/a/', '/b/', '/'].map((prefix) => new Reader(store.watch(prefix, { after: start })))
      const revision = await commitAll(
        store,
        ['/a/1', '/b/1', '/a/2', '/c/1'].map((key): Write => ({ key, value: bytes(key), expect: 0 })),
      )
      const received = await Promise.all(
        readers.map(async (reader) => (await reader.changes(revision)).map((change) => [change.key, change.revision])),
      )
      assert.deepEqual(received, [
        [
          ['/a/1', revision],
          ['/a/2', revision],
        ],
        [['/b/1', revision]],
        [
          ['/a/1', revision],
          ['/b/1', revision],
          ['/a/2', revision],
          ['/c/1', revision],
        ],
      ])
      for (const reader of readers) await reader.leave()
    },
  },
  {
    id: 'store/watch/several-watchers',
    rule: 'All watchers of a prefix receive the same changes, however they started, and closing one does not affect the others.',
    async run(target) {
      const store = await target.open()
      const start = await store.head()
      const readers = Array.from({ length: 5 }, () => new Reader(store.watch('/', { after: start })))
      const leaver: Watch = store.watch('/', { after: start })
      const model = await scribble(store, { seed: 'several', commits: 6 })
      leaver.close()
      const late = new Reader(store.watch('/', { after: start }))
      const more = await put(store, '/more')
      for (const reader of [...readers, late]) {
        const received = await reader.changes(more)
        assert.deepEqual(received.slice(0, -1), model.changes)
        assert.equal(received.at(-1)?.key, '/more')
        await reader.leave()
      }
    },
  },
]

/** Puts, updates and deletes a few keys of its own. */
async function churn(store: Store, prefix: string, rounds: number): Promise<void> {
  const revisions = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    const key = `${prefix}/${round % 4}`
    const expect = revisions.get(key) ?? 0
    const isDelete = expect > 0 && round % 3 === 0
    const revision = isDelete
      ? await remove(store, key, expect)
      : await put(store, key, { value: String(round), expect })
    revisions.set(key, isDelete ? 0 : revision)
  }
}

/** Lists, and watches from the revision of the list. */
async function mirror(store: Store): Promise<{ reader: Reader; entries: Map<string, PlainEntry> }> {
  const { entries, revision } = good(await store.range('/'))
  return {
    reader: new Reader(store.watch('/', { after: revision })),
    entries: new Map(entries.map((entry) => [entry.key, plainEntry(entry)])),
  }
}

export const watchCases: readonly StoreCase[] = [...past, ...live, ...many]
