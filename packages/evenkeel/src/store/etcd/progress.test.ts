import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SimulatedClock } from '#base'
import type { Store, Watch, WatchBatch, Write } from '../store.ts'
import { EtcdServer, etcdMissing, eventually } from './etcd-server.fixture.ts'
import { openEtcdStore, type EtcdStoreOptions } from './etcd-store.ts'

let server: EtcdServer
const stores: Store[] = []
let runs = 0

/** Every run of a test has prefixes of its own, so that a test can be repeated on the same server. */
async function open(prefix: string, options: Partial<EtcdStoreOptions> = {}): Promise<Store> {
  const store = await openEtcdStore({ endpoints: [server.endpoint], prefix: `/${runs}${prefix}`, ...options })
  stores.push(store)
  return store
}

const put = (key: string, expect = 0): Write => ({ key, value: new Uint8Array(50), expect })

async function committed(store: Store, ...writes: readonly Write[]): Promise<number> {
  const result = await store.commitAll(writes)
  if (!result.ok) throw new Error(`lost the race for ${result.key}`)
  return result.revision
}

/** Reads a watch, asking for progress after every batch, until a notice of progress reaches the revision. */
async function readAsking(watch: Watch, until: () => number): Promise<WatchBatch[]> {
  const batches: WatchBatch[] = []
  watch.requestProgress()
  for await (const batch of watch) {
    batches.push(batch)
    if (batch.changes.length === 0 && batch.revision >= until()) break
    watch.requestProgress()
  }
  return batches
}

/** What somebody wrote, as it should be told: revision, then key. */
type Written = readonly [revision: number, key: string]

interface Seen {
  readonly after: number
  readonly prefix: string
  readonly batches: readonly WatchBatch[]
}

/** For every batch: was exactly that told so far which was written up to its revision? Gives the batches that lie. */
function lies({ after, prefix, batches }: Seen, written: readonly Written[]): unknown[] {
  const expected = written
    .filter(([revision, key]) => revision > after && key.startsWith(prefix))
    .map(([revision, key]) => `${revision} ${key}`)
  const received: string[] = []
  return batches.flatMap((batch) => {
    received.push(...batch.changes.map(({ revision, key }) => `${revision} ${key}`))
    const should = expected.filter((line) => Number.parseInt(line, 10) <= batch.revision)
    return received.join() === should.join()
      ? []
      : [{ after, prefix, revision: batch.revision, received: received.length, should: should.length }]
  })
}

describe.skipIf(etcdMissing)(`progress${etcdMissing ? ` (skipped: ${etcdMissing})` : ''}`, () => {
  beforeAll(async () => {
    server = await EtcdServer.start()
  })
  afterEach(async () => {
    runs++
    await Promise.all(stores.splice(0).map((store) => store.close()))
  })
  afterAll(async () => {
    await server.stop()
  })

  test('is never ahead of the delivered changes, with writers under this and other prefixes, from any revision', async () => {
    const [store, writer, foreign] = [
      await open('/one/', { recentBytesMax: 20_000 }),
      await open('/one/'),
      await open('/two/'),
    ]
    const start = await store.head()
    const written: Written[] = []
    const stop = new AbortController()
    const write = async (one: Store, name: string): Promise<void> => {
      for (let count = 0; !stop.signal.aborted && written.length < 10_000; count++) {
        const revision = await committed(one, put(`${name}/a${count}`), put(`${name}/b${count}`))
        if (one === writer) written.push([revision, `${name}/a${count}`], [revision, `${name}/b${count}`])
      }
    }
    const writing = [...Array.from({ length: 16 }, (_, index) => write(writer, `x${index}`)), write(foreign, 'z')]
    await eventually('there is more history than etcd tells at once', () => written.length > 5_000)
    const seen: Seen[] = []
    for (let round = 0; round < 4; round++) {
      const head = await store.head()
      const watches = [
        [start, ''],
        [head, ''],
        [start + 100, 'x1'],
        [head - 1, 'nothing'],
        [start, 'nothing'],
      ] as const
      seen.push(
        ...(await Promise.all(
          watches.map(async ([after, prefix]) => ({
            after,
            prefix,
            batches: await readAsking(store.watch(prefix, { after }), () => head),
          })),
        )),
      )
    }
    stop.abort()
    await Promise.all(writing)
    written.sort(([a, keyA], [b, keyB]) => a - b || (keyA < keyB ? -1 : 1))
    expect(seen.flatMap((one) => lies(one, written))).toEqual([])
    expect(seen.every(({ batches }) => batches.at(-1)?.changes.length === 0)).toBe(true)
  })

  test('advances over revisions of other prefixes', async () => {
    const [store, foreign] = [await open('/three/'), await open('/four/')]
    const after = await committed(store, put('a'))
    const watch = store.watch('', { after })
    const head = await committed(foreign, put('z'))
    const [batch] = await readAsking(watch, () => head)
    expect(batch).toMatchObject({ changes: [] })
    expect(batch?.revision).toBeGreaterThanOrEqual(head)
    expect(await store.head()).toBeGreaterThanOrEqual(batch?.revision ?? 0)
    expect(await store.range('')).toMatchObject({ entries: [{ key: 'a' }] })
  })

  test('costs no revision when all revisions are under the prefix', async () => {
    // Time stands still: a busy machine would ask for progress before the events have come.
    const store = await open('/five/', { clock: new SimulatedClock() })
    let revision = await committed(store, put('a'))
    const after = revision
    for (let index = 0; index < 50; index++) revision = await committed(store, put('a', revision))
    for (const prefix of ['', 'a', 'nothing']) {
      const batches = await readAsking(store.watch(prefix, { after }), () => revision)
      expect(batches.at(-1)).toEqual({ revision, changes: [] })
    }
    expect(await store.head()).toBe(revision)
  })
})
