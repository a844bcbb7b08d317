import { connect } from 'node:tls'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SystemClock } from '#base'
import type { TestServer } from '../client.fixture.ts'
import { quiet } from '../listen/turns.fixture.ts'
import { BackendServer, condition, frontProxy, register, startProxy } from './backend.fixture.ts'

const foos = '/apis/example.com/v1/namespaces/default/foos'

describe('requests for an aggregated API', () => {
  let backend: BackendServer
  let server: TestServer
  beforeEach(async () => {
    backend = await BackendServer.start()
    server = await startProxy(backend)
    await register(server)
    await condition(server, 'Passed')
  })
  afterEach(async () => {
    await server.server.stop()
    await backend.close()
  })

  const nextRequest = (): Promise<[IncomingMessage, ServerResponse]> =>
    new Promise((resolve) => {
      backend.serve = (request, response) => {
        resolve([request, response])
      }
    })

  test('reach the backend over a connection of the front proxy', async () => {
    backend.clients.length = 0
    expect((await server.ask('GET', foos)).status).toBe(200)
    expect(new Set(backend.clients)).toEqual(new Set(['front-proxy-client']))
  })

  test('row 31: show the backend no credentials of the client, in no header', async () => {
    const asked = nextRequest()
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('s3cret').toString('base64url')}`
    const headers = {
      cookie: 's3cret',
      'x-remote-user': 'root',
      'x-remote-extra-scopes': 's3cret',
      'sec-websocket-protocol': `${token}, v5.channel.k8s.io`,
    }
    const answering = server.ask('GET', foos, { headers })
    const [request, response] = await asked
    response.end('{}')
    await answering
    expect(request.headers['sec-websocket-protocol']).toBe('v5.channel.k8s.io')
    expect(request.headers['x-remote-user']).not.toBe('root')
    expect(JSON.stringify(request.headers)).not.toContain('s3cret')
    expect(JSON.stringify(request.headers)).not.toContain(token)
  })

  test('name a user with letters outside ASCII in UTF-8', async () => {
    const asked = nextRequest()
    const headers = { 'impersonate-user': 'j\u{e4}ne' }
    const body = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'all' } }
    await server.ask('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      body: {
        ...body,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'j\u{e4}ne' }],
      },
    })
    const answering = server.ask('GET', foos, { headers })
    const [request, response] = await asked
    response.end('{}')
    expect((await answering).status).toBe(200)
    expect(Buffer.from(String(request.headers['x-remote-user']), 'latin1').toString()).toBe('j\u{e4}ne')
  })

  test('of a slow reader slow the backend down: bodies are not gathered', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x')
    const total = 200
    let written = 0
    backend.serve = (_, response) => {
      const more = (): void => {
        while (written < total) {
          written++
          if (!response.write(piece)) {
            response.once('drain', more)
            return
          }
        }
        response.end()
      }
      more()
    }
    const { body } = await server.send('GET', foos)
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    let read = (await pieces.next()).value?.length as number
    await quiet()
    expect(written).toBeLessThan(total / 2)
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) read += next.value.length
    expect(read).toBe(total * piece.length)
  })

  test('end at the backend when the client leaves', async () => {
    const asked = nextRequest()
    const { body } = await (async () => {
      const responding = server.send('GET', `${foos}?watch=true`)
      const [, response] = await asked
      response.write('{}\n')
      return responding
    })()
    const [request] = await asked
    const closed = new Promise((resolve) => request.socket.once('close', resolve))
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    await pieces.next()
    await pieces.return?.()
    await closed
  })

  test('without a response get 503 after their deadline, watches after a minute', async () => {
    const asked = nextRequest()
    const answering = server.ask('GET', `${foos}?watch=true`)
    await asked
    await server.clock.advance(60_000)
    expect(await answering).toMatchObject({
      status: 503,
      text: 'error trying to reach service: context deadline exceeded\n',
    })
  })

  test('with a response that does not end are cut after a minute', async () => {
    backend.serve = (_, response) => {
      response.write('the beginning')
    }
    const { body } = await server.send('GET', foos)
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    await pieces.next()
    const rest = pieces.next().then(
      ({ done }) => done,
      () => 'cut',
    )
    await server.clock.advance(60_000)
    expect(await rest).toBe('cut')
  })

  test('send large bodies on while they arrive', async () => {
    let got = 0
    backend.serve = (request, response) => {
      request.on('data', (chunk: Buffer) => (got += chunk.length))
      request.on('end', () => response.end('{}'))
    }
    async function* pieces(): AsyncGenerator<Uint8Array, void> {
      for (let index = 0; index < 64; index++) yield await Promise.resolve(Buffer.alloc(65_536))
    }
    const { status } = await server.server.transport({
      method: 'POST',
      target: foos,
      headers: {},
      body: pieces(),
      signal: new AbortController().signal,
    })
    expect([status, got]).toEqual([200, 64 * 65_536])
  })

  test('keep their compression, and are not compressed here', async () => {
    backend.serve = (_, response) => {
      response.setHeader('content-type', 'application/json').end(`"${'x'.repeat(300_000)}"`)
    }
    const { headers, text } = await server.ask('GET', foos, { headers: { 'accept-encoding': 'gzip' } })
    expect(headers['content-encoding']).toBeUndefined()
    expect(text.length).toBe(300_002)
  })
})

test('an upgraded connection is a tunnel in both directions', async () => {
  const backend = await BackendServer.start()
  backend.server.on('upgrade', (request, socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\nhello `)
    socket.write(`${request.headers['x-remote-user']} `)
    socket.on('data', (bytes: Buffer) => socket.write(bytes.toString().toUpperCase()))
    socket.on('error', () => undefined)
  })
  const server = await startProxy(backend, { listen: {}, clock: new SystemClock() })
  try {
    await register(server)
    await condition(server, 'Passed')
    const { port = 0, caPem, token } = server.server.address ?? {}
    const socket = connect({ port, host: '127.0.0.1', ...(caPem !== undefined && { ca: caPem }) })
    const head = [
      `POST ${foos}/a/exec HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${token}`,
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    let text = ''
    const saw = (wanted: string): Promise<void> =>
      new Promise((resolve) => {
        const check = (chunk: Buffer): void => {
          text += chunk.toString()
          if (!text.includes(wanted)) return
          socket.off('data', check)
          resolve()
        }
        socket.on('data', check)
      })
    await saw('evenkeel-admin ')
    expect(text).toMatch(/^HTTP\/1\.1 101 /)
    expect(text).toMatch(/upgrade: SPDY\/3\.1/i)
    socket.write('echo')
    await saw('ECHO')
    // The backend closes only when its end of the tunnel is closed too.
    socket.destroy()
  } finally {
    await server.server.stop()
    await backend.close()
  }
})

