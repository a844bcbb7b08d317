import { getEventListeners } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Entry, Store, Write } from '../store.ts'
import { etcdctlMissing, etcdMissing, EtcdServer, eventually, withEtcdctl } from './etcd-server.fixture.ts'
import { openEtcdStore } from './etcd-store.ts'
import type { EtcdStoreOptions } from './etcd-store.ts'

let server: EtcdServer
let prefixes = 0
const stores: Store[] = []

async function open(options: Partial<EtcdStoreOptions> = {}): Promise<Store> {
  const store = await openEtcdStore({ endpoints: [server.endpoint], prefix: `/test-${++prefixes}/`, ...options })
  stores.push(store)
  return store
}

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const textOf = (entry: Entry | undefined): string | undefined => entry && Buffer.from(entry.value).toString()
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

describe.skipIf(etcdMissing)(`EtcdStore${etcdMissing ? ` (skipped: ${etcdMissing})` : ''}`, () => {
  beforeAll(async () => {
    server = await EtcdServer.start()
  })
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()))
  })
  afterAll(async () => {
    await server.stop()
  })

  describe('commit', () => {
    test('assigns rising revisions and returns what was written', async () => {
      const store = await open()
      const head = await store.head()
      const first = await committed(store, put('a', 'one'))
      const second = await committed(store, put('a', 'two', first))
      expect([first, second]).toEqual([head + 1, head + 2])
      expect(await store.get('a')).toEqual({
        ok: true,
        revision: second,
        entry: { key: 'a', value: bytes('two'), revision: second, created: first },
      })
      expect(await store.head()).toBe(second)
    })

    test('reports the current entry on a conflict, and writes nothing', async () => {
      const store = await open()
      const first = await committed(store, put('a', 'one'))
      expect(await store.commit(put('a', 'two'))).toEqual({
        ok: false,
        key: 'a',
        current: { key: 'a', value: bytes('one'), revision: first, created: first },
      })
      expect(await store.commit(put('b', 'two', first))).toEqual({ ok: false, key: 'b', current: undefined })
      expect(await store.commit({ key: 'a', expect: first - 1 })).toMatchObject({ ok: false, key: 'a' })
      expect(await store.head()).toBe(first)
    })

    test('puts the revision where the stamp says', async () => {
      const store = await open()
      const first = await committed(store, put('a', '{"v":""}', { stampAt: 6 }), put('b', '', { stampAt: 0 }))
      expect(textOf(((await store.get('a')) as { entry: Entry }).entry)).toBe(`{"v":"${first}"}`)
      expect(textOf(((await store.get('b')) as { entry: Entry }).entry)).toBe(String(first))
      const lost = await store.commit(put('a', 'x'))
      expect(!lost.ok && textOf(lost.current)).toBe(`{"v":"${first}"}`)
    })

    test('deletes a key and creates it again', async () => {
      const store = await open()
      const first = await committed(store, put('a', 'one'))
      const gone = await committed(store, { key: 'a', expect: first })
      expect(await store.get('a')).toEqual({ ok: true, revision: gone, entry: undefined })
      const again = await committed(store, put('a', 'two'))
      expect(await store.get('a')).toMatchObject({ entry: { revision: again, created: again } })
    })

    test('writes a batch under one revision, or none of it', async () => {
      const store = await open()
      const first = await committed(store, put('a', '1'), put('b', '1'), put('c', '1'))
      const second = await committed(store, put('a', '2', first), { key: 'b', expect: first }, put('d', '2'))
      expect(await store.range('')).toMatchObject({
        revision: second,
        entries: [
          { key: 'a', revision: second },
          { key: 'c', revision: first },
          { key: 'd', revision: second },
        ],
      })
      expect(await store.commitAll([put('a', '3', second), put('c', '3', second)])).toMatchObject({
        ok: false,
        key: 'c',
        current: { revision: first },
      })
      expect(await store.head()).toBe(second)
    })

    test('takes 128 keys, as writes and checks together', async () => {
      const store = await open()
      const writes = Array.from({ length: 100 }, (_, index) => put(`k${index}`, 'x'))
      const checks = Array.from({ length: 28 }, (_, index) => ({ key: `absent${index}`, expect: 0 }))
      expect(await store.commitAll(writes, { checks })).toMatchObject({ ok: true })
      const lost = await store.commitAll(Array.from({ length: 128 }, (_, index) => put(`k${127 - index}`, 'x')))
      expect(lost).toMatchObject({ ok: false, key: 'k99' })
      await expect(
        store.commitAll([...writes, ...writes.map((write) => ({ ...write, key: `${write.key}b` }))]),
      ).rejects.toThrow(RangeError)
    })

    test('checks other keys, and names the first that is not at its expected revision', async () => {
      const store = await open()
      const first = await committed(store, put('leader', 'me'))
      expect(
        await store.commit(put('a', '1'), {
          checks: [
            { key: 'leader', expect: first },
            { key: 'none', expect: 0 },
          ],
        }),
      ).toMatchObject({ ok: true })
      const lost = await store.commit(put('b', '1'), {
        checks: [
          { key: 'a', expect: 0 },
          { key: 'leader', expect: 1 },
        ],
      })
      expect(lost).toMatchObject({ ok: false, key: 'a', current: { key: 'a' } })
      expect(await store.commit(put('leader', 'you'), { checks: [{ key: 'a', expect: 0 }] })).toMatchObject({
        ok: false,
        key: 'leader',
      })
    })

    test('lets one of many racing writers win', async () => {
      const [one, two] = [await open(), await open({ prefix: `/test-${prefixes}/` })]
      const results = await Promise.all(
        Array.from({ length: 32 }, (_, index) => (index % 2 ? one : two).commit(put('a', String(index)))),
      )
      expect(results.filter(({ ok }) => ok)).toHaveLength(1)
    })

    test('refuses requests that are too large for etcd, at its limit and above that of gRPC', async () => {
      const store = await open()
      const value = new Uint8Array(1_600_000)
      await expect(store.commit({ key: 'a', value, expect: 0 })).rejects.toMatchObject({
        name: 'StoreError',
        reason: 'TooLarge',
      })
      await expect(store.commit({ key: 'a', value: new Uint8Array(3 * 1024 * 1024), expect: 0 })).rejects.toMatchObject(
        { reason: 'TooLarge' },
      )
      await expect(store.commit({ key: 'a', value: new Uint8Array(3 * 1024 * 1024 + 1), expect: 0 })).rejects.toThrow(
        RangeError,
      )
      expect(await store.commit({ key: 'a', value: new Uint8Array(1_500_000), expect: 0 })).toMatchObject({ ok: true })
    })
  })

  describe('read', () => {
    test('reads each revision unchanged', async () => {
      const store = await open()
      const first = await committed(store, put('a', '1'))
      const second = await committed(store, put('a', '2', first), put('b', '2'))
      const third = await committed(store, { key: 'a', expect: second })
      const seen = async (revision: number): Promise<unknown> => {
        const result = await store.range('', { revision })
        return result.ok && [result.revision, ...result.entries.map((entry) => `${entry.key}=${textOf(entry)}`)]
      }
      expect(await seen(first - 1)).toEqual([first - 1])
      expect(await seen(first)).toEqual([first, 'a=1'])
      expect(await seen(second)).toEqual([second, 'a=2', 'b=2'])
      expect(await seen(third)).toEqual([third, 'b=2'])
      expect(await seen(0)).toEqual([0])
      expect(await store.get('a', { revision: second })).toMatchObject({
        ok: true,
        revision: second,
        entry: { revision: second, created: first },
      })
      expect(await store.get('a', { revision: 0 })).toEqual({ ok: true, revision: 0, entry: undefined })
    })

    test('refuses a future revision and reports the newest', async () => {
      const store = await open()
      const head = await store.head()
      const ahead = { ok: false, reason: 'ahead', revision: head }
      expect(await store.get('a', { revision: head + 1 })).toEqual(ahead)
      expect(await store.range('', { revision: head + 1 })).toEqual(ahead)
      expect(await store.hash('', { revision: head + 1 })).toEqual(ahead)
      expect(await store.compact(head + 1)).toEqual(ahead)
    })

    test('pages through more keys than one response contains, at one revision', async () => {
      const store = await open()
      const keys = Array.from({ length: 1500 }, (_, index) => `k${String(index).padStart(5, '0')}`)
      for (let at = 0; at < keys.length; at += 100)
        await committed(store, ...keys.slice(at, at + 100).map((key) => put(key, key)))
      const all = await store.range('k')
      expect(all.ok && all.entries.map(({ key }) => key)).toEqual(keys)
      expect(all.ok && all.remaining).toBe(0)
      const page = await store.range('k', { limit: 700, after: 'k00099' })
      expect(page.ok && page.entries.map(({ key }) => key)).toEqual(keys.slice(100, 800))
      expect(page.ok && page.remaining).toBe(700)
      const [head, extra] = [await store.head(), await committed(store, put('k00099x', 'new'))]
      expect(extra).toBe(head + 1)
      expect(await store.range('k', { limit: 1, after: 'k00099', revision: head })).toMatchObject({
        revision: head,
        remaining: 1399,
        entries: [{ key: 'k00100' }],
      })
    })

    test('accepts `after` before and after the prefix', async () => {
      const store = await open()
      const revision = await committed(store, put('b/1', '1'), put('b/2', '2'), put('c', '3'))
      expect(await store.range('b/', { after: 'a' })).toMatchObject({
        entries: [{ key: 'b/1' }, { key: 'b/2' }],
        remaining: 0,
      })
      expect(await store.range('b/', { after: 'b/1' })).toMatchObject({ entries: [{ key: 'b/2' }], remaining: 0 })
      expect(await store.range('b/', { after: 'c' })).toEqual({ ok: true, revision, entries: [], remaining: 0 })
    })

    test('keeps stores with different prefixes apart', async () => {
      const [one, two] = [await open(), await open()]
      await committed(one, put('a', 'one'))
      await committed(two, put('a', 'two'))
      expect(await one.range('')).toMatchObject({ entries: [{ key: 'a', value: bytes('one') }] })
    })

    test('equal contents have equal hashes, different contents different ones', async () => {
      const store = await open()
      const first = await committed(store, put('a', '1'), put('b', '1'))
      const before = await store.hash('')
      const second = await committed(store, put('a', '2', first))
      expect(await store.hash('')).not.toMatchObject({ hash: before.ok && before.hash })
      expect(await store.hash('', { revision: first })).toEqual(before)
      expect(await store.hash('b')).toMatchObject({ ok: true, revision: second })
      expect(((await store.hash('b')) as { hash: string }).hash).toBe(
        ((await store.hash('b', { revision: first })) as { hash: string }).hash,
      )
    })

    test.skipIf(etcdctlMissing)(withEtcdctl('names keys that others wrote below the prefix'), async () => {
      const store = await open()
      server.control('put', `/test-${prefixes}/foreign`, 'not ours, and long enough for a header')
      await expect(store.get('foreign')).rejects.toMatchObject({
        reason: 'Damaged',
        message: expect.stringContaining('foreign') as string,
      })
      await expect(store.range('')).rejects.toMatchObject({ reason: 'Damaged' })
      expect(await store.range('other')).toMatchObject({ ok: true })
    })
  })

  describe('lease', () => {
    test('reports the time to live that etcd uses, in whole seconds', async () => {
      const store = await open()
      expect(await store.grant(60_000)).toMatchObject({
        ttlMs: 60_000,
        id: expect.stringMatching(/^[0-9]+$/) as string,
      })
      expect(await store.grant(60_001)).toMatchObject({ ttlMs: 61_000 })
      expect((await store.grant(1)).ttlMs).toBeGreaterThanOrEqual(1000)
      expect((await store.grant(2 ** 51)).ttlMs).toBe(9_000_000_000_000)
      await expect(store.grant(0)).rejects.toThrow(RangeError)
    })

    test('deletes its keys in one commit when it is revoked', async () => {
      const store = await open()
      const { id } = await store.grant(60_000)
      const revision = await committed(store, put('a', '1', { lease: id }), put('b', '1', { lease: id }), put('c', '1'))
      expect(await store.get('a')).toMatchObject({ entry: { lease: id } })
      expect(await store.revoke(id)).toBe(true)
      expect(await store.range('')).toMatchObject({ revision: revision + 1, entries: [{ key: 'c' }] })
      expect(await store.revoke(id)).toBe(false)
      expect(await store.renew(id)).toBe(false)
    })

    test('expires unless it is renewed', async () => {
      const store = await open()
      const [kept, left] = [await store.grant(1_000), await store.grant(1_000)]
      await committed(store, put('kept', '1', { lease: kept.id }), put('left', '1', { lease: left.id }))
      await eventually('the lease that is not renewed takes its key', async () => {
        expect(await store.renew(kept.id)).toBe(true)
        const found = await store.get('left')
        return found.ok && found.entry === undefined
      })
      expect(await store.get('kept')).toMatchObject({ entry: { key: 'kept' } })
      expect(await store.renew(left.id)).toBe(false)
    })

    test('a commit with an expired lease is refused', async () => {
      const store = await open()
      for (const lease of ['7', 'no number', '0', String(2n ** 63n)]) {
        await expect(store.commit(put('a', '1', { lease }))).rejects.toMatchObject({
          reason: 'NoLease',
          message: expect.stringContaining(lease) as string,
        })
        expect([await store.renew(lease), await store.revoke(lease)]).toEqual([false, false])
      }
    })
  })

  describe('close and abort', () => {
    test('refuses calls after close, and closes twice', async () => {
      const store = await open()
      await Promise.all([store.close(), store.close()])
      for (const call of [
        () => store.head(),
        () => store.get('a'),
        () => store.commit(put('a', '1')),
        () => store.grant(1000),
        () => store.compact(1),
      ]) {
        await expect(call()).rejects.toMatchObject({ name: 'StoreError', reason: 'Closed' })
      }
      const watch = store.watch('', { after: 1 })
      expect(await watch[Symbol.asyncIterator]().next()).toEqual({ done: true, value: { reason: 'closed' } })
    })

    test('close waits for writes in progress', async () => {
      const store = await open()
      const writing = store.commit(put('a', '1'))
      await store.close()
      expect(await writing).toMatchObject({ ok: true })
    })

    test('rejects with the reason of the signal, before and during a call', async () => {
      const store = await open()
      const reason = new Error('changed my mind')
      await expect(store.get('a', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
      const calls = [
        (signal: AbortSignal) => store.get('a', { signal }),
        (signal: AbortSignal) => store.range('', { signal }),
        (signal: AbortSignal) => store.commit(put('a', '1'), { signal }),
        (signal: AbortSignal) => store.grant(1000, { signal }),
        (signal: AbortSignal) => store.renew('7', { signal }),
        (signal: AbortSignal) => store.hash('', { signal }),
        (signal: AbortSignal) => store.compacted({ signal }),
        (signal: AbortSignal) => store.compact(1, { signal }),
      ]
      for (const call of calls) {
        const controller = new AbortController()
        const running = call(controller.signal)
        controller.abort(reason)
        await expect(running).rejects.toBe(reason)
      }
      expect(await store.head()).toBeGreaterThan(0)
    })

    test('leaves no listener on a signal', async () => {
      const store = await open()
      const { signal } = new AbortController()
      const after = await store.head({ signal })
      await store.commit(put('a', '1'), { signal })
      await Promise.all([
        store.get('a', { signal }),
        store.range('', { signal }),
        store.hash('', { signal }),
        store.compacted({ signal }),
        store.renew('7', { signal }),
        store.grant(1000, { signal }),
      ])
      const watch = store.watch('', { after, signal })
      await watch[Symbol.asyncIterator]().next()
      watch.close()
      expect(getEventListeners(signal, 'abort')).toEqual([])
    })

    test('validates its options before it opens', async () => {
      await expect(openEtcdStore({ endpoints: [] })).rejects.toThrow(RangeError)
      await expect(openEtcdStore({ endpoints: ['ftp://x'] })).rejects.toThrow('ftp://x')
      await expect(openEtcdStore({ endpoints: [server.endpoint], prefix: '/no-slash' })).rejects.toThrow(
        'must end with /',
      )
    })
  })
})
