import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogger, SystemClock } from '#base'
import type { Cancel, Clock } from '#base'
import type { Change, Store, Watch, WatchBatch, Write } from '../store.ts'
import { EtcdServer, etcdMissing, eventually } from './etcd-server.fixture.ts'
import { openEtcdStore } from './etcd-store.ts'
import { Proxy } from './proxy.fixture.ts'

let server: EtcdServer
let proxy: Proxy
const stores: Store[] = []

async function open(
  endpoints: readonly string[],
  options: Partial<Parameters<typeof openEtcdStore>[0]> = {},
): Promise<Store> {
  const store = await openEtcdStore({ endpoints, ...options })
  stores.push(store)
  return store
}

const put = (key: string, text: string, expect = 0): Write => ({
  key,
  value: new Uint8Array(Buffer.from(text)),
  expect,
})

async function committed(store: Store, ...writes: readonly Write[]): Promise<number> {
  const result = await store.commitAll(writes)
  if (!result.ok) throw new Error(`lost the race for ${result.key}`)
  return result.revision
}

/** Collects everything a watch tells. */
function collect(watch: Watch): { readonly changes: Change[]; readonly done: Promise<void> } {
  const changes: Change[] = []
  const read = async (): Promise<void> => {
    for await (const batch of watch) changes.push(...batch.changes)
  }
  return { changes, done: read() }
}

async function nextOf(watch: Watch): Promise<WatchBatch> {
  return (await watch[Symbol.asyncIterator]().next()).value as WatchBatch
}

/** The clock of this machine, which knows how many of its timers are set. */
class CountingClock extends SystemClock implements Clock {
  pending = 0

  override after(delayMs: number, callback: () => void): Cancel {
    this.pending++
    let isOver = false
    const end = (): void => {
      if (!isOver) this.pending--
      isOver = true
    }
    const cancel = super.after(delayMs, () => {
      end()
      callback()
    })
    return () => {
      end()
      cancel()
    }
  }
}

const sockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