test('one Evenkeel behind another: its custom resources, with the users of the first', async () => {
  const inner = await import('../server.ts').then(({ startServer }) =>
    startServer({
      listen: { names: ['backend.default.svc'] },
      authentication: {
        frontProxy: { caPem: frontProxy.authority.certificatePem, allowedNames: ['front-proxy-client'] },
      },
    }),
  )
  const { port = 0, caPem = '' } = inner.address ?? {}
  const outer = await startProxy({ address: { host: '127.0.0.1', port } } as BackendServer, {
    clock: new SystemClock(),
  })
  try {
    const crd = {
      metadata: { name: 'foos.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'foos', kind: 'Foo' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }
    const send = (method: string, target: string, body?: unknown) =>
      inner.transport({
        method,
        target,
        headers: { 'content-type': 'application/json' },
        signal: new AbortController().signal,
        ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
      })
    expect((await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)).status).toBe(201)
    await register(outer, { caBundle: Buffer.from(caPem).toString('base64') })
    await condition(outer, 'Passed')
    const foo = { apiVersion: 'example.com/v1', kind: 'Foo', metadata: { name: 'a' } }
    expect((await outer.ask('POST', foos, { body: foo })).status).toBe(201)
    expect((await outer.ask('GET', `${foos}/a`)).json).toMatchObject({ kind: 'Foo', metadata: { name: 'a' } })
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
    expect((await outer.ask('GET', foos, { headers: { accept } })).json).toMatchObject({ kind: 'Table' })
    const events = await outer.watch(`${foos}?watch=true`)
    expect(await events.take(1)).toEqual(['ADDED a'])
    await events.close()
    const table = (await outer.ask('GET', '/openapi/v2')).json as unknown as { paths: Record<string, unknown> }
    expect(Object.keys(table.paths)).toContain('/apis/example.com/v1/foos')
  } finally {
    await outer.server.stop()
    await inner.stop()
  }
})

test('a request is sent again when the backend closed the idle connection', async () => {
  const backend = await BackendServer.start()
  const server = await startProxy(backend)
  try {
    await register(server)
    await condition(server, 'Passed')
    let requests = 0
    backend.serve = (request, response) => {
      // The first request on a used connection meets its end.
      if (++requests === 2) request.socket.destroy()
      else response.end('{}')
    }
    expect((await server.ask('GET', foos)).status).toBe(200)
    expect((await server.ask('GET', foos)).status).toBe(200)
    expect(requests).toBe(3)
    requests = 1
    expect(await server.ask('POST', foos, { body: {} })).toMatchObject({
      status: 503,
      text: 'error trying to reach service: EOF\n',
    })
  } finally {
    await server.server.stop()
    await backend.close()
  }
})
