import { afterEach, describe, expect, test } from 'vitest'
import { deferred, SeededRandom, silentLogger, SimulatedClock } from '#base'
import { EtcdClient } from './client.ts'
import { eventually } from './etcd-server.fixture.ts'
import { FakeEtcd, type FakeAnswer } from './fake-etcd.fixture.ts'
import { Feed } from './feed.ts'
import { EtcdKeyspace, valueHeader } from './keyspace.ts'
import { ProtobufWriter } from './protobuf.ts'
import { EtcdReader } from './reads.ts'
import { Upstream, type UpstreamBatch, type UpstreamOptions } from './upstream.ts'

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

const never = 1e9
const timeouts = { connectMs: never, requestMs: never, retryMs: never, pingMs: never, pingTimeoutMs: never }

interface Connected extends UpstreamOptions {
  readonly clock: SimulatedClock
  /** Sends a response on the watch of this number, once it is there. */
  readonly send: (answer: FakeAnswer, watch?: number) => Promise<void>
}

interface ConnectOptions {
  readonly version?: string
  /** A write has arrived; it gets no answer. */
  readonly onPut?: () => void
}

/** A client of a server that opens watches, and then says only what the test tells it to. */
async function connect({ version = '3.5.9', onPut = () => undefined }: ConnectOptions = {}): Promise<Connected> {
  const clock = new SimulatedClock()
  const watches: ((answer: FakeAnswer) => void)[] = []
  const fake = await FakeEtcd.start((path, message, send) => {
    const isProgress = Buffer.from(message).toString('hex') === '1a00'
    if (path.endsWith('Put')) onPut()
    else if (path.endsWith('Status')) send(new ProtobufWriter().text(2, version).int(4, 1))
    else if (path.endsWith('Watch') && !isProgress) {
      send(response(10).flag(3, true))
      watches.push(send)
    }
  })
  const client = new EtcdClient({
    endpoints: [fake.endpoint],
    tls: {},
    user: undefined,
    password: undefined,
    timeouts,
    clock,
    random: new SeededRandom('upstream'),
    log: silentLogger,
  })
  stops.push(
    () => fake.stop(),
    () => client.close(),
  )
  const send = async (answer: FakeAnswer, watch = 0): Promise<void> => {
    await eventually('the watch is open', () => watches[watch] !== undefined)
    watches[watch]?.(answer)
  }
  return { client, keyspace: new EtcdKeyspace('/e/'), clock, log: silentLogger, send }
}

/** A watch after revision 10, and what it has delivered. */
async function follow(
  options: ConnectOptions = {},
): Promise<Connected & { readonly upstream: Upstream; readonly batches: UpstreamBatch[] }> {
  const connected = await connect(options)
  const upstream = new Upstream(10, connected)
  const stopping = new AbortController()
  const batches: UpstreamBatch[] = []
  const reading = (async () => {
    for await (const batch of upstream.batches({ signal: stopping.signal })) batches.push(batch)
  })().catch(() => undefined)
  stops.push(() => {
    stopping.abort(new Error('the test is over'))
    return reading
  })
  return { ...connected, upstream, batches }
}

function response(revision: number): ProtobufWriter {
  return new ProtobufWriter().message(1, (header) => header.int(3, revision))
}

const own = (bytes: number): Uint8Array =>
  Buffer.concat([valueHeader(new Uint8Array(8), undefined), Buffer.alloc(bytes)])

function put(key: string, revision: number, value: Uint8Array): ProtobufWriter {
  return response(revision).message(11, (event) =>
    event.message(2, (entry) => entry.latin1(1, key).int(2, revision).int(3, revision).int(4, 1).bytes(5, value)),
  )
}

describe('Upstream', () => {
  test('advances with a notification for its watch; of older servers, the answer to a request does not count', async () => {
    const { send, batches } = await follow({ version: '3.5.7' })
    await send(response(20).int64(2, 2n ** 64n - 1n))
    await send(response(15))
    await eventually('there is progress', () => batches.length > 0)
    expect(batches).toEqual([{ revision: 15, changes: [] }])
  })

  test('delivers the error of a value that is not ours with its key, and goes on', async () => {
    const { send, batches } = await follow()
    await send(put('/e/a', 11, Buffer.from('not ours, and long enough for a header')))
    await send(put('/e/b', 12, own(1)))
    await eventually('both are there', () => batches.length === 2)
    expect(batches.flatMap(({ changes }) => changes)).toMatchObject([
      { key: 'a', revision: 11, error: { reason: 'Damaged', message: expect.stringContaining('value of a in etcd') } },
      { key: 'b', revision: 12, entry: { key: 'b' } },
    ])
  })

  test('leaves no timer of those who waited for a revision', async () => {
    const { clock, send, batches, upstream } = await follow()
    await send(put('/e/a', 11, own(1)))
    await eventually('the first is there', () => batches.length === 1)
    const before = clock.pending
    const reached = upstream.reach(12)
    await eventually('it waits', () => clock.pending > before)
    await send(put('/e/a', 12, own(1)))
    await reached
    expect(clock.pending).toBe(before)
  })

  test('rejects with the reason of the signal of one who waits, also when the revision has arrived meanwhile', async () => {
    const written = deferred<void>()
    const { clock, send, batches, upstream } = await follow({ version: '3.5.7', onPut: written.resolve })
    await send(put('/e/a', 11, own(1)))
    await eventually('the first is there', () => batches.length === 1)
    const stopping = new AbortController()
    const reached = upstream.reach(12, { signal: stopping.signal })
    reached.catch(() => undefined)
    await clock.advance(0)
    await clock.advance(150)
    await written.promise
    await send(put('/e/a', 12, own(1)))
    await eventually('the second is there', () => upstream.position === 12)
    stopping.abort(new Error('enough'))
    await expect(reached).rejects.toThrow('enough')
  })
})

describe('Feed', () => {
  test('keeps recent changes up to its limit, by the size of their values', async () => {
    const connected = await connect()
    const { client, keyspace, send } = connected
    const feed = new Feed({ ...connected, reads: new EtcdReader(client, keyspace), recentBytesMax: 10_000 })
    feed.open()
    feed.run(10)
    stops.push(() => feed.close())
    await send(put('/e/a', 11, own(6_000)))
    await eventually('the first is there', () => feed.position === 11)
    expect([feed.start, feed.after(10, '').changes.length]).toEqual([10, 1])
    await send(put('/e/b', 12, own(6_000)))
    await eventually('the second is there', () => feed.position === 12)
    expect([feed.start, feed.after(11, '').changes]).toMatchObject([11, [{ key: 'b' }]])
  })
})
