import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { deferred, SystemClock } from '#base'
import type { Carrier, CarrierRequest } from './carrier.ts'
import { Dialer, type TlsMaterial } from './dialer.ts'
import { KeptConnections } from './kept-connections.ts'
import { readBody, textOf } from './rest-client.ts'
import { authority, startHttps } from './transport.fixture.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

async function serve(...given: Parameters<typeof startHttps>): Promise<string> {
  const server = await startHttps(...given)
  cleanups.push(() => server.close())
  return server.url
}

interface MakeOptions {
  readonly connectionsMax?: number
  readonly connectTimeoutMs?: number
  readonly tls?: TlsMaterial
}

function make(origin: string, options: MakeOptions = {}): KeptConnections {
  const { connectionsMax = 4, connectTimeoutMs = 10_000, tls = { caPem: authority.certificatePem } } = options
  return new KeptConnections({
    dialer: new Dialer({ origin, tls, connectTimeoutMs, clock: new SystemClock() }),
    connectionsMax,
  })
}

function kept(carrier: Carrier): Carrier {
  cleanups.push(() => carrier.destroy())
  return carrier
}

const request = (more: Partial<CarrierRequest> = {}): CarrierRequest => ({
  method: 'GET',
  target: '/x',
  headers: {},
  signal: new AbortController().signal,
  ...more,
})

/** Tells what was asked, and over which connection. */
function echo(): (incoming: IncomingMessage, response: ServerResponse) => void {
  const ports: number[] = []
  return (incoming, response) => {
    const { remotePort = 0 } = incoming.socket
    if (!ports.includes(remotePort)) ports.push(remotePort)
    const pieces: Buffer[] = []
    incoming
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const { 'content-length': length, 'transfer-encoding': coding } = incoming.headers
        response.end(
          JSON.stringify({
            method: incoming.method,
            body: Buffer.concat(pieces).toString(),
            length,
            coding,
            connection: ports.indexOf(remotePort),
          }),
        )
      })
  }
}

async function ask(carrier: Carrier, sent: CarrierRequest = request()): Promise<Record<string, unknown>> {
  return JSON.parse(textOf(await (await carrier.carry(sent)).whole())) as Record<string, unknown>
}

