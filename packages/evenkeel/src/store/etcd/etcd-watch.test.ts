import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { nextTurn, SeededRandom, randomInt, SystemClock } from '#base'
import type { Change, Store, Watch, WatchBatch, WatchEnd, Write } from '../store.ts'
import { etcdctlMissing, etcdMissing, EtcdServer, withEtcdctl } from './etcd-server.fixture.ts'
import { openEtcdStore } from './etcd-store.ts'
import type { EtcdStoreOptions } from './etcd-store.ts'

let server: EtcdServer
let prefixes = 0
const stores: Store[] = []

async function open(options: Partial<EtcdStoreOptions> = {}): Promise<Store> {
  const store = await openEtcdStore({ endpoints: [server.endpoint], prefix: `/watch-${++prefixes}/`, ...options })
  stores.push(store)
  return store
}

/** A second store on the keys of the one opened last. */
const openTwin = (options: Partial<EtcdStoreOptions> = {}): Promise<Store> =>
  open({ prefix: `/watch-${prefixes}/`, ...options })

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const put = (key: string, text: string, more: number | Partial<Write> = 0): Write => ({
  key,
  value: bytes(text),
  expect: 0,
  ...(typeof more === 'number' ? { expect: more } : more),
})

async function committed(store: Store, ...writes: readonly Write[]): Promise<number> {
  const result = await store.commitAll(writes)
  if (!result.ok) throw new Error(`lost the race for ${result.key}`)
  return result.revision
}

/** Reads until everything up to a revision was seen. */
async function readUntil(watch: Watch, revision: number): Promise<WatchBatch[]> {
  const batches: WatchBatch[] = []
  const reader = watch[Symbol.asyncIterator]()
  while ((batches.at(-1)?.revision ?? 0) < revision) {
    const { done, value } = await reader.next()
    if (done) throw new Error(`ended with ${JSON.stringify(value)}`)
    batches.push(value as WatchBatch)
  }
  return batches
}

async function endOf(watch: Watch): Promise<WatchEnd | undefined> {
  const reader = watch[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await reader.next()
    if (done) return value as WatchEnd | undefined
  }
}

const changesOf = (batches: readonly WatchBatch[]): Change[] => batches.flatMap(({ changes }) => changes)
const describeChange = ({ key, revision, entry, previous }: Change): string =>
  `${revision} ${key} ${entry ? Buffer.from(entry.value).toString() : '-'} was ${previous ? Buffer.from(previous.value).toString() : '-'}`

