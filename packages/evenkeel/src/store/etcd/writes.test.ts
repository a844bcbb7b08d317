import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { CommitResult, Store, Write } from '../store.ts'
import { EtcdServer, etcdMissing, eventually } from './etcd-server.fixture.ts'
import { openEtcdStore } from './etcd-store.ts'
import { FakeEtcd, type FakeAnswer } from './fake-etcd.fixture.ts'
import { valueHeader } from './keyspace.ts'
import { ProtobufWriter } from './protobuf.ts'
import { Proxy } from './proxy.fixture.ts'

let server: EtcdServer
let proxy: Proxy
/** The store whose connections break. */
let store: Store
/** The same keys, seen without the proxy. */
let other: Store
let prefixes = 0

const put = (key: string, text: string, expect = 0): Write => ({
  key,
  value: new Uint8Array(Buffer.from(text)),
  expect,
})

async function committed(one: Store, ...writes: readonly Write[]): Promise<number> {
  const result = await one.commitAll(writes)
  if (!result.ok) throw new Error(`lost the race for ${result.key}`)
  return result.revision
}

/** Commits through a server that hears us but is not heard; cut only once it has done what we asked, and `meanwhile` too. */
async function commitUnheard(
  writes: readonly Write[],
  meanwhile: (revision: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<CommitResult> {
  const before = await other.head()
  proxy.isMute = true
  const committing = store.commitAll(writes)
  committing.catch(() => undefined)
  await eventually('etcd has made the commit', async () => (await other.head()) > before)
  await meanwhile(before + 1)
  proxy.cut()
  return committing
}

/** Commits through a connection that loses what we say. */
async function commitUnsaid(
  writes: readonly Write[],
  {
    meanwhile = () => Promise.resolve(),
    checks = [],
  }: { meanwhile?: () => Promise<unknown>; checks?: readonly { key: string; expect: number }[] } = {},
): Promise<CommitResult> {
  proxy.isDeaf = true
  const committing = store.commitAll(writes, { checks })
  committing.catch(() => undefined)
  await meanwhile()
  proxy.cut()
  return committing
}

const unknown = {
  name: 'StoreError',
  reason: 'Failed',
  message: expect.stringContaining('may or may not have been stored') as string,
}

describe.skipIf(etcdMissing)(`a commit whose answer is lost${etcdMissing ? ` (skipped: ${etcdMissing})` : ''}`, () => {
  beforeAll(async () => {
    server = await EtcdServer.start()
  })
  beforeEach(async () => {
    proxy = await Proxy.start(server.port)
    const prefix = `/commit-${++prefixes}/`
    store = await openEtcdStore({ endpoints: [proxy.endpoint], prefix, timeouts: { retryMs: 2_000, requestMs: 5_000 } })
    other = await openEtcdStore({ endpoints: [server.endpoint], prefix })
  })
  afterEach(async () => {
    proxy.cut()
    await Promise.all([store.close(), other.close()])
    await proxy.stop()
  })
  afterAll(async () => {
    await server.stop()
  })

  test('is ok, with its revision, when a key carries its nonce', async () => {
    const head = await other.head()
    expect(await commitUnheard([put('a', '1')])).toEqual({ ok: true, revision: head + 1 })
    expect(await commitUnheard([put('a', '2', head + 1)])).toEqual({ ok: true, revision: head + 2 })
    expect(await other.head()).toBe(head + 2)
  })

  test('is ok when it deleted some keys and put others', async () => {
    const first = await committed(other, put('a', '1'))
    expect(await commitUnheard([{ key: 'a', expect: first }, put('b', '1')])).toEqual({ ok: true, revision: first + 1 })
  })

  test('is ok, with its own revision, when others have written over it since', async () => {
    const first = await committed(other, put('a', '1'))
    const result = await commitUnheard([put('a', '2', first)], async (revision) =>
      committed(other, put('a', '4', await committed(other, put('a', '3', revision)))),
    )
    expect(result).toEqual({ ok: true, revision: first + 1 })
  })

  test('is unknown when the key it created was deleted since', async () => {
    await expect(
      commitUnheard([put('a', '1')], (revision) => committed(other, { key: 'a', expect: revision })),
    ).rejects.toMatchObject(unknown)
  })

  test('is unknown when it only deleted', async () => {
    const first = await committed(other, put('a', '1'))
    await expect(commitUnheard([{ key: 'a', expect: first }])).rejects.toMatchObject(unknown)
    expect(await other.get('a')).toMatchObject({ entry: undefined })
  })

  test('is retried once when it never arrived and cannot be applied twice', async () => {
    const first = await committed(other, put('a', '1'), put('b', '1'))
    expect(await commitUnsaid([put('a', '2', first)])).toEqual({ ok: true, revision: first + 1 })
    expect(await commitUnsaid([{ key: 'b', expect: first }, put('c', '1')])).toEqual({ ok: true, revision: first + 2 })
    expect(await other.head()).toBe(first + 2)
  })

  test('is not retried when it could be applied twice: the key may be deleted before a late first attempt', async () => {
    const head = await other.head()
    await expect(commitUnsaid([put('a', '1')])).rejects.toMatchObject(unknown)
    expect(await other.head()).toBe(head)
  })

  test('is a conflict when it never arrived and the key changed', async () => {
    const first = await committed(other, put('a', '1'), put('b', '1'))
    const lost = await commitUnsaid([put('a', '2', first)], {
      meanwhile: () => committed(other, put('a', 'theirs', first)),
    })
    expect(lost).toMatchObject({ ok: false, key: 'a', current: { revision: first + 1 } })
    const lostDelete = await commitUnsaid([{ key: 'b', expect: first }], {
      meanwhile: () => committed(other, put('b', 'theirs', first)),
    })
    expect(lostDelete).toMatchObject({ ok: false, key: 'b', current: { revision: first + 2 } })
  })

  test('is a conflict when it never arrived and a checked key changed', async () => {
    const first = await committed(other, put('a', '1'), put('leader', 'me'))
    const lost = await commitUnsaid([put('a', '2', first)], {
      checks: [{ key: 'leader', expect: first }],
      meanwhile: () => committed(other, put('leader', 'you', first)),
    })
    expect(lost).toMatchObject({ ok: false, key: 'leader', current: { revision: first + 1 } })
  })

  test('is unknown when a key expected to be absent exists: it may be deleted before a late attempt', async () => {
    const first = await committed(other, put('a', '1'))
    await expect(
      commitUnsaid([put('a', '2', first), put('new', '1')], {
        meanwhile: () => committed(other, put('new', 'theirs')),
      }),
    ).rejects.toMatchObject(unknown)
  })

  test('is unknown when its key was deleted and created again', async () => {
    const first = await committed(other, put('a', '1'))
    const meanwhile = async (): Promise<unknown> => {
      await committed(other, { key: 'a', expect: first })
      return committed(other, put('a', 'theirs'))
    }
    await expect(commitUnsaid([put('a', '2', first)], { meanwhile })).rejects.toMatchObject(unknown)
  })

  test('is unknown when etcd is unreachable, and fails in time', async () => {
    const first = await committed(other, put('a', '1'))
    proxy.isClosed = true
    await expect(commitUnheard([put('a', '2', first)])).rejects.toMatchObject(unknown)
  })
})

describe('a commit of a, expected at 10, whose answer is always lost', () => {
  const response = (): ProtobufWriter => new ProtobufWriter().message(1, (header) => header.int(3, 100))
  const nonceOf = (last: number): Uint8Array => Uint8Array.of(0, 0, 0, last, 0, 0, 0, last)
  const entry =
    (revision: number, nonce = nonceOf(1)) =>
    (writer: ProtobufWriter): unknown =>
      writer.latin1(1, '/evenkeel/a').int(2, 5).int(3, revision).int(4, 1).bytes(5, valueHeader(nonce, undefined))

  /** The outcome, and how often the commit was sent. `version` is the n-th last version of the key. */
  async function commitLost(
    version: (back: number) => (writer: ProtobufWriter) => unknown,
  ): Promise<{ outcome: unknown; sent: number }> {
    let [sent, back] = [0, 0]
    const answer = (path: string, message: Uint8Array): FakeAnswer => {
      if (path.endsWith('Status')) return new ProtobufWriter().text(2, '3.5.9').int(4, 1)
      if (path.endsWith('Range'))
        return Buffer.from(message).includes('/a') ? response().message(2, version(++back)) : response()
      // A transaction with conditions is the commit; the other one reads its keys.
      if (message[0] !== 0x0a)
        return response().message(3, (read) => read.message(1, (range) => range.message(2, version(0))))
      sent++
      return { code: 2, text: 'lost' }
    }
    const fake = await FakeEtcd.start((path, message, send) => {
      send(answer(path, message))
    })
    const lossy = await openEtcdStore({ endpoints: [fake.endpoint], random: { uint32: () => 7 } })
    const outcome = await lossy.commitAll([put('a', '2', 10)]).catch((error: unknown) => error)
    await lossy.close()
    await fake.stop()
    return { outcome, sent }
  }

  test('is tried four times while the key stays as it was', async () => {
    const { outcome, sent } = await commitLost(() => entry(10))
    expect(outcome).toMatchObject(unknown)
    expect(sent).toBe(4)
  })

  test('is found among the last 64 versions of the key, and not further back', async () => {
    const ownAt = (own: number): Promise<{ outcome: unknown }> =>
      commitLost((back) => entry(100 - back, back === own ? nonceOf(7) : nonceOf(1)))
    expect((await ownAt(63)).outcome).toEqual({ ok: true, revision: 37 })
    expect((await ownAt(64)).outcome).toMatchObject(unknown)
  })
})
