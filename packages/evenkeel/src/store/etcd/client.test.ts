import { afterEach, describe, expect, test } from 'vitest'
import { deferred, nextTurn, SeededRandom, silentLogger, SystemClock } from '#base'
import type { Store } from '../store.ts'
import { EtcdClient } from './client.ts'
import { openEtcdStore } from './etcd-store.ts'
import { FakeEtcd, type FakeAnswer, type FakeHandler } from './fake-etcd.fixture.ts'
import { ProtobufWriter } from './protobuf.ts'

const header =
  (revision: number) =>
  (writer: ProtobufWriter): unknown =>
    writer.int(3, revision)
const status = (version: string, leader = 1): ProtobufWriter => new ProtobufWriter().text(2, version).int(4, leader)
const range = (revision: number): ProtobufWriter => new ProtobufWriter().message(1, header(revision))
const refused = (code: number, text: string): FakeAnswer => ({ code, text })

const fakes: FakeEtcd[] = []
const stores: Store[] = []

async function open(
  handlers: readonly FakeHandler[],
  options: Partial<Parameters<typeof openEtcdStore>[0]> = {},
): Promise<Store> {
  for (const handler of handlers) fakes.push(await FakeEtcd.start(handler))
  const store = await openEtcdStore({ endpoints: fakes.map(({ endpoint }) => endpoint), ...options })
  stores.push(store)
  return store
}

/** Answers status and reads; everything else, and what `special` answers, is up to the test. */
function fake(
  special: (path: string, message: Uint8Array) => FakeAnswer | undefined,
  { version = '3.5.9', revision = 10 } = {},
): FakeHandler {
  return (path, message, send) => {
    const answer =
      special(path, message) ??
      (path.endsWith('Status') ? status(version) : path.endsWith('Range') ? range(revision) : undefined)
    if (answer) send(answer)
  }
}

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()))
  await Promise.all(fakes.splice(0).map((one) => one.stop()))
})

