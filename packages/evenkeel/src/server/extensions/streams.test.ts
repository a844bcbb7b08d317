import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { ApiError, defineKind } from '#api'
import { createLogger, deferred, SimulatedClock, type LogRecord } from '#base'
import type { WireResponse } from '#wire'
import { TestServer } from '../client.fixture.ts'
import { startServer } from '../server.ts'
import type { ServerOptions } from '../server-options.ts'
import type { CustomResourceOptions } from './custom-resources.ts'
import type { StreamHandler, StreamRequest } from './streams.ts'

const Website = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Website',
  spec: { type: 'object', properties: { image: { type: 'string' } } },
  status: { type: 'object', properties: { url: { type: 'string' } } },
})

const websites = '/apis/demo.example.com/v1/namespaces/default/websites'
const home = { apiVersion: 'demo.example.com/v1', kind: 'Website', metadata: { name: 'home' }, spec: { image: 'a' } }

async function* texts(...pieces: readonly string[]): AsyncGenerator<Uint8Array, void> {
  for (const piece of pieces) yield await Promise.resolve(Buffer.from(piece))
}

async function startWith(
  log: StreamHandler,
  { more = {}, options = {} }: { more?: Partial<CustomResourceOptions>; options?: ServerOptions } = {},
): Promise<TestServer> {
  const server = await TestServer.start({
    kinds: [Website],
    customResources: [{ kind: Website, streams: { log }, ...more }],
    ...options,
  })
  await server.ask('POST', websites, { body: home })
  return server
}

function piecesOf({ body }: WireResponse): AsyncIterator<Uint8Array> {
  return (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
}

/** How many streams are open, by the metrics of the server. */
async function streamsOf(server: TestServer): Promise<string | undefined> {
  const { text } = await server.ask('GET', '/metrics')
  return /^apiserver_longrunning_requests\{verb="CONNECT"\} (\d+)$/m.exec(text)?.[1]
}

test('a stream gets the object, the query and the user, and its pieces are the answer', async () => {
  let asked: StreamRequest | undefined
  const server = await startWith((request) => {
    asked = request
    return { headers: { 'X-Run': '7' }, body: texts('one\n', 'two\n') }
  })
  const answer = await server.ask('GET', `${websites}/home/log?follow=true&source=a`)
  expect([answer.status, answer.text, answer.headers['x-run']]).toEqual([200, 'one\ntwo\n', '7'])
  expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8')
  expect(asked?.object).toMatchObject({ kind: 'Website', metadata: { name: 'home' }, spec: { image: 'a' } })
  expect([asked?.query.get('follow'), asked?.query.get('source')]).toEqual(['true', 'a'])
  expect(asked?.user.groups).toContain('system:masters')
  await server.server.stop()
})

test('a missing object, an unknown stream and other methods are refused before the handler', async () => {
  let calls = 0
  const server = await startWith(() => ({ body: `${++calls}` }))
  expect((await server.ask('GET', `${websites}/none/log`)).json).toMatchObject({
    code: 404,
    message: 'websites.demo.example.com "none" not found',
  })
  expect((await server.ask('GET', `${websites}/home/trace`)).status).toBe(404)
  for (const method of ['POST', 'PUT', 'DELETE', 'HEAD'])
    expect((await server.ask(method, `${websites}/home/log`)).status).toBe(405)
  expect(calls).toBe(0)
  await server.server.stop()
})

test('a path below a stream does not exist: the handler is not called', async () => {
  let calls = 0
  const server = await startWith(() => ({ body: `${++calls}` }))
  for (const path of ['log/more', 'log/../../x', 'log/%2e%2e', 'log/a/b?follow=true'])
    expect((await server.ask('GET', `${websites}/home/${path}`)).json, path).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'websites.demo.example.com "home" not found',
    })
  expect(calls).toBe(0)
  // A slash at the end is ignored everywhere; below a status everything is, as in Kubernetes.
  expect((await server.ask('GET', `${websites}/home/log/`)).text).toBe('1')
  expect((await server.ask('GET', `${websites}/home/status/more`)).status).toBe(200)
  await server.server.stop()
})

