import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { declareKind, type KubeObject } from '#api'
import { sleep } from '#base'
import { isConnectionError } from './connection-error.ts'
import { configMap, fakeClient, FakeServer, json, refusal, stream } from './fake.fixture.ts'
import { WatchStream, type WatchEvent } from './watch-stream.ts'

const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap' })
const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`
const options = { namespace: 'ns', resourceVersion: '5' } as const

async function all<T extends KubeObject>(events: AsyncIterable<WatchEvent<T>>): Promise<string[]> {
  const seen: string[] = []
  for await (const event of events)
    seen.push('object' in event ? `${event.type} ${event.object.metadata.name ?? ''}` : event.type)
  return seen
}

describe('WatchStream', () => {
  test('gives events in order however the bytes are cut (74)', async () => {
    const names = Array.from({ length: 9 }, (_, index) => `größe-${index}€`)
    const bytes = Buffer.from(
      names.map((name, index) => line(['ADDED', 'MODIFIED', 'DELETED'][index % 3] ?? '', configMap(name))).join(''),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), async (sizes) => {
        const pieces: Uint8Array[] = []
        for (let at = 0, index = 0; at < bytes.length; index++) {
          const size = sizes[index % sizes.length] ?? 1
          pieces.push(bytes.subarray(at, at + size))
          at += size
        }
        const { client } = fakeClient(new FakeServer(stream(pieces)))
        expect(await all(client.watch(ConfigMap, options))).toEqual(
          names.map((name, index) => `${['ADDED', 'MODIFIED', 'DELETED'][index % 3] ?? ''} ${name}`),
        )
      }),
      { numRuns: 30 },
    )
  })

  test("keeps the order of an object's changes while the reader is busy (75)", async () => {
    const versions = Array.from({ length: 20 }, (_, index) => ({
      ...configMap('a'),
      metadata: { ...configMap('a').metadata, resourceVersion: String(index) },
    }))
    const { client, clock } = fakeClient(new FakeServer(stream(versions.map((object) => line('MODIFIED', object)))))
    const seen: string[] = []
    const reading = (async () => {
      for await (const event of client.watch(ConfigMap, options)) {
        if (Number(seen.length) % 3 === 0) await sleep(clock, 10)
        if ('object' in event) seen.push(event.object.metadata.resourceVersion)
      }
    })()
    await clock.advance(1000)
    await reading
    expect(seen).toEqual(versions.map(({ metadata }) => metadata.resourceVersion))
  })

  test('asks for what it was told to, with bookmarks', async () => {
    const server = new FakeServer(stream([]))
    const { client } = fakeClient(server)
    await all(client.watch(ConfigMap, { ...options, labelSelector: 'a=b', timeoutSeconds: 300 }))
    await all(client.watch(ConfigMap, { sendInitialEvents: true, allowWatchBookmarks: true }))
    expect(server.lines).toEqual([
      'GET /api/v1/namespaces/ns/configmaps?labelSelector=a=b&watch=true&resourceVersion=5&allowWatchBookmarks=true&timeoutSeconds=300',
      'GET /api/v1/configmaps?watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true',
    ])
  })

  test('tells bookmarks, the end of the first events, and errors of the server (66)', async () => {
    const bookmark = (annotations: object): string =>
      line('BOOKMARK', { kind: 'ConfigMap', metadata: { resourceVersion: '9', annotations } })
    const { client } = fakeClient(
      new FakeServer(
        stream([
          bookmark({}),
          bookmark({ 'k8s.io/initial-events-end': 'true' }),
          line('ERROR', { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired', message: 'too old' }),
        ]),
      ),
    )
    const events: unknown[] = []
    for await (const event of client.watch(ConfigMap, options)) events.push(event)
    expect(events).toEqual([
      { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: false },
      { type: 'BOOKMARK', resourceVersion: '9', initialEventsEnd: true },
      { type: 'ERROR', error: expect.objectContaining({ reason: 'Expired', code: 410 }) as unknown },
    ])
  })

  test.each([
    ['no JSON', '{"type":\n'],
    ['no event', '[]\n'],
    ['an unknown type', line('MOVED', configMap('a'))],
    ['no object', '{"type":"ADDED"}\n'],
    ['an object without metadata', line('ADDED', {})],
    ['a bookmark without version', line('BOOKMARK', { metadata: {} })],
  ])('a line that is %s breaks the stream and is never skipped (76)', async (_, broken) => {
    const { client } = fakeClient(
      new FakeServer(stream([line('ADDED', configMap('a')), broken, line('ADDED', configMap('b'))])),
    )
    const events = client.watch(ConfigMap, options)
    expect(await events.next()).toMatchObject({ value: { type: 'ADDED' } })
    await expect(events.next()).rejects.toSatisfy((error) => isConnectionError(error, 'garbled'))
    expect(await events.next()).toEqual({ done: true, value: undefined })
  })

  test('a stream that is cut off says so, by an error or in the middle of a line', async () => {
    const { client } = fakeClient(
      new FakeServer(
        stream([line('ADDED', configMap('a'))], new Error('socket hang up')),
        stream([line('ADDED', configMap('a')), '{"type":']),
      ),
    )
    await expect(all(client.watch(ConfigMap, options))).rejects.toMatchObject({
      problem: 'reset',
      message: 'the watch was cut off: socket hang up',
    })
    await expect(all(client.watch(ConfigMap, options))).rejects.toMatchObject({ problem: 'reset' })
  })

  test('a refusal is thrown by the first read: Expired by its reason (67)', async () => {
    const { client } = fakeClient(new FakeServer(refusal(410, 'Expired')))
    await expect(client.watch(ConfigMap, options).open()).rejects.toMatchObject({ reason: 'Expired' })
    await expect(client.watch(ConfigMap, options).next()).rejects.toMatchObject({ reason: 'Expired' })
  })

  test('keys of any name survive', async () => {
    const { client } = fakeClient(
      new FakeServer(
        stream(['{"type":"ADDED","object":{"metadata":{"name":"a"},"data":{"__proto__":"x","constructor":"y"}}}\n']),
      ),
    )
    const { value } = (await client.watch(ConfigMap, options).next()) as unknown as {
      value: { object: { data: object } }
    }
    expect(Object.entries(value.object.data)).toEqual([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })

  test('leaving the loop lets go of the connection and leaves nothing waiting', async () => {
    const server = new FakeServer(() => stream([line('ADDED', configMap('a')), line('ADDED', configMap('b'))]))
    const { client, clock } = fakeClient(server)
    for await (const event of client.watch(ConfigMap, options)) if (event.type === 'ADDED') break
    expect(server.requests[0]?.signal.aborted).toBe(true)
    expect(clock.pending).toBe(0)
  })

  test('a reader that leaves while another waits ends the wait', async () => {
    const forever = new FakeServer(({ signal }) => ({ status: 200, headers: {}, body: until(signal) }))
    const { client } = fakeClient(forever)
    const events = client.watch(ConfigMap, options)
    await events.open()
    const waiting = events.next()
    await events.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
  })

  test('a beginning that takes too long is a timeout; the stream itself is not', async () => {
    const slow = new FakeServer(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error)
          })
        }),
    )
    const { client, clock } = fakeClient(slow, { timeoutMs: 1000 })
    const opened = expect(client.watch(ConfigMap, options).open()).rejects.toMatchObject({ problem: 'timeout' })
    await clock.advance(1000)
    await opened

    const quiet = fakeClient(new FakeServer(({ signal }) => ({ status: 200, headers: {}, body: until(signal) })), {
      timeoutMs: 1000,
    })
    const events = quiet.client.watch(ConfigMap, options)
    await events.open()
    let isDone = false
    void events.next().then(() => {
      isDone = true
    })
    await quiet.clock.advance(3_600_000)
    expect(isDone).toBe(false)
    await events.return()
  })

  test('many events of one piece come as one batch', async () => {
    const { client } = fakeClient(
      new FakeServer(
        stream([line('ADDED', configMap('a')) + line('ADDED', configMap('b')), line('ADDED', configMap('c'))]),
      ),
    )
    const events = client.watch(ConfigMap, options)
    expect((await events.nextBatch())?.length).toBe(2)
    expect((await events.nextBatch())?.length).toBe(1)
    expect(await events.nextBatch()).toBeUndefined()
  })

  test('a watch of a server that sends the body in whole works too', async () => {
    const body = json({}).body as Uint8Array
    const stopped = new WatchStream({
      begin: () =>
        Promise.resolve({
          pieces: [body][Symbol.iterator]() as unknown as AsyncIterator<Uint8Array>,
          signal: new AbortController().signal,
          close: () => undefined,
        }),
      finish: (object) => object as unknown as KubeObject,
      lineBytesMax: 100,
    })
    await expect(stopped.next()).rejects.toMatchObject({ problem: 'reset' })
  })
})

async function* until(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve, { once: true })
  })
  yield* []
}
