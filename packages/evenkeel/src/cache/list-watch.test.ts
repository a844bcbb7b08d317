import { expect, test } from 'vitest'
import type { KubeObject } from '#api'
import { LightAbortController, SimulatedClock } from '#base'
import { Client } from '#client'
import { FakeApi } from './fake-api.fixture.ts'
import { FakeServer, type Widget } from './fake-server.fixture.ts'
import {
  clientListWatch,
  listAll,
  withSignals,
  type ListRequest,
  type ListWatch,
  type StreamEvent,
} from './list-watch.ts'
import { kindDecoder } from './transform.ts'

const type = {
  apiVersion: 'test.dev/v1',
  kind: 'Widget',
  group: 'test.dev',
  version: 'v1',
  plural: 'widgets',
  scope: 'Namespaced',
} as never
const form = kindDecoder<KubeObject>(type)

function tell(arrival: StreamEvent<KubeObject>): string {
  return arrival.type === 'BOOKMARK'
    ? `BOOKMARK ${arrival.version}`
    : `${arrival.type} ${arrival.item.name} ${JSON.stringify((arrival.item.object as { spec?: unknown }).spec)}`
}

test('74 clientListWatch gives the same events wherever the bytes are cut', async () => {
  const lines = [
    {
      type: 'ADDED',
      object: {
        apiVersion: 'test.dev/v1',
        kind: 'Widget',
        metadata: { name: 'a', namespace: 'x', resourceVersion: '1' },
        spec: '€😀',
      },
    },
    {
      type: 'MODIFIED',
      object: {
        apiVersion: 'test.dev/v1',
        kind: 'Widget',
        metadata: { name: 'a', namespace: 'x', resourceVersion: '2' },
        spec: 'ä',
      },
    },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '3' } } },
  ]
    .map((event) => `${JSON.stringify(event)}\n`)
    .join('')
  const bytes = Buffer.from(lines)
  for (let cut = 0; cut <= bytes.length; cut++) {
    const client = new Client({
      retry: false,
      transport: () =>
        Promise.resolve({ status: 200, headers: {}, body: pieces([bytes.subarray(0, cut), bytes.subarray(cut)]) }),
    })
    const source = clientListWatch<KubeObject>({ client, kind: type, scope: {}, decoder: form })
    const events: string[] = []
    for await (const batch of source.watch({
      resourceVersion: '0',
      timeoutSeconds: 300,
      signal: new AbortController().signal,
    }))
      events.push(...batch.map(tell))
    expect(events).toEqual(['ADDED a "€😀"', 'MODIFIED a "ä"', 'BOOKMARK 3'])
  }
})

test('clientListWatch sends what a list and a watch need, and nothing that is not said', async () => {
  const api = new FakeApi()
  api.server.put('one')
  api.server.put('two')
  const client = api.client(new SimulatedClock())
  const source = clientListWatch<KubeObject>({
    client,
    kind: type,
    scope: { namespace: 'a', labelSelector: 'app!=x', fieldSelector: { 'metadata.name': 'one' } },
    decoder: form,
  })
  const { signal } = new AbortController()
  const page = await source.list({ resourceVersion: '0', limit: 1, signal })
  expect([page.items.length, page.resourceVersion, page.continue]).toEqual([1, '12', '1'])
  await source.list({ continue: page.continue, limit: 1, signal })
  await source.list({ resourceVersion: '', signal })
  for await (const batch of source.watch({ resourceVersion: '', sendInitialEvents: true, timeoutSeconds: 301, signal }))
    if (batch.length > 0) break
  const scope = 'labelSelector=app%21%3Dx&fieldSelector=metadata.name%3Done'
  expect(api.requests.map((request) => request.replace('GET /apis/test.dev/v1/namespaces/a/widgets?', ''))).toEqual([
    `${scope}&limit=1&resourceVersion=0`,
    `${scope}&limit=1&continue=1`,
    scope,
    `${scope}&watch=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&allowWatchBookmarks=true&timeoutSeconds=301`,
  ])
})

test('clientListWatch finds one object, or none', async () => {
  const api = new FakeApi()
  api.server.put('one')
  const source = clientListWatch<KubeObject>({
    client: api.client(new SimulatedClock()),
    kind: type,
    scope: {},
    decoder: form,
  })
  expect((await source.find?.({ namespace: 'a', name: 'one' }, {}))?.version).toBe('11')
  expect(await source.find?.({ namespace: 'a', name: 'none' }, {})).toBeUndefined()
})

test('clientListWatch closes the response when its reader stops', async () => {
  let closed = 0
  const line = Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '3' } } })}\n`)
  const answers = [{ done: false as const, value: line }]
  const body: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => body,
    next: () => Promise.resolve(answers.shift() ?? new Promise<never>(() => undefined)),
    return: () => {
      closed++
      return Promise.resolve({ done: true, value: undefined })
    },
  }
  const client = new Client({ retry: false, transport: () => Promise.resolve({ status: 200, headers: {}, body }) })
  const source = clientListWatch<KubeObject>({ client, kind: type, scope: {}, decoder: form })
  const { signal } = new AbortController()
  for await (const batch of source.watch({ resourceVersion: '0', timeoutSeconds: 300, signal }))
    if (batch.length > 0) break
  expect(closed).toBe(1)
})

async function* pieces(all: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of all) yield await Promise.resolve(piece)
}

test("a list-watch and a transport of user code get the platform's own signals", async () => {
  const signals: unknown[] = []
  const note = ({ signal }: { readonly signal?: AbortSignal | undefined }): void => {
    signals.push(signal)
  }
  const source: ListWatch<KubeObject> = {
    list: (request) => {
      note(request)
      return Promise.resolve({ items: [], resourceVersion: '1', continue: '' })
    },
    watch: (request) => {
      note(request)
      return pieces([]) as AsyncIterable<never>
    },
    find: (_, options) => {
      note(options)
      return Promise.resolve(undefined)
    },
  }
  const { signal } = new LightAbortController()
  const wrapped = withSignals(source)
  await wrapped.list({ signal })
  wrapped.watch({ resourceVersion: '', timeoutSeconds: 1, signal })
  await wrapped.find?.({ namespace: '', name: 'a' }, { signal })
  const client = new Client({
    transport: (request) => {
      note(request)
      return Promise.resolve({ status: 404, headers: {} })
    },
  })
  await client.find(type, { namespace: 'x', name: 'a' }, { signal }).catch(() => undefined)
  expect(signals).toHaveLength(4)
  for (const one of signals) expect(one).toBeInstanceOf(AbortSignal)
})

test('listAll sends no limit with any page when the page size is 0, though the server gives pages', async () => {
  const server = new FakeServer()
  const requests: ListRequest[] = []
  const pages = ['more', '']
  const source: ListWatch<Widget> = {
    watch: (request) => server.watch(request),
    list: (request) => {
      requests.push(request)
      return Promise.resolve({ items: [], resourceVersion: '5', continue: pages.shift() ?? '' })
    },
  }
  const { signal } = new AbortController()
  await listAll(source, { resourceVersion: '', pageSize: 0, shape: (item) => item, signal })
  expect(requests.map((request) => 'limit' in request)).toEqual([false, false])
})
