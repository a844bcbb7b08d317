import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { deferred, SystemClock } from '#base'
import type { WireRequest } from '#wire'
import { readBody, textOf } from './rest-client.ts'
import { authority, clientCertificate, startHttps, startProxy } from './transport.fixture.ts'
import { httpTransport, type HttpConnection, type HttpOptions } from './transport.ts'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

async function serve(...given: Parameters<typeof startHttps>): Promise<string> {
  const server = await startHttps(...given)
  cleanups.push(() => server.close())
  return server.url
}

function open(options: HttpOptions): HttpConnection {
  const connection = httpTransport({ tls: { caPem: authority.certificatePem }, ...options })
  cleanups.push(() => connection.close())
  return connection
}

const request = (target = '/x', more: Partial<WireRequest> = {}): WireRequest => ({
  method: 'GET',
  target,
  headers: {},
  signal: new AbortController().signal,
  ...more,
})

const echo = (incoming: IncomingMessage, response: ServerResponse): void => {
  const pieces: Buffer[] = []
  incoming
    .on('data', (piece: Buffer) => pieces.push(piece))
    .on('end', () => {
      const peer = (incoming.socket as TLSSocket).getPeerCertificate()
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          method: incoming.method,
          url: incoming.url,
          headers: incoming.headers,
          body: Buffer.concat(pieces).toString(),
          user: (peer as { subject?: { CN?: string } }).subject?.CN ?? null,
          groups: incoming.headersDistinct['impersonate-group'],
        }),
      )
    })
}

async function ask({ transport }: HttpConnection, sent = request()): Promise<Record<string, unknown>> {
  return JSON.parse(textOf(await readBody((await transport(sent)).body, 1_000_000))) as Record<string, unknown>
}

