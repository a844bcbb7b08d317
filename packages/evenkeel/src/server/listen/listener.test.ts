import { getEventListeners, once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, assert, describe, expect, test } from 'vitest'
import { deferred, SystemClock, SystemRandom } from '#base'
import type { Transport } from '#wire'
import { issueClientCertificate, type WireResponse } from '#wire'
import { makeIdentity } from '../auth/identity.ts'
import { listen } from './listener.ts'
import { RawClient } from './raw-client.fixture.ts'
import { closeServed, echo, serve, type Listening } from './served.fixture.ts'
import { quiet, turn, until } from './turns.fixture.ts'

afterEach(closeServed)

const get = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'
const { authority, server } = makeIdentity()
const ca = authority.certificatePem
const tls = { key: server.keyPem, cert: server.certificatePem }

describe('listen', () => {
  test('row 1: binds loopback and a free port unless told otherwise', async () => {
    const { listening } = await serve()
    expect(listening.url).toBe(`http://127.0.0.1:${listening.port}`)
    const six = await serve(echo, { host: '::1', tls })
    expect(six.listening.url).toBe(`https://[::1]:${six.listening.port}`)
    expect(await new RawClient(six.listening.url, { ca }).send(get).until('ok')).toContain(' 200 ')
  })

  test('rejects when the port is taken', async () => {
    const { listening } = await serve()
    await expect(listen(echo, { port: listening.port })).rejects.toThrow('EADDRINUSE')
  })

  test('refuses limits that are none', async () => {
    for (const limit of [0, -1, 1.5, Number.NaN])
      await expect(listen(echo, { limits: { headMs: limit } })).rejects.toThrow(RangeError)
  })

  /** Every request shows credentials, of a user of its own. */
  const authenticated: Transport = (request) => {
    request.peer?.onAuthenticated?.(String(++users))
    return echo(request)
  }
  let users = 0
  const limits = [{ connectionsPerAddressMax: 2 }, { connectionsMax: 2 }]

  test.each(limits)('row 18: drops connections above a limit of known ones: %o', async (each) => {
    const { listening } = await serve(authenticated, { limits: each })
    const [one, two] = [new RawClient(listening.url).send(get), new RawClient(listening.url).send(get)]
    await Promise.all([one.until('ok'), two.until('ok')])
    expect(await new RawClient(listening.url).send(get).all()).toBe('')
    two.socket.destroy()
    await until(() => listening.connections === 1)
    await new RawClient(listening.url).send(get).until('ok')
  })

  test.each(limits)('row 18: connections without credentials give way to new ones, oldest first: %o', async (each) => {
    const { listening } = await serve(authenticated, { limits: each })
    const known = new RawClient(listening.url).send(get)
    await known.until('ok')
    const idle = new RawClient(listening.url).send('GET / HTTP/1.1\r\n')
    await until(() => listening.connections === 2)
    const next = new RawClient(listening.url).send(get)
    await next.until('ok')
    expect(await idle.all()).toBe('')
    await known.send(get).until('ok', 2)
  })
})

describe('listen with TLS', () => {
  test('speaks HTTP/1.1 to who asks for it or for nothing, HTTP/2 to who asks for that', async () => {
    const { listening, requests } = await serve(echo, { tls })
    for (const alpn of [['http/1.1'], []]) await new RawClient(listening.url, { ca, alpn }).send(get).until('ok')
    const session = connectHttp2(listening.url, { ca })
    const stream = session.request({ ':path': '/two' })
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(headers[':status']).toBe(200)
    session.destroy()
    expect(requests.map(({ target, peer }) => [target, peer?.encrypted])).toEqual([
      ['/', true],
      ['/', true],
      ['/two', true],
    ])
  })

  test('row 2: lets nobody in below TLS 1.2, and outlives broken handshakes', async () => {
    const { listening } = await serve(echo, { tls })
    const old = connect({
      host: '127.0.0.1',
      port: listening.port,
      ca,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'ALL@SECLEVEL=0',
    })
    await expect(once(old, 'secureConnect')).rejects.toThrow()
    const plain = new RawClient(listening.url.replace('https', 'http')).send(get)
    await plain.closed
    await new RawClient(listening.url, { ca }).send(get).until('ok')
  })

  test('resumes sessions', async () => {
    const { listening } = await serve(echo, { tls })
    const first = new RawClient(listening.url, { ca })
    const session = deferred<Buffer>()
    first.socket.once('session', session.resolve)
    await first.send(get).until('ok')
    const second = new RawClient(listening.url, { ca, session: await session.promise })
    await second.send(get).until('ok')
    assert((second.socket as TLSSocket).isSessionReused())
  })

  test('row 2: tells the client certificate only if our authority signed it, also when a session is resumed', async () => {
    const real = { clock: new SystemClock(), random: new SystemRandom(), subject: { commonName: 'me' } }
    const { listening, requests } = await serve(echo, { tls: { ...tls, ca } })
    const stranger = issueClientCertificate(makeIdentity().authority, real)
    const known = issueClientCertificate(authority, real)
    for (const credential of [undefined, stranger, known]) {
      const own = credential && { cert: credential.certificatePem, key: credential.keyPem }
      const session = await askWith({ port: listening.port, ...own })
      const again = connect({ host: '127.0.0.1', port: listening.port, ca, session, ...own })
      again.write(get)
      await once(again, 'data')
      assert(again.isSessionReused())
      again.destroy()
    }
    const expected = Buffer.from(known.certificatePem.replace(/-----.*-----|\n/g, ''), 'base64')
    expect(requests.map(({ peer }) => peer?.certificate)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      expected,
      expected,
    ])
  })
})