describe('KeptConnections', () => {
  test('sends a body with its length, whatever the method, and one of unknown length in chunks', async () => {
    const carrier = kept(make(await serve(echo())))
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(await ask(carrier, request({ method, body: Buffer.from('{"a":1}') }))).toMatchObject({
        method,
        body: '{"a":1}',
        length: '7',
      })
    }
    const inPieces = async function* (): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from('one'))
      yield Buffer.from('two')
    }
    expect(await ask(carrier, request({ method: 'POST', body: inPieces() }))).toMatchObject({
      body: 'onetwo',
      coding: 'chunked',
    })
    const { method, body, length } = await ask(carrier, request({ method: 'DELETE' }))
    expect([method, body, length ?? '0']).toEqual(['DELETE', '', '0'])
  })

  test('uses a connection again, and knows that an answer to HEAD has no body', async () => {
    const carrier = kept(make(await serve(echo()), { connectionsMax: 1 }))
    for (let time = 0; time < 3; time++) expect(await ask(carrier)).toMatchObject({ connection: 0 })
    const head = await carrier.carry(request({ method: 'HEAD' }))
    expect([head.status, (await head.whole()).length]).toEqual([200, 0])
    expect(await ask(carrier)).toMatchObject({ method: 'GET' })
  })

  test('gives an answer in pieces; who stops reading costs a connection, and nobody else waits', async () => {
    const big = Buffer.alloc(1_000_000, 'x')
    const carrier = kept(
      make(
        await serve((_incoming, response) => {
          response.write(big)
          response.end(big)
        }),
        { connectionsMax: 1 },
      ),
    )
    expect((await readBody((await carrier.carry(request())).pieces, 10_000_000)).length).toBe(2_000_000)
    await expect(readBody((await carrier.carry(request())).pieces, 1000)).rejects.toThrow('more than 1000 bytes')
    expect((await (await carrier.carry(request())).whole()).length).toBe(2_000_000)
  })

  test('an abort takes a request back while it waits for a connection and while it waits for its answer', async () => {
    const seen: string[] = []
    const reached = deferred<ServerResponse>()
    const carrier = kept(
      make(
        await serve((incoming, response) => {
          seen.push(incoming.url ?? '')
          if (incoming.url === '/held') reached.resolve(response)
          else response.end('{}')
        }),
        { connectionsMax: 1 },
      ),
    )
    const [stopHeld, stopWaiting] = [new AbortController(), new AbortController()]
    const held = carrier.carry(request({ target: '/held', signal: stopHeld.signal }))
    await reached.promise
    const waiting = carrier.carry(request({ target: '/waiting', signal: stopWaiting.signal }))
    stopWaiting.abort(new Error('not any more'))
    stopHeld.abort(new Error('nor this'))
    await Promise.all([expect(held).rejects.toThrow('nor this'), expect(waiting).rejects.toThrow('not any more')])
    expect(await ask(carrier, request({ target: '/next' }))).toEqual({})
    expect(seen).toEqual(['/held', '/next'])
  })

  test('close waits for what is under way, destroy cuts it off', async () => {
    const reached = [deferred<ServerResponse>(), deferred<ServerResponse>()] as const
    let count = 0
    const origin = await serve((_incoming, response) => {
      reached[count++]?.resolve(response)
    })
    const [closing, cut] = [kept(make(origin)), kept(make(origin))]
    const answer = closing.carry(request()).then((head) => head.whole())
    const response = await reached[0].promise
    const closed = closing.close()
    response.end('late')
    expect(textOf(await answer)).toBe('late')
    await closed
    const lost = cut.carry(request())
    await reached[1].promise
    await Promise.all([expect(lost).rejects.toThrow(Error), cut.destroy()])
  })
})