describe.skipIf(etcdMissing)(`EtcdWatch${etcdMissing ? ` (skipped: ${etcdMissing})` : ''}`, () => {
  beforeAll(async () => {
    server = await EtcdServer.start()
  })
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()))
  })
  afterAll(async () => {
    await server.stop()
  })

  test('delivers creates, updates and deletes with the previous entry', async () => {
    const store = await open()
    const after = await store.head()
    const watch = store.watch('a', { after })
    const first = await committed(store, put('a', 'one', { stampAt: 0 }), put('b', 'other'))
    const second = await committed(store, put('a', 'two', first))
    const third = await committed(store, { key: 'a', expect: second })
    const changes = changesOf(await readUntil(watch, third))
    expect(changes.map(describeChange)).toEqual([
      `${first} a ${first}one was -`,
      `${second} a two was ${first}one`,
      `${third} a - was two`,
    ])
    expect(changes[2]?.previous).toMatchObject({ key: 'a', revision: second, created: first })
  })

  test('delivers the changes after every revision, through its own stream and through the feed', async () => {
    const store = await open({ recentBytesMax: 2_000 })
    const random = new SeededRandom('history')
    const start = await store.head()
    const live = store.watch('', { after: start })
    const known = new Map<string, number>()
    for (let round = 0; round < 60; round++) await randomCommit(store, known, random)
    const head = await store.head()
    const all = changesOf(await readUntil(live, head)).map(describeChange)
    for (let after = start; after <= head; after += 1 + randomInt(random, 4)) {
      const watch = store.watch('', { after })
      watch.requestProgress()
      const changes = changesOf(await readUntil(watch, head))
      watch.close()
      expect(changes.map(describeChange)).toEqual(all.filter((line) => Number.parseInt(line, 10) > after))
      expect(await applied(store, after, changes)).toEqual(await stateAt(store, head))
    }
  })

  test('delivers the changes of one commit together, also when etcd sends fragments', async () => {
    const store = await open()
    const writes = Array.from({ length: 20 }, (_, index) => ({
      key: `k${String(index).padStart(2, '0')}`,
      value: new Uint8Array(70_000).fill(index),
    }))
    const after = await store.head()
    const live = store.watch('', { after, backlogBytesMax: 64 * 1024 * 1024 })
    const first = await committed(store, ...writes.map((write) => ({ ...write, expect: 0 })))
    const second = await committed(store, ...writes.map((write) => ({ ...write, expect: first })))
    const third = await committed(store, ...writes.map((write) => ({ ...write, expect: second })))
    await readUntil(live, third)
    for (const watch of [store.watch('', { after }), (await openTwin()).watch('', { after })]) {
      const batches = await readUntil(watch, third)
      const counts = new Map<number, number>()
      for (const { revision, changes } of batches) {
        expect(changes.at(-1)?.revision).toBe(revision)
        for (const { revision: at } of changes) counts.set(at, (counts.get(at) ?? 0) + 1)
      }
      expect([...counts]).toEqual([
        [first, 20],
        [second, 20],
        [third, 20],
      ])
      expect(new Set(changesOf(batches).map(({ key, revision }) => `${key}@${revision}`)).size).toBe(60)
    }
  })

  test('watches of the same prefix get the same batch object', async () => {
    const store = await open()
    const after = await store.head()
    const watches = [store.watch('a', { after }), store.watch('a', { after }), store.watch('', { after })]
    for (const watch of watches) watch.requestProgress()
    await Promise.all(watches.map((watch) => readUntil(watch, after)))
    const revision = await committed(store, put('a', '1'))
    const [one, two, three] = await Promise.all(watches.map((watch) => readUntil(watch, revision)))
    expect(one?.[0]).toBe(two?.[0])
    expect(three?.[0]?.changes).toEqual(one?.[0]?.changes)
  })

  test('serves exactly the revisions that are not compacted', async () => {
    const store = await open()
    let revision = await committed(store, put('a', '0'))
    const first = revision
    for (let index = 1; index < 10; index++) revision = await committed(store, put('a', String(index), revision))
    const compacted = first + 5
    expect(await store.compact(compacted)).toEqual({ ok: true })
    expect(await store.compact(compacted)).toEqual({ ok: true })
    expect(await store.compact(compacted - 1)).toEqual({ ok: true })
    for (const one of [store, await openTwin()]) {
      expect(await one.compacted()).toBe(compacted)
      for (const after of [0, 1, compacted - 1])
        expect(await endOf(one.watch('', { after }))).toEqual({ reason: 'compacted', compacted })
      for (const after of [compacted, compacted + 1, revision - 1]) {
        const changes = changesOf(await readUntil(one.watch('', { after }), revision))
        expect(changes.map((change) => change.revision)).toEqual(
          Array.from({ length: revision - after }, (_, index) => after + 1 + index),
        )
      }
      expect(await one.get('a', { revision: compacted - 1 })).toEqual({ ok: false, reason: 'compacted', compacted })
      expect(await one.range('', { revision: compacted - 1 })).toEqual({ ok: false, reason: 'compacted', compacted })
      expect(await one.get('a', { revision: compacted })).toMatchObject({ ok: true, entry: { revision: compacted } })
    }
  })

  test('notices compactions by other clients, repeatedly', async () => {
    const [store, twin] = [await open(), await openTwin()]
    for (let round = 0; round < 3; round++) {
      const revision = await committed(store, put(`k${round}`, '1'))
      await twin.compact(revision)
      expect(await store.compacted()).toBe(revision)
      expect(await store.get('a', { revision: revision - 1 })).toEqual({
        ok: false,
        reason: 'compacted',
        compacted: revision,
      })
    }
  })

  test('ends a watch from a future revision with the newest revision', async () => {
    const store = await open()
    const head = await store.head()
    expect(await endOf(store.watch('', { after: head + 1 }))).toEqual({ reason: 'ahead', revision: head })
    const watch = store.watch('', { after: head })
    watch.requestProgress()
    expect(await readUntil(watch, head)).toEqual([{ revision: head, changes: [] }])
  })

  test('replays a history longer than the backlog at the pace of the reader', async () => {
    const store = await open()
    const after = await store.head()
    let revision = 0
    for (let index = 0; index < 30; index++)
      revision = await committed(store, { key: 'a', value: new Uint8Array(100_000).fill(index), expect: revision })
    const watch = store.watch('', { after, backlogBytesMax: 10_000 })
    expect(changesOf(await readUntil(watch, revision))).toHaveLength(30)
    expect(watch.end).toBeUndefined()
  })

  test('ends a watch whose reader is too slow, and no other', async () => {
    const store = await open()
    const after = await store.head()
    const [slow, other] = [store.watch('', { after, backlogBytesMax: 20_000 }), store.watch('', { after })]
    slow.requestProgress()
    await readUntil(slow, after)
    let revision = 0
    for (let index = 0; index < 10; index++)
      revision = await committed(store, { key: 'a', value: new Uint8Array(10_000), expect: revision })
    expect(changesOf(await readUntil(other, revision))).toHaveLength(10)
    expect(slow.end).toEqual({ reason: 'overflow' })
    expect(await endOf(slow)).toEqual({ reason: 'overflow' })
  })

  test('stops when it is closed, aborted or left, in every state', async () => {
    const store = await open()
    const after = await store.head()
    const reason = new Error('enough')
    for (const isLive of [false, true]) {
      const controller = new AbortController()
      const [closed, aborted, left] = [
        store.watch('', { after }),
        store.watch('', { after, signal: controller.signal }),
        store.watch('', { after }),
      ]
      for (const watch of isLive ? [closed, aborted, left] : []) {
        watch.requestProgress()
        await readUntil(watch, after)
      }
      closed.close()
      expect(await endOf(closed)).toEqual({ reason: 'closed' })
      const waiting = aborted[Symbol.asyncIterator]().next()
      controller.abort(reason)
      await expect(waiting).rejects.toBe(reason)
      await left[Symbol.asyncIterator]().return?.()
      expect(await endOf(left)).toBeUndefined()
    }
    await expect(
      store
        .watch('', { after, signal: AbortSignal.abort(reason) })
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toBe(reason)
    const last = store.watch('', { after })
    await store.close()
    expect(last.end).toEqual({ reason: 'closed' })
  })

  test.skipIf(etcdctlMissing)(
    withEtcdctl('fails over a key that others wrote, and only where that is watched'),
    async () => {
      const store = await open()
      const after = await store.head()
      const [hit, spared] = [store.watch('f', { after }), store.watch('a', { after })]
      for (const watch of [hit, spared]) {
        watch.requestProgress()
        await readUntil(watch, after)
      }
      server.control('put', `/watch-${prefixes}/foreign`, 'not ours, and long enough for a header')
      expect(await endOf(hit)).toMatchObject({
        reason: 'failed',
        cause: { reason: 'Damaged', message: expect.stringContaining('foreign') as string },
      })
      const revision = await committed(store, put('a', '1'))
      expect(changesOf(await readUntil(spared, revision))).toHaveLength(1)
    },
  )

  test('delivers the end of a lease as one commit', async () => {
    const store = await open()
    const { id } = await store.grant(1_000)
    const revision = await committed(store, put('a', '1', { lease: id }), put('b', '1', { lease: id }))
    const [batch] = await readUntil(store.watch('', { after: revision }), revision + 1)
    expect(batch?.changes.map(({ key, entry, previous }) => [key, entry, previous?.lease])).toEqual([
      ['a', undefined, id],
      ['b', undefined, id],
    ])
  })

  test('two stores see the same order, whichever writes', async () => {
    const stores = [await open(), await openTwin()]
    const after = await (stores[0] as Store).head()
    const watches = stores.map((store) => store.watch('', { after }))
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      const store = stores[writer % 2] as Store
      for (let index = 0; index < 25; index++)
        await committed(store, put(`${writer}/${index}`, 'x'), put(`${writer}-${index}`, 'y'))
    })
    await Promise.all(writers)
    const head = await (stores[0] as Store).head()
    const [one, two] = await Promise.all(
      watches.map(async (watch) => changesOf(await readUntil(watch, head)).map(describeChange)),
    )
    expect(one).toHaveLength(400)
    expect(two).toEqual(one)
  })

  test('can be closed at any early moment without affecting others', async () => {
    const store = await open()
    const random = new SeededRandom('closed early')
    const turns = new SystemClock()
    const openAndClose = async (): Promise<void> => {
      const other = await openTwin()
      other.watch('', { after: await other.head() })
      for (let wait = randomInt(random, 5); wait > 0; wait--) await nextTurn(turns)
      await other.close()
    }
    await committed(store, put('a', 'one'))
    const live = async (worker: number): Promise<void> => {
      for (let round = 0; round < 150; round++) {
        const head = await store.head()
        const watch = store.watch('', { after: Math.max(1, head - randomInt(random, 5)) })
        if (randomInt(random, 2) === 0) watch.requestProgress()
        const reading = randomInt(random, 2) === 0 ? watch[Symbol.asyncIterator]().next() : undefined
        for (let wait = randomInt(random, 6); wait > 0; wait--)
          await (randomInt(random, 2) === 0 ? Promise.resolve() : nextTurn(turns))
        if (randomInt(random, 3) === 0) await committed(store, put(`${worker}/${round}`, 'x'))
        if (randomInt(random, 10) === 0) await store.compact(await store.head())
        watch.close()
        await reading
        if (randomInt(random, 20) === 0) await openAndClose()
      }
    }
    await Promise.all([0, 1, 2, 3].map(live))
    expect(await store.get('a')).toMatchObject({ ok: true, entry: { key: 'a' } })
  })
})

async function randomCommit(store: Store, known: Map<string, number>, random: SeededRandom): Promise<void> {
  const keys = new Set(Array.from({ length: 1 + randomInt(random, 3) }, () => `k${randomInt(random, 6)}`))
  const writes = [...keys].map((key): Write => {
    const expect = known.get(key) ?? 0
    return expect > 0 && randomInt(random, 3) === 0 ? { key, expect } : put(key, `v${randomInt(random, 1000)}`, expect)
  })
  const revision = await committed(store, ...writes)
  for (const { key, value } of writes) known.set(key, value ? revision : 0)
}

async function stateAt(store: Store, revision: number): Promise<Map<string, string>> {
  const result = await store.range('', { revision })
  if (!result.ok) throw new Error(result.reason)
  return new Map(result.entries.map(({ key, value }) => [key, Buffer.from(value).toString()]))
}

async function applied(store: Store, after: number, changes: readonly Change[]): Promise<Map<string, string>> {
  const state = await stateAt(store, after)
  for (const { key, entry } of changes) {
    if (entry) state.set(key, Buffer.from(entry.value).toString())
    else state.delete(key)
  }
  return new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)))
}