test('an error before the first answer is a Status, one of the handler itself a 500 in the log', async () => {
  const errors: LogRecord[] = []
  let error: Error = new ApiError('BadRequest', 'home has a terminal')
  const server = await startWith(
    () => {
      throw error
    },
    { options: { log: createLogger({ clock: new SimulatedClock(), sink: (record) => errors.push(record) }) } },
  )
  expect((await server.ask('GET', `${websites}/home/log`)).json).toMatchObject({
    code: 400,
    reason: 'BadRequest',
    message: 'home has a terminal',
  })
  error = new Error('a bug')
  expect((await server.ask('GET', `${websites}/home/log`)).json).toMatchObject({ code: 500 })
  expect(errors.filter(({ level }) => level === 'error').map(({ fields }) => fields['error'])).toEqual([error])
  await server.server.stop()
})

test('an error in the middle of a stream ends the connection and is in the log, with the object', async () => {
  const records: LogRecord[] = []
  const log = createLogger({ clock: new SimulatedClock(), sink: (record) => records.push(record) })
  const failing = async function* (): AsyncGenerator<Uint8Array, void> {
    yield* texts('one\n')
    throw new Error('the disk is gone')
  }
  const server = await startWith(() => ({ body: failing() }), { options: { log } })
  await expect(server.ask('GET', `${websites}/home/log`)).rejects.toThrow('the disk is gone')
  expect(records.at(-1)).toMatchObject({
    message: 'stream failed',
    fields: { kind: 'Website', object: 'home', namespace: 'default', subresource: 'log' },
  })
  await server.server.stop()
})

test('the next piece is made when the client wants it', async () => {
  let made = 0
  const counting = async function* (): AsyncGenerator<Uint8Array, void> {
    for (;;) yield await Promise.resolve(Buffer.from(`${made++}\n`))
  }
  const server = await startWith(() => ({ body: counting() }))
  const pieces = piecesOf(await server.send('GET', `${websites}/home/log`))
  for (const expected of [1, 2, 3]) {
    await pieces.next()
    expect(made).toBe(expected)
  }
  await pieces.return?.()
  await server.server.stop()
})

test.each(['the client leaves', 'the server stops'])(
  'a stream whose handler ignores its signal ends when %s',
  async (why) => {
    const opened = deferred<StreamRequest>()
    const server = await startWith((request) => {
      opened.resolve(request)
      const never = async function* (): AsyncGenerator<Uint8Array, void> {
        yield* texts('one\n')
        await new Promise(() => undefined)
      }
      return { body: never() }
    })
    const client = new AbortController()
    const pieces = piecesOf(await server.send('GET', `${websites}/home/log`, { signal: client.signal }))
    await pieces.next()
    expect(await streamsOf(server)).toBe('1')
    const end = pieces.next()
    if (why === 'the client leaves') client.abort(new Error('gone'))
    else void server.server.stop()
    expect(await end).toEqual({ done: true, value: undefined })
    expect((await opened.promise).signal.aborted).toBe(true)
    if (why === 'the client leaves') {
      expect(await streamsOf(server)).toBe('0')
      await server.server.stop()
    }
  },
)

test('a stream that waits before it answers gets 503 when the server stops', async () => {
  const asked = deferred<undefined>()
  const server = await startWith(() => {
    asked.resolve(undefined)
    return new Promise(() => undefined)
  })
  const answer = server.ask('GET', `${websites}/home/log`)
  await asked.promise
  const stopped = server.server.stop()
  expect((await answer).json).toMatchObject({ code: 503, reason: 'ServiceUnavailable' })
  await stopped
})

test('a stream has no deadline before its first piece, and none after it', async () => {
  const [asked, release] = [deferred<undefined>(), deferred<undefined>()]
  const server = await startWith(
    async () => {
      asked.resolve(undefined)
      await release.promise
      return { body: texts('late\n') }
    },
    { options: { limits: { requestMs: 1000 } } },
  )
  const answer = server.ask('GET', `${websites}/home/log?timeout=2s`)
  await asked.promise
  await server.clock.advance(3_600_000)
  release.resolve(undefined)
  expect(await answer).toMatchObject({ status: 200, text: 'late\n' })
  await server.server.stop()
})