test('a connection that is not made in time fails, and an untrusted server gets nothing', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  cleanups.push(async () => {
    silent.close()
    await once(silent, 'close')
  })
  const origin = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`
  await expect(kept(make(origin, { connectTimeoutMs: 5, connectionsMax: 1 })).carry(request())).rejects.toMatchObject({
    code: 'ETIMEDOUT',
  })

  let asked = 0
  const stranger = await serve((_incoming, response) => {
    asked++
    response.end()
  })
  let agreed = 0
  const distrusting = kept(make(stranger, { tls: {}, connectionsMax: 1 }))
  for (let time = 0; time < 2; time++)
    await expect(
      distrusting.carry(
        request({
          beforeSend: () => {
            agreed++
          },
        }),
      ),
    ).rejects.toThrow(Error)
  expect([asked, agreed]).toEqual([0, 0])
})

test('beforeSend that throws takes a request back: nothing is sent and the connection is used again', async () => {
  const carrier = kept(make(await serve(echo()), { connectionsMax: 1 }))
  expect(await ask(carrier)).toMatchObject({ connection: 0 })
  const refuse = (): never => {
    throw new Error('not the leader any more')
  }
  await expect(carrier.carry(request({ target: '/refused', beforeSend: refuse }))).rejects.toThrow(
    'not the leader any more',
  )
  let asked = 0
  expect(await ask(carrier, request({ beforeSend: () => void asked++ }))).toMatchObject({ connection: 0 })
  expect(asked).toBe(1)
})

test('close and destroy of a carrier that never sent anything do nothing', async () => {
  const carrier = make('https://127.0.0.1:1')
  await carrier.close()
  await carrier.destroy()
})

/** A server that writes exactly these texts, one for each request, and counts its connections. */
async function scripted(...responses: readonly string[]): Promise<{ origin: string; connections: () => number }> {
  let connections = 0
  const left = [...responses]
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => undefined)
    socket.on('data', () => socket.write(left.shift() ?? 'HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(async () => {
    server.close()
    await once(server, 'close')
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections }
}

/** Connections whose last socket the test can reach. */
function watched(origin: string): { carrier: KeptConnections; socket: () => Socket } {
  let last: Socket | undefined
  class WatchedDialer extends Dialer {
    override dial(): Socket {
      return (last = super.dial())
    }
  }
  const carrier = new KeptConnections({
    dialer: new WatchedDialer({ origin, tls: {}, connectTimeoutMs: 10_000, clock: new SystemClock() }),
    connectionsMax: 1,
  })
  cleanups.push(() => carrier.destroy())
  return { carrier, socket: () => last as Socket }
}

describe('a connection', () => {
  const ok = (fields: string, body = 'ok'): string => `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n${body}`
  const plain = ok('content-length: 2')

  test.for([
    ['a length', plain, 1],
    ['chunks', ok('transfer-encoding: chunked', '2\r\nok\r\n0\r\n\r\n'), 1],
    ['a long keep-alive', ok('keep-alive: timeout=60\r\ncontent-length: 2'), 1],
    ['connection: close', ok('connection: close\r\ncontent-length: 2'), 2],
    ['a keep-alive that ends at once', ok('keep-alive: timeout=2, max=9\r\ncontent-length: 2'), 2],
    ['bytes after its end', `${plain}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged`, 2],
  ] as const)('after a response with %s is used again only when that is safe', async ([, first, expected]) => {
    const { origin, connections } = await scripted(first, plain)
    const carrier = kept(make(origin, { tls: {} }))
    for (let time = 0; time < 2; time++) expect(textOf(await (await carrier.carry(request())).whole())).toBe('ok')
    expect(connections()).toBe(expected)
  })

  test('that sends bytes while it is idle is not used again', async () => {
    const { origin, connections } = await scripted(plain, plain)
    const { carrier, socket } = watched(origin)
    await (await carrier.carry(request())).whole()
    socket().emit('data', Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))
    expect(textOf(await (await carrier.carry(request())).whole())).toBe('ok')
    expect(connections()).toBe(2)
  })

  test('carries a response that ends with the connection, and fails one that is cut', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        if (bytes.includes('/until')) socket.end('HTTP/1.1 200 OK\r\n\r\nall of it')
        else socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart')
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(async () => {
      server.close()
      await once(server, 'close')
    })
    const carrier = kept(make(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { tls: {} }))
    expect(textOf(await (await carrier.carry(request({ target: '/until' }))).whole())).toBe('all of it')
    const cut = await carrier.carry(request({ target: '/cut' }))
    await expect(cut.whole()).rejects.toThrow('in the middle of its response')
  })

  test('is free for the next request although the last body filled its buffer and is not read yet', async () => {
    const { origin, connections } = await scripted('HTTP/1.1 103 Early Hints\r\n\r\n', plain)
    const { carrier, socket } = watched(origin)
    const first = carrier.carry(request())
    await once(socket(), 'data')
    // One read that fills the buffer and ends the response.
    socket().emit('data', Buffer.from(ok('content-length: 1100000', 'x'.repeat(1_100_000))))
    await first
    expect(textOf(await (await carrier.carry(request())).whole())).toBe('ok')
    expect([(await (await first).whole()).length, connections()]).toEqual([1_100_000, 1])
  })

  test('takes no request of a signal that has aborted', async () => {
    const carrier = kept(make('http://127.0.0.1:1', { tls: {} }))
    await expect(carrier.carry(request({ signal: AbortSignal.abort(new Error('too late')) }))).rejects.toThrow(
      'too late',
    )
  })

  test('takes no request that could end its line', () => {
    const carrier = kept(make('http://127.0.0.1:1', { tls: {} }))
    for (const wrong of [{ target: '/a b' }, { method: 'GET /x HTTP/1.1\r\n' }, { headers: { a: 'b\r\nc: d' } }])
      expect(() => carrier.carry(request(wrong))).toThrow(RangeError)
  })
})