describe.skipIf(etcdMissing)(`a store whose etcd is away${etcdMissing ? ` (skipped: ${etcdMissing})` : ''}`, () => {
  beforeEach(async () => {
    server = await EtcdServer.start({ args: ['--grpc-keepalive-min-time', '10ms'] })
    proxy = await Proxy.start(server.port)
  })
  afterEach(async () => {
    server.resume()
    await Promise.all(stores.splice(0).map((store) => store.close()))
    await proxy.stop()
    await server.stop()
  })

  test('continues after a kill and restart of etcd: every change exactly once', async () => {
    const store = await open([server.endpoint])
    const after = await store.head()
    const [all, some] = [collect(store.watch('', { after })), collect(store.watch('k1', { after }))]
    let [revision, count] = [0, 0]
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < 20; index++)
        revision = await committed(store, put(`k${count++}`, 'x'), put(`k1/${count}`, 'y'))
      await server.kill()
      await eventually('the store notices', () => store.failure()?.state === 'unreachable')
      const reading = store.get('k0')
      await server.startAgain()
      expect(await reading).toMatchObject({ ok: true, entry: { key: 'k0' } })
      await eventually('the store is well again', () => store.failure() === undefined)
    }
    revision = await committed(store, put('last', 'x'), put('k1/last', 'y'))
    await eventually(
      'the watches have seen the last',
      () => all.changes.at(-1)?.revision === revision && some.changes.at(-1)?.revision === revision,
    )
    // Every key was written once, so the keys in order say that nothing is missing and nothing came twice. Revisions
    // need not be consecutive: a store that has to find out how far it has seen everything may take one.
    const pairs = [...Array.from({ length: 60 }, (_, index) => [`k${index}`, `k1/${index + 1}`]), ['last', 'k1/last']]
    expect(all.changes.map(({ key }) => key)).toEqual(pairs.flat())
    expect(some.changes.filter(({ key }) => key.startsWith('k1/')).map(({ key }) => key)).toEqual(
      pairs.map(([, second]) => second),
    )
  })

  test('costs an empty etcd no revision to be watched from 0', async () => {
    const store = await open([server.endpoint])
    const watch = store.watch('', { after: 0 })
    watch.requestProgress()
    expect(await nextOf(watch)).toEqual({ revision: 1, changes: [] })
    expect(await store.head()).toBe(1)
    expect([await store.compacted(), await store.compact(1), await store.compacted()]).toEqual([0, { ok: true }, 1])
    expect(await store.watch('', { after: 0 })[Symbol.asyncIterator]().next()).toEqual({
      done: true,
      value: { reason: 'compacted', compacted: 1 },
    })
    expect(await store.get('a', { revision: 0 })).toEqual({ ok: false, reason: 'compacted', compacted: 1 })
  })

  test('notices a suspended server, and continues when it resumes', async () => {
    const store = await open([server.endpoint], {
      timeouts: { pingMs: 50, pingTimeoutMs: 50, connectMs: 200, retryMs: 30_000 },
    })
    const after = await store.head()
    const { changes } = collect(store.watch('', { after }))
    const first = await committed(store, put('a', '1'))
    await eventually('the watch tells it', () => changes.length === 1)
    server.pause()
    await eventually('the store notices', () => store.failure()?.state === 'unreachable')
    const reading = store.get('a')
    server.resume()
    expect(await reading).toMatchObject({ ok: true, entry: { revision: first } })
    await eventually('the store is well again', () => store.failure() === undefined)
    const second = await committed(store, put('a', '2', first))
    await eventually('the watch tells it', () => changes.length === 2)
    expect(changes.map(({ revision }) => revision)).toEqual([first, second])
  })

  test('resumes watches wherever the connection is cut', async () => {
    const [store, other] = [await open([proxy.endpoint]), await open([server.endpoint])]
    const after = await store.head()
    const { changes } = collect(store.watch('', { after }))
    let revision = 0
    for (let index = 0; index < 200; index++) {
      revision = await committed(other, put(`k${index}`, 'x'.repeat(200)))
      if (index % 10 === 3) proxy.cut()
    }
    await eventually('the watch has seen the last', () => changes.at(-1)?.revision === revision)
    expect(changes.map(({ key }) => key)).toEqual(Array.from({ length: 200 }, (_, index) => `k${index}`))
  })

  test.each([
    ['five changes', 5],
    ['one delete, of which compaction leaves no trace', 0],
  ])('ends watches when what they missed was compacted: %s', async (_, puts) => {
    const [store, other] = [await open([proxy.endpoint]), await open([server.endpoint])]
    const first = await committed(store, put('a', '1'))
    const watches = [store.watch('', { after: first }), store.watch('a', { after: first })]
    for (const watch of watches) {
      watch.requestProgress()
      await nextOf(watch)
    }
    proxy.isClosed = true
    proxy.cut()
    let revision = first
    for (let index = 0; index < puts; index++) revision = await committed(other, put('a', 'x', revision))
    if (puts === 0) revision = await committed(other, { key: 'a', expect: revision })
    await other.compact(revision)
    proxy.isClosed = false
    for (const watch of watches)
      expect(await watch[Symbol.asyncIterator]().next()).toEqual({
        done: true,
        value: { reason: 'compacted', compacted: revision },
      })
    const watch = store.watch('', { after: revision })
    const next = await committed(other, put('b', 'y'))
    expect(await nextOf(watch)).toMatchObject({ revision: next })
  })

  test('uses another endpoint when one is dead, and when one dies', async () => {
    const second = await Proxy.start(server.port)
    const store = await open(['http://127.0.0.1:1', proxy.endpoint, second.endpoint])
    const after = await store.head()
    const { changes } = collect(store.watch('', { after }))
    await committed(store, put('a', '1'))
    proxy.isClosed = true
    proxy.cut()
    expect(await store.get('a')).toMatchObject({ ok: true })
    const revision = await committed(store, put('b', '1'))
    await eventually('the watch has seen the last', () => changes.at(-1)?.revision === revision)
    expect(changes).toHaveLength(2)
    await Promise.all(stores.splice(0).map((one) => one.close()))
    await second.stop()
  })

  test('fails reads in time and says what to do', async () => {
    const store = await open([server.endpoint], { timeouts: { retryMs: 300, connectMs: 200 } })
    await server.kill()
    await expect(store.get('a')).rejects.toMatchObject({ reason: 'Failed' })
    expect(store.failure()).toMatchObject({
      state: 'unreachable',
      message: expect.stringContaining(server.endpoint) as string,
    })
    await expect(store.commit(put('a', '1'))).rejects.toMatchObject({ reason: 'Failed' })
    await expect(openEtcdStore({ endpoints: [server.endpoint], timeouts: { retryMs: 100 } })).rejects.toMatchObject({
      reason: 'Unusable',
      message: expect.stringContaining(server.endpoint) as string,
    })
    const reason = new Error('no more patience')
    await expect(openEtcdStore({ endpoints: [server.endpoint], signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    )
  })

  test('close leaves no connection, with or without etcd', async () => {
    for (const isKilled of [false, true]) {
      const clock = new CountingClock()
      const log = createLogger({ clock, sink: () => undefined })
      const before = sockets()
      const store = await openEtcdStore({ endpoints: [server.endpoint], clock, log, timeouts: { retryMs: 500 } })
      const after = await store.head()
      const controller = new AbortController()
      const watches = [
        store.watch('', { after }),
        store.watch('a', { after: after - 1 }),
        store.watch('', { after, signal: controller.signal }),
      ]
      watches[0]?.requestProgress()
      await nextOf(watches[0] as Watch)
      if (isKilled) await server.kill()
      const reading = store.get('a', { signal: controller.signal }).catch((error: unknown) => error)
      await store.close()
      await reading
      expect(watches.map(({ end }) => end)).toEqual(watches.map(() => ({ reason: 'closed' })))
      expect(clock.pending).toBe(0)
      expect(sockets()).toBe(before)
    }
  })
})