test('a stream takes no seat, and counts as a watch', async () => {
  const release = deferred<undefined>()
  const waiting = async function* (): AsyncGenerator<Uint8Array, void> {
    await release.promise
    yield* texts('late\n')
  }
  const server = await startWith(() => ({ body: waiting() }), {
    options: { authorization: 'always-allow', limits: { readsMax: 1, watchesMax: 1 } },
  })
  // An administrator needs no seat.
  const headers = { 'impersonate-user': 'ada' }
  const pieces = piecesOf(await server.send('GET', `${websites}/home/log`, { headers }))
  const first = pieces.next()
  expect((await server.ask('GET', `${websites}/home`, { headers })).status).toBe(200)
  expect((await server.ask('GET', `${websites}/home/log`, { headers })).status).toBe(429)
  release.resolve(undefined)
  expect(Buffer.from((await first).value as Uint8Array).toString()).toBe('late\n')
  await pieces.next()
  expect((await server.ask('GET', `${websites}/home/log`, { headers })).status).toBe(200)
  await server.server.stop()
})

test('changes: another object of the same name is none of them, also when both changes are read at once', async () => {
  const [asked, release] = [deferred<undefined>(), deferred<undefined>()]
  const server = await startWith(async ({ changes }) => {
    asked.resolve(undefined)
    await release.promise
    const seen = async function* (): AsyncGenerator<Uint8Array, void> {
      for await (const { metadata } of changes()) yield Buffer.from(`${metadata.uid}\n`)
    }
    return { body: seen() }
  })
  const answer = server.ask('GET', `${websites}/home/log`)
  await asked.promise
  await server.ask('DELETE', `${websites}/home`)
  await server.ask('POST', websites, { body: home })
  release.resolve(undefined)
  expect((await answer).text).toBe('')
  await server.server.stop()
})

test('changes: the object after each change, until it is deleted, also when another one gets its name', async () => {
  const seen: (string | undefined)[] = []
  const over = deferred<undefined>()
  const server = await startWith(({ changes }) => {
    const follow = async function* (): AsyncGenerator<Uint8Array, void> {
      yield* texts('begin\n')
      for await (const { spec } of changes()) {
        seen.push((spec as { image?: string }).image)
        yield Buffer.from(`${seen.at(-1)}\n`)
      }
      over.resolve(undefined)
    }
    return { body: follow() }
  })
  const pieces = piecesOf(await server.send('GET', `${websites}/home/log`))
  await pieces.next()
  const read = async (): Promise<string> => Buffer.from((await pieces.next()).value as Uint8Array).toString()
  for (const image of ['b', 'c']) {
    const next = read()
    const type = 'application/merge-patch+json'
    await server.ask('PATCH', `${websites}/home`, { type, body: { spec: { image } } })
    expect(await next).toBe(`${image}\n`)
  }
  const end = pieces.next()
  await server.ask('DELETE', `${websites}/home`)
  await server.ask('POST', websites, { body: home })
  await over.promise
  expect([await end, seen]).toEqual([{ done: true, value: undefined }, ['b', 'c']])
  await server.server.stop()
})

test('over a socket a client that does not read stops the handler, and one that leaves ends it', async () => {
  const piece = Buffer.alloc(65_536)
  const opened = deferred<AbortSignal>()
  let made = 0
  const log: StreamHandler = ({ signal }) => {
    opened.resolve(signal)
    const endless = async function* (): AsyncGenerator<Uint8Array, void> {
      for (; ; made++) yield await Promise.resolve(piece)
    }
    return { body: endless() }
  }
  const server = await startServer({
    kinds: [Website],
    customResources: [{ kind: Website, streams: { log } }],
    listen: { tls: false },
  })
  const { url = '', token = '' } = server.address ?? {}
  const options = { headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } }
  await fetch(`${url}${websites}`, { ...options, method: 'POST', body: JSON.stringify(home) })
  const asked = get(`${url}${websites}/home/log`, options)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  expect(response.headers['transfer-encoding']).toBe('chunked')
  // The server has had many turns; what fits into the buffers of the connection was made.
  for (let count = 0; count < 50; count++) await fetch(`${url}/version`, options)
  expect(made * piece.length).toBeLessThan(64 * 1024 * 1024)
  const signal = await opened.promise
  const left = once(signal, 'abort')
  response.destroy()
  await left
  await server.stop()
})

test('a user needs get on the subresource, and gets the names right in the refusal', async () => {
  const server = await startWith(() => ({ body: 'x' }))
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const grant = async (resource: string): Promise<void> => {
    const rules = [{ apiGroups: ['demo.example.com'], resources: [resource], verbs: ['get'] }]
    const name = resource.replace('/', '-')
    await server.ask('POST', `${rbac}/clusterroles`, { body: { metadata: { name }, rules } })
    const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'ada' }]
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    await server.ask('POST', `${rbac}/clusterrolebindings`, { body: { metadata: { name }, subjects, roleRef } })
  }
  const headers = { 'impersonate-user': 'ada' }
  await grant('websites')
  expect((await server.ask('GET', `${websites}/home/log`, { headers })).json).toMatchObject({
    code: 403,
    message:
      'websites.demo.example.com "home" is forbidden: User "ada" cannot get resource "websites/log" in API group "demo.example.com" in the namespace "default"',
  })
  await grant('websites/log')
  expect((await server.ask('GET', `${websites}/home/log`, { headers })).text).toBe('x')
  await server.server.stop()
})