describe('httpTransport', () => {
  test("carries method, path below the server's, headers and body, repeated headers one by one", async () => {
    const server = await serve(echo)
    const connection = open({
      server: `${server}/k8s/one/`,
      headers: { 'impersonate-group': ['a, b', 'c'], 'impersonate-user': 'jane' },
    })
    const answer = await ask(
      connection,
      request('/api?x=1', { method: 'POST', headers: { 'x-own': 'yes' }, body: Buffer.from('{}') }),
    )
    expect(answer).toMatchObject({
      method: 'POST',
      url: '/k8s/one/api?x=1',
      body: '{}',
      headers: { 'x-own': 'yes', 'impersonate-user': 'jane' },
      groups: ['a, b', 'c'],
    })
  })

  test('asks when a request leaves, not when it is made: one that waited for a connection may be taken back', async () => {
    const seen: string[] = []
    const held = deferred<() => void>()
    const server = await serve((incoming, response) => {
      seen.push(incoming.url ?? '')
      if (incoming.url === '/first')
        held.resolve(() => {
          response.end()
        })
      else response.end()
    })
    const connection = open({ server, connectionsMax: 1 })
    const first = connection.transport(request('/first', { method: 'PUT', beforeSend: () => undefined }))
    const release = await held.promise
    let isAllowed = true
    const beforeSend = (): void => {
      if (!isAllowed) throw new RangeError('no longer')
    }
    const second = connection.transport(request('/second', { method: 'PUT', beforeSend }))
    isAllowed = false
    release()
    await expect(second).rejects.toThrow(RangeError)
    expect((await first).status).toBe(200)
    isAllowed = true
    expect((await connection.transport(request('/third', { method: 'PUT', beforeSend }))).status).toBe(200)
    expect(seen).toEqual(['/first', '/third'])
  })

  test('an abort is told at once to who waits for a connection', async () => {
    const held = deferred<undefined>()
    const connection = open({
      server: await serve(() => {
        held.resolve(undefined)
      }),
      connectionsMax: 1,
    })
    const first = connection.transport(request('/first'))
    await held.promise
    const stop = new AbortController()
    const second = connection.transport(request('/second', { signal: stop.signal }))
    stop.abort(new Error('enough'))
    await expect(second).rejects.toThrow('enough')
    await Promise.all([expect(first).rejects.toMatchObject({ problem: 'reset' }), connection.close()])
  })

  test('shows a client certificate, and another one as soon as it changes', async () => {
    const server = await serve(echo, { requestCert: true, rejectUnauthorized: false, ca: authority.certificatePem })
    let tls = { caPem: authority.certificatePem, ...clientCertificate('jane') }
    const connection = open({ server, tls: () => Promise.resolve(tls) })
    expect(await ask(connection)).toMatchObject({ user: 'jane' })
    tls = { caPem: authority.certificatePem, ...clientCertificate('joe') }
    expect(await ask(connection)).toMatchObject({ user: 'joe' })
  })

  test('trusts whom it is told to trust, under the name it is told', async () => {
    const server = await serve(echo, { names: ['api.example.com'] })
    await expect(open({ server, tls: {} }).transport(request())).rejects.toMatchObject({
      problem: 'certificate',
      address: server,
      message: expect.stringContaining(
        'signed by an unknown authority; give the cluster of the kubeconfig its certificate-authority',
      ) as string,
    })
    await expect(open({ server }).transport(request())).rejects.toThrow(
      'is for another name; use a name it has, or set tls-server-name',
    )
    expect(
      await ask(open({ server, tls: { caPem: authority.certificatePem, serverName: 'api.example.com' } })),
    ).toMatchObject({ method: 'GET' })
    expect(await ask(open({ server, tls: { insecureSkipVerify: true } }))).toMatchObject({ method: 'GET' })
  })

  test('an expired certificate of the server is told', async () => {
    const server = await serve(echo, { isExpired: true })
    await expect(open({ server }).transport(request())).rejects.toMatchObject({
      problem: 'certificate',
      message: `cannot connect to ${server}: the certificate of the server has expired; renew it`,
    })
  })

  test('a server that is not there, has no name, or speaks no TLS is told', async () => {
    await expect(open({ server: await unusedAddress() }).transport(request())).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringMatching(
        /^cannot connect to https:\/\/127\.0\.0\.1:\d+: connection refused; is the server running/,
      ) as string,
    })
    await expect(open({ server: 'https://nowhere.invalid:6443' }).transport(request())).rejects.toMatchObject({
      problem: 'name',
    })
    const plain = createServer((socket) =>
      socket
        .on('error', () => undefined)
        .on('data', () => {
          socket.end('HTTP/1.1 400 Bad Request\r\n\r\n', () => socket.destroy())
        }),
    ).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    cleanups.push(async () => {
      plain.close()
      await once(plain, 'close')
    })
    await expect(
      open({ server: `https://127.0.0.1:${(plain.address() as AddressInfo).port}` }).transport(request()),
    ).rejects.toThrow('does not speak TLS')
  })

  test('a connection that is cut before and during the answer is a reset', async () => {
    const server = await serve((incoming, response) => {
      if (incoming.url === '/half') response.writeHead(200, { 'content-length': '100' }).write('half')
      new SystemClock().soon(() => incoming.socket.destroy())
    })
    const connection = open({ server })
    await expect(connection.transport(request('/none'))).rejects.toMatchObject({ problem: 'reset' })
    await expect(connection.transport(request('/half'))).rejects.toMatchObject({ problem: 'reset' })
  })

  test('a stream comes piece by piece, ends cleanly, or by the signal', async () => {
    const server = await serve((incoming, response) => {
      response.write('one\n')
      if (incoming.url?.includes('end')) response.end('two\n')
    })
    const connection = open({ server })
    const whole = await connection.transport(request('/end?watch=true'))
    expect(textOf(await readBody(whole.body, 100))).toBe('one\ntwo\n')

    const stop = new AbortController()
    const { body } = await connection.transport(request('/on?watch=true', { signal: stop.signal }))
    const pieces = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    expect(textOf((await pieces.next()).value as Uint8Array)).toBe('one\n')
    const next = pieces.next()
    stop.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
  })

  test('streams never keep a request waiting', async () => {
    const server = await serve((incoming, response) => {
      if (incoming.url?.includes('watch')) response.write('{}\n')
      else response.end('{}')
    })
    const connection = open({ server, connectionsMax: 1 })
    const stop = new AbortController()
    await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        connection.transport(request(`/${index}?watch=true`, { signal: stop.signal })),
      ),
    )
    expect((await connection.transport(request())).status).toBe(200)
    stop.abort()
  })

  test('does not follow a redirect', async () => {
    const server = await serve((_, response) => response.writeHead(307, { location: 'https://example.com' }).end())
    expect((await open({ server }).transport(request())).status).toBe(307)
  })

  test('goes through a proxy, with its password, and tells of one that is not there', async () => {
    const server = await serve(echo)
    const seen: string[] = []
    const proxy = await startProxy(seen)
    cleanups.push(() => proxy.close())
    const through = open({ server, proxyUrl: proxy.url.replace('://', '://me:secret@') })
    expect(await ask(through)).toMatchObject({ method: 'GET' })
    expect(seen).toEqual([`${new URL(server).host} Basic ${Buffer.from('me:secret').toString('base64')}`])
    await expect(
      open({ server, proxyUrl: (await unusedAddress()).replace('https', 'http') }).transport(request()),
    ).rejects.toMatchObject({ problem: 'refused' })
    expect(() => httpTransport({ server, proxyUrl: 'socks5://localhost:1080' })).toThrow(
      'SOCKS proxies are not supported',
    )
  })

  test('after close nothing is sent', async () => {
    const connection = open({ server: await serve(echo) })
    await ask(connection)
    await connection.close()
    await expect(connection.transport(request())).rejects.toThrow('was closed by its owner')
  })

  test('an address that is none is a mistake of the caller', () => {
    for (const server of ['nonsense', 'ftp://x']) expect(() => httpTransport({ server })).toThrow(RangeError)
  })
})

/** Where nobody listens: a port that was free a moment ago. */
async function unusedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `https://127.0.0.1:${port}`
}
