import { afterEach, describe, expect, test } from 'vitest'
import type { Change, Store } from '../store.ts'
import { EtcdServer, etcdMissing, eventually } from './etcd-server.fixture.ts'
import { openEtcdStore } from './etcd-store.ts'

let servers: EtcdServer[] = []
const stores: Store[] = []

async function open(endpoints: readonly string[]): Promise<Store> {
  const store = await openEtcdStore({
    endpoints,
    timeouts: { retryMs: 30_000, connectMs: 300, requestMs: 2_000, pingMs: 5_100, pingTimeoutMs: 300 },
  })
  stores.push(store)
  return store
}

/** Counts upward in one key, each number exactly once, until told to stop; gives the revisions. */
async function count(store: Store, key: string, signal: AbortSignal): Promise<number[]> {
  const revisions: number[] = []
  while (!signal.aborted) {
    const result = await store.commit({
      key,
      value: new Uint8Array(Buffer.from(String(revisions.length))),
      expect: revisions.at(-1) ?? 0,
    })
    if (!result.ok) throw new Error(`${key} was changed by somebody else at ${result.current?.revision}`)
    revisions.push(result.revision)
  }
  return revisions
}

describe.skipIf(etcdMissing)(`a store on three servers${etcdMissing ? ` (skipped: ${etcdMissing})` : ''}`, () => {
  afterEach(async () => {
    for (const server of servers) server.resume()
    await Promise.all(stores.splice(0).map((store) => store.close()))
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })

  test('makes every commit once and tells every change once while servers die and stand still in turn', async () => {
    servers = await EtcdServer.startCluster(3)
    const endpoints = servers.map(({ endpoint }) => endpoint)
    const writers = await Promise.all(
      endpoints.map((_, index) => open([...endpoints.slice(index), ...endpoints.slice(0, index)])),
    )
    const watcher = await open([...endpoints].reverse())
    const after = await watcher.head()
    const changes: Change[] = []
    const reading = (async () => {
      for await (const batch of watcher.watch('', { after })) changes.push(...batch.changes)
    })()
    const stop = new AbortController()
    const made: number[][] = []
    for (const [index, writer] of writers.entries())
      expect(await writer.commit({ key: `made-${index}`, value: new Uint8Array(0), expect: 0 })).toMatchObject({
        ok: true,
      })
    const counting = writers.map(async (writer, index) => {
      made[index] = await count(writer, `count-${index}`, stop.signal)
    })

    const beyond = async (more: number): Promise<void> => {
      const now = changes.length
      await eventually('the writers go on', () => changes.length > now + more)
    }
    for (const server of servers) {
      await beyond(20)
      await server.kill()
      await beyond(20)
      await server.startAgain()
      await beyond(20)
      server.pause()
      await beyond(20)
      server.resume()
    }
    stop.abort()
    await Promise.all(counting)
    const expected = made
      .flatMap((revisions, index) => revisions.map((revision, value) => `${revision} count-${index} ${value}`))
      .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    await eventually('the watch has seen the last', () => changes.length >= expected.length + writers.length)
    await watcher.close()
    await reading
    expect(
      changes
        .slice(writers.length)
        .map(({ revision, key, entry }) => `${revision} ${key} ${entry && Buffer.from(entry.value).toString()}`),
    ).toEqual(expected)
  })
})