test('discovery and OpenAPI list a stream', async () => {
  const server = await startWith(() => ({ body: 'x' }))
  const list = (await server.ask('GET', '/apis/demo.example.com/v1')).json
  expect(list['resources']).toContainEqual({
    name: 'websites/log',
    singularName: '',
    namespaced: true,
    kind: 'Website',
    verbs: ['get'],
  })
  const { paths } = (await server.ask('GET', '/openapi/v3/apis/demo.example.com/v1')).json
  const path = paths?.['/apis/demo.example.com/v1/namespaces/{namespace}/websites/{name}/log']
  expect(Object.keys(path ?? {})).toEqual(['get', 'parameters'])
  expect(path?.['get']?.['operationId']).toBe('readDemoExampleComV1NamespacedWebsiteLog')
  await server.server.stop()
})

test('the audit log has the beginning and the end of a stream', async () => {
  const events: { readonly stage: string; readonly objectRef?: { readonly subresource?: string } }[] = []
  const server = await startWith(() => ({ body: texts('one\n') }), {
    options: {
      audit: {
        policy: { rules: [{ level: 'Metadata' }] },
        write: (line) => {
          events.push(JSON.parse(line) as (typeof events)[number])
        },
      },
    },
  })
  await server.ask('GET', `${websites}/home/log`)
  await server.server.stop()
  expect(events.filter(({ objectRef }) => objectRef?.subresource === 'log').map(({ stage }) => stage)).toEqual([
    'RequestReceived',
    'ResponseStarted',
    'ResponseComplete',
  ])
})

test('a header that cannot be sent is a mistake of the handler', async () => {
  const server = await startWith(() => ({ headers: { 'x-a': 'b\r\nx-c: d' }, body: 'x' }))
  expect((await server.ask('GET', `${websites}/home/log`)).json).toMatchObject({
    code: 500,
    message: 'the handler answered with a header that cannot be sent: "x-a"',
  })
  await server.server.stop()
})

test('rules of a kind: names as they come, the object as the answer to DELETE, the status of a new object', async () => {
  const more = { names: 'path-segment', deleteAnswers: 'object', statusOnCreate: 'keep' } as const
  const server = await startWith(() => ({}), { more })
  const body = { ...home, metadata: { name: 'Catalog_HTTP' }, status: { url: 'http://a' } }
  expect((await server.ask('POST', websites, { body })).json).toMatchObject({ status: { url: 'http://a' } })
  expect((await server.ask('POST', websites, { body: { ...body, metadata: { name: 'a%b' } } })).status).toBe(422)
  expect((await server.ask('DELETE', `${websites}/Catalog_HTTP`)).json).toMatchObject({
    kind: 'Website',
    metadata: { name: 'Catalog_HTTP' },
  })
  await server.server.stop()
})

test('without rules a kind is as on Kubernetes', async () => {
  const server = await startWith(() => ({}))
  const body = { ...home, metadata: { name: 'second' }, status: { url: 'http://a' } }
  expect((await server.ask('POST', websites, { body })).json['status']).toBeUndefined()
  expect((await server.ask('POST', websites, { body: { ...body, metadata: { name: 'A_b' } } })).status).toBe(422)
  expect((await server.ask('DELETE', `${websites}/second`)).json).toMatchObject({ kind: 'Status', status: 'Success' })
  await server.server.stop()
})

test.each<[string, readonly CustomResourceOptions[]]>([
  ['customResources has Website of demo.example.com twice', [{ kind: Website }, { kind: Website }]],
  ['cannot have a stream named "status"', [{ kind: Website, streams: { status: () => ({}) } }]],
  ['cannot have a stream named "a/b"', [{ kind: Website, streams: { 'a/b': () => ({}) } }]],
])('options are refused at the start: %s', async (message, customResources) => {
  await expect(TestServer.start({ customResources })).rejects.toThrow(message)
})