describe('Client', () => {
  test('asks newer servers for progress instead of writing', async () => {
    const asked: string[] = []
    const handler: FakeHandler = (path, message, send) => {
      asked.push(path)
      const isProgress = Buffer.from(message).toString('hex') === '1a00'
      if (path.endsWith('Watch'))
        send(
          new ProtobufWriter()
            .message(1, header(12))
            .int64(2, isProgress ? 2n ** 64n - 1n : 0n)
            .flag(3, !isProgress),
        )
      else
        fake(() => undefined, { revision: asked.includes('/etcdserverpb.Watch/Watch') ? 12 : 10 })(path, message, send)
    }
    const store = await open([handler])
    const watch = store.watch('', { after: 10 })
    watch.requestProgress()
    expect(await watch[Symbol.asyncIterator]().next()).toEqual({ done: false, value: { revision: 12, changes: [] } })
    expect(asked).not.toContain('/etcdserverpb.KV/Put')
  })

  test.each([
    ['3.4.25', 'asks for it'],
    ['3.5.8', 'asks for it'],
    ['3.6.0', 'asks for it'],
    ['4.0.0', 'asks for it'],
    ['3.3.27', 'writes its marker'],
    ['3.4.24', 'writes its marker'],
    ['3.5.7', 'writes its marker'],
    ['2.3.8', 'writes its marker'],
  ])('gets progress from etcd %s: it %s', async (version, way) => {
    const first = deferred<string>()
    const handler: FakeHandler = (path, message, send) => {
      const isProgress = Buffer.from(message).toString('hex') === '1a00'
      if (path.endsWith('Watch') && !isProgress) send(new ProtobufWriter().message(1, header(10)).flag(3, true))
      else if (path.endsWith('Watch')) first.resolve('asks for it')
      else if (path.endsWith('Put')) first.resolve('writes its marker')
      else fake(() => undefined, { version, revision: 12 })(path, message, send)
    }
    const store = await open([handler])
    store.watch('', { after: 10 }).requestProgress()
    expect(await first.promise).toBe(way)
  })

  test('skips a server without a leader', async () => {
    const store = await open([
      fake((path) => (path.endsWith('Status') ? status('3.5.9', 0) : undefined)),
      fake(() => undefined, { revision: 77 }),
    ])
    expect(await store.head()).toBe(77)
  })

  test('moves to another server when one loses its leader', async () => {
    let isLeaderless = false
    const store = await open([
      fake((path) => (path.endsWith('Range') && isLeaderless ? refused(14, 'etcdserver: no leader') : undefined)),
      fake(() => undefined, { revision: 77 }),
    ])
    expect(await store.head()).toBe(10)
    isLeaderless = true
    expect(await store.head()).toBe(77)
    expect(store.failure()).toBeUndefined()
  })

  test('retries calls that were certainly not carried out, and no others', async () => {
    const answers: FakeAnswer[] = [
      refused(8, 'etcdserver: too many requests'),
      refused(14, 'etcdserver: no leader'),
      new ProtobufWriter().message(1, header(11)).flag(2, true),
    ]
    let [tries, reads] = [0, 0]
    const store = await open([
      fake((path, message) => {
        if (!path.endsWith('Txn')) return undefined
        if (message[0] === 0x12) {
          reads++
          return new ProtobufWriter()
            .message(1, header(11))
            .message(3, (operation) => operation.message(1, () => undefined))
        }
        tries++
        return answers.shift()
      }),
    ])
    const write = { key: 'a', value: new Uint8Array(1), expect: 0 }
    expect(await store.commit(write)).toEqual({ ok: true, revision: 11 })
    expect([tries, reads]).toEqual([3, 0])
    answers.push(refused(14, 'etcdserver: request timed out'))
    await expect(store.commit(write)).rejects.toMatchObject({
      reason: 'Failed',
      message: expect.stringContaining('may or may not') as string,
    })
    expect([tries, reads]).toEqual([4, 1])
  })

  test('logs in again when its token has expired', async () => {
    let [logins, isOld] = [0, false]
    const handler = fake((path) => {
      if (path.endsWith('Authenticate')) return new ProtobufWriter().text(2, `token-${++logins}`)
      if (!path.endsWith('Range') || !isOld) return undefined
      isOld = false
      return refused(16, 'etcdserver: invalid auth token')
    })
    const store = await open([handler], { user: 'root', password: 'secret' })
    isOld = true
    expect(await store.head()).toBe(10)
    expect(logins).toBe(2)
  })

  test('times out when a response does not arrive', async () => {
    const silent = deferred<undefined>()
    const store = await open(
      [
        (path, message, send) => {
          if (path.endsWith('Range') && message[0] === 0x0a && Buffer.from(message).includes('slow'))
            silent.resolve(undefined)
          else fake(() => undefined)(path, message, send)
        },
      ],
      { timeouts: { requestMs: 50, retryMs: 100 } },
    )
    await expect(store.get('slow')).rejects.toMatchObject({
      reason: 'Failed',
      message: expect.stringContaining('no answer') as string,
    })
    await silent.promise
    expect(await store.head()).toBe(10)
  })

  test('ends a watch that etcd does not allow', async () => {
    const store = await open([
      fake((path) =>
        path.endsWith('Watch')
          ? new ProtobufWriter()
              .flag(3, true)
              .flag(4, true)
              .text(6, 'rpc error: code = PermissionDenied desc = etcdserver: permission denied')
          : undefined,
      ),
    ])
    expect(await store.watch('', { after: 9 })[Symbol.asyncIterator]().next()).toMatchObject({
      done: true,
      value: {
        reason: 'failed',
        cause: { reason: 'Failed', message: expect.stringContaining('permission denied') as string },
      },
    })
  })

  test('says why it cannot connect, and leaves no unhandled rejection when it is closed before it connected', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => {
      unhandled.push(reason)
    }
    process.on('unhandledRejection', note)
    try {
      await expect(
        openEtcdStore({ endpoints: ['http://127.0.0.1:1'], timeouts: { retryMs: 20 } }),
      ).rejects.toMatchObject({
        reason: 'Unusable',
        message: expect.stringContaining('cannot connect to http://127.0.0.1:1: connect ECONNREFUSED') as string,
      })
      const reason = new Error('enough')
      await expect(
        openEtcdStore({ endpoints: ['http://127.0.0.1:1'], signal: AbortSignal.abort(reason) }),
      ).rejects.toBe(reason)
      await nextTurn(new SystemClock())
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', note)
    }
  })

  test('leaves no unhandled rejection when it is closed and nobody has asked for a connection', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => {
      unhandled.push(reason)
    }
    process.on('unhandledRejection', note)
    try {
      const ms = 1_000
      const client = new EtcdClient({
        endpoints: ['http://127.0.0.1:1'],
        tls: {},
        user: undefined,
        password: undefined,
        timeouts: { connectMs: ms, requestMs: ms, retryMs: ms, pingMs: ms, pingTimeoutMs: ms },
        clock: new SystemClock(),
        random: new SeededRandom(1),
        log: silentLogger,
      })
      await client.close()
      await nextTurn(new SystemClock())
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', note)
    }
  })

  test('asks etcd nothing for a read that makes no sense, and has nothing to compact at 0', async () => {
    const asked: string[] = []
    const store = await open([
      fake((path) => {
        asked.push(path)
        return undefined
      }),
    ])
    asked.length = 0
    await expect(store.range('', { limit: 0 })).rejects.toThrow('a limit must be 1 or more, got 0')
    await expect(store.range('', { revision: -1 })).rejects.toThrow('a revision is a whole number of 0 or more, got -1')
    expect(await store.compact(0)).toEqual({ ok: true })
    expect(asked).toEqual([])
  })

  test('survives a server that does not speak gRPC', async () => {
    const store = await open([fake(() => undefined)], { timeouts: { retryMs: 200 } })
    await fakes.splice(0)[0]?.stop()
    await expect(store.get('a')).rejects.toMatchObject({ reason: 'Failed' })
    const strange = await FakeEtcd.start((_, __, send) => {
      send(refused(12, 'unknown service'))
    })
    fakes.push(strange)
    await expect(openEtcdStore({ endpoints: [strange.endpoint], timeouts: { retryMs: 200 } })).rejects.toMatchObject({
      reason: 'Unusable',
      message: expect.stringContaining('unknown service') as string,
    })
  })
})