test('row 19: listen outlives connections that are reset, in the middle of anything', async () => {
  const { listening } = await serve()
  for (let index = 0; index < 12; index++) {
    const client = new RawClient(listening.url)
    await once(client.socket, 'connect')
    if (index % 4 > 0) client.send(get.slice(0, 9))
    if (index % 4 > 1) client.send(get.slice(9))
    if (index % 4 > 2) await client.until('ok')
    for (let turns = index; turns > 0; turns--) await turn()
    client.socket.resetAndDestroy()
  }
  await until(() => listening.connections === 0)
  expect(await new RawClient(listening.url).send(get).until('ok')).toContain(' 200 ')
})

describe('listen gives up', () => {
  const cases: Record<string, [string, number, string]> = {
    'a connection that says nothing': ['', 10_000, ''],
    'a head that does not end, however much of it comes': [
      'GET / HTTP/1.1\r\nHost: a\r\n',
      10_000,
      'HTTP/1.1 408 Request Timeout',
    ],
    'a small body that does not come': [
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc',
      10_000,
      'HTTP/1.1 500',
    ],
    'a connection without a next request': [get, 90_000, 'HTTP/1.1 200 OK'],
    'a long body that stops': [
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\nabc',
      10_000,
      'HTTP/1.1 500',
    ],
  }
  for (const [name, [text, afterMs, answer]] of Object.entries(cases)) {
    test(`row 18: ${name}`, async () => {
      const { listening, clock, requests } = await serve()
      const client = new RawClient(listening.url).send(text)
      if (text === get) await client.until('ok')
      else await arrived(listening)
      if (text.startsWith('POST')) await until(() => requests.length === 1)
      await clock.advance(afterMs - 1000)
      client.send(text.includes('GET / HTTP/1.1\r\nHost: a\r\n') ? 'X: 1\r\n' : '')
      expect(listening.connections).toBe(1)
      await clock.advance(2000)
      expect(await Promise.race([client.all(), quiet()])).toMatch(new RegExp(`^${answer}`))
      await until(() => listening.connections === 0)
      expect(clock.pending).toBe(0)
    })
  }

  test.each([
    ['that is read', echo, 'HTTP/1.1 500'],
    ['that nobody reads', () => Promise.resolve({ status: 401, headers: {} }), 'HTTP/1.1 401'],
  ])('row 18: a body %s, of one byte every few seconds', async (_, answer, expected) => {
    for (const http of ['own', 'node'] as const) {
      const { listening, clock, requests } = await serve(answer as Transport, { http })
      const client = new RawClient(listening.url).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n')
      await until(() => requests.length === 1)
      for (let seconds = 0; seconds < 30 && listening.connections > 0; seconds += 2) {
        client.send('x')
        await quiet()
        await clock.advance(2000)
      }
      expect(await client.all()).toMatch(new RegExp(`^${expected}`))
      expect(listening.connections).toBe(0)
    }
  })

  test('row 18: not a body that comes at a fair rate, however long it takes', async () => {
    const { listening, clock, requests } = await serve()
    const client = new RawClient(listening.url).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 81920\r\n\r\n')
    await until(() => requests.length === 1)
    for (let second = 0; second < 20; second++) {
      client.send('x'.repeat(4096))
      await quiet()
      await clock.advance(1000)
    }
    expect(await client.until('xxx')).toMatch(/^HTTP\/1.1 200/)
  })

  test('row 18: a TLS handshake that does not happen', async () => {
    const { listening, clock } = await serve(echo, { tls })
    const client = new RawClient(listening.url.replace('https', 'http'))
    await until(() => listening.connections === 1)
    await clock.advance(11_000)
    expect(await Promise.race([client.all(), quiet()])).toBe('')
  })

  test('row 18: a client that does not read its response', async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      for (;;) yield await Promise.resolve(Buffer.alloc(65_536))
    }
    const { listening, clock, requests } = await serve(() =>
      Promise.resolve({ status: 200, headers: {}, body: body() }),
    )
    const client = new RawClient(listening.url)
    client.socket.pause()
    client.send(get)
    await until(() => requests.length === 1)
    for (let turns = 0; turns < 500; turns++) await turn()
    await clock.advance(62_000)
    await Promise.race([until(() => listening.connections === 0), quiet()])
    expect(listening.connections).toBe(0)
    assert(requests[0]?.signal.aborted)
    client.socket.destroy()
  })

  test('row 18: five hundred slow clients, while others are served', async () => {
    const { listening, clock } = await serve()
    const slow = Array.from({ length: 500 }, () => new RawClient(listening.url).send('GET / HT'))
    await until(() => listening.connections === 500)
    await new RawClient(listening.url).send(get).until('ok')
    await clock.advance(14_000)
    await Promise.race([Promise.all(slow.map(({ closed }) => closed)), quiet()])
    expect(listening.connections).toBe(1)
  })
})

describe('Listening.close', () => {
  test('ends idle connections at once and takes no more', async () => {
    const { listening, clock } = await serve(echo, { tls })
    const client = new RawClient(listening.url, { ca }).send(get)
    await client.until('ok')
    await listening.close({ graceMs: 1000 })
    await client.closed
    await expect(once(connect({ port: listening.port, host: '127.0.0.1' }), 'secureConnect')).rejects.toThrow(
      'ECONNREFUSED',
    )
    expect([listening.connections, clock.pending]).toEqual([0, 0])
  })

  test('waits for requests under way, which learn that the connection closes', async () => {
    const gate = deferred<WireResponse>()
    const { listening, requests } = await serve(() => gate.promise)
    const client = new RawClient(listening.url).send(get)
    await until(() => requests.length === 1)
    const closed = listening.close({ graceMs: 1000 })
    gate.resolve({ status: 200, headers: {}, body: Buffer.from('done') })
    expect(await client.all()).toMatch(/connection: close[^]*done$/)
    await closed
  })

  test('waits for streams until their time is up, then cuts them off', async () => {
    const { listening, clock, requests } = await serve(({ signal }) =>
      Promise.resolve({ status: 200, headers: {}, body: untilAborted(signal) }),
    )
    const client = new RawClient(listening.url).send(get)
    await client.until('1\r\nx\r\n')
    let isClosed = false
    const closed = listening.close({ graceMs: 5000 }).then(() => {
      isClosed = true
    })
    await clock.advance(4999)
    expect(isClosed).toBe(false)
    await clock.advance(1)
    await Promise.all([closed, client.closed])
    assert(requests[0]?.signal.aborted)
    expect(clock.pending).toBe(0)
  })

  test('cuts everything off when its signal aborts, and leaves no listener on it', async () => {
    const { listening, clock } = await serve(() => new Promise(() => undefined))
    const client = new RawClient(listening.url).send(get)
    await until(() => listening.connections === 1)
    const controller = new AbortController()
    const closed = [listening.close({ graceMs: 5000, signal: controller.signal }), listening.close({ graceMs: 9000 })]
    await turn()
    controller.abort()
    await Promise.all([...closed, client.closed])
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
    expect(clock.pending).toBe(0)
    await listening.close()
  })

  test('leaves no sockets and servers behind', async () => {
    const before = handles()
    const { listening } = await serve(echo, { tls })
    const clients = Array.from({ length: 5 }, () => new RawClient(listening.url, { ca }).send(get))
    await Promise.all(clients.map((client) => client.until('ok')))
    await listening.close({ graceMs: 1000 })
    await Promise.all(clients.map(({ closed }) => closed))
    await until(() => handles().length <= before.length)
  })
})

/** One request; gives the session to resume. */
async function askWith(options: { port: number; cert?: string; key?: string }): Promise<Buffer> {
  const socket = connect({ host: '127.0.0.1', ca, ...options })
  const session = once(socket, 'session') as Promise<[Buffer]>
  socket.write(get)
  await once(socket, 'data')
  socket.destroy()
  return (await session)[0]
}

function handles(): string[] {
  return process.getActiveResourcesInfo().filter((name) => /TCP|TLS/.test(name))
}

/** The connection is there, and what was sent with it. */
async function arrived(listening: Listening): Promise<void> {
  await until(() => listening.connections === 1)
  for (let turns = 0; turns < 20; turns++) await turn()
}

async function* untilAborted(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield Buffer.from('x')
  await new Promise((resolve) => {
    signal.addEventListener('abort', resolve)
  })
}
