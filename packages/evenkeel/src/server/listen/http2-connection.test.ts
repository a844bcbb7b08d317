import { once } from 'node:events'
import {
  connect,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterEach, assert, describe, expect, test } from 'vitest'
import { deferred, SystemClock } from '#base'
import type { Transport } from '#wire'
import { makeIdentity } from '../auth/identity.ts'
import type { ListenLimits } from './connection.ts'
import { RawClient } from './raw-client.fixture.ts'
import { closeServed, echo, readBody, serve as serveAny, type Served } from './served.fixture.ts'
import { quiet, turn, until } from './turns.fixture.ts'

const { authority, server } = makeIdentity()
const ca = authority.certificatePem
const sessions: ClientHttp2Session[] = []
/** What a client of HTTP/2 begins with: its preface, and settings that change nothing. */
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
])

/** A GET without a body, and its cancellation. */
const head = Buffer.concat([Buffer.from([0x82, 0x87, 0x84, 0x41, 9]), Buffer.from('localhost')])
const bytesOf = (stream: number): number[] => [0, (stream >> 16) & 0xff, (stream >> 8) & 0xff, stream & 0xff]
const getFrame = (stream: number): Buffer =>
  Buffer.concat([Buffer.from([0, 0, head.length, 1, 5, ...bytesOf(stream)]), head])
const resetFrame = (stream: number): Buffer => Buffer.from([0, 0, 4, 3, 0, ...bytesOf(stream), 0, 0, 0, 8])
/** The codes of the GOAWAY frames in a text: 8 bytes of type 7, for stream 0; the code follows the last stream. */
const goawayHead = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0]).toString('latin1')
const goawayCodes = (text: string): number[] =>
  text
    .split(goawayHead)
    .slice(1)
    .map((rest) => rest.charCodeAt(7))
/** The number of the event loop's turn. */
const clock = new SystemClock()
function countTurns(): { readonly number: number; stop(): void } {
  let number = 0
  let isOver = false
  const next = (): void => {
    number++
    if (!isOver) clock.soon(next)
  }
  next()
  return {
    get number() {
      return number
    },
    stop: () => {
      isOver = true
    },
  }
}

afterEach(async () => {
  for (const session of sessions.splice(0)) session.destroy()
  await closeServed()
})

interface Opened extends Served {
  readonly session: ClientHttp2Session
}

async function serve(answer?: Transport, limits: Partial<ListenLimits> = {}): Promise<Opened> {
  const served = await serveAny(answer, { tls: { key: server.keyPem, cert: server.certificatePem }, limits })
  return { ...served, session: open(served) }
}

function open({ listening }: Served): ClientHttp2Session {
  const session = connect(listening.url, { ca })
  session.on('error', () => undefined)
  sessions.push(session)
  return session
}

interface Answer {
  readonly headers: Record<string, unknown>
  readonly text: string
}

function read(stream: ClientHttp2Stream): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let headers: Record<string, unknown> = {}
    let text = ''
    stream.on('response', (received) => {
      headers = received
    })
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    stream.on('end', () => {
      if (stream.rstCode === 0) resolve({ headers, text })
    })
    stream.on('error', reject)
    stream.on('close', () => {
      reject(new Error(`reset with ${stream.rstCode} after ${JSON.stringify(text.slice(0, 50))}`))
    })
  })
}

const ask = (session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string): Promise<Answer> => {
  const stream = session.request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  return read(stream)
}

describe('Http2Connection', () => {
  test('turns a request into the form that both versions share', async () => {
    const { session, requests, listening } = await serve()
    const { headers, text } = await ask(session, { ':path': '/a?b', 'X-One': '1', cookie: ['a', 'b'] })
    const { method, target, headers: received, body } = requests[0] ?? assert.fail()
    expect({ method, target, body }).toEqual({ method: 'GET', target: '/a?b', body: undefined })
    expect({ ...received }).toEqual({ host: `127.0.0.1:${listening.port}`, 'x-one': '1', cookie: 'a; b' })
    expect(received['constructor']).toBeUndefined()
    expect({ ...headers }).toMatchObject({
      ':status': 200,
      date: 'Thu, 01 Jan 2026 00:00:00 GMT',
      'content-length': '2',
    })
    expect(text).toBe('ok')
  })

  test('gives bodies of known and unknown length', async () => {
    const { session } = await serve()
    expect((await ask(session, { ':method': 'POST', 'content-length': 5 }, 'hello')).text).toBe('hello')
    expect((await ask(session, { ':method': 'POST' }, 'hello')).text).toBe('hello')
    const long = 'x'.repeat(300_000)
    expect((await ask(session, { ':method': 'POST', 'content-length': long.length }, long)).text).toBe(long)
  })

  test('answers with pieces, nothing, or the head alone', async () => {
    const { session } = await serve(({ target }) =>
      Promise.resolve(
        {
          '/pieces': { status: 201, headers: { connection: 'x' }, body: [Buffer.from('a'), Buffer.from('b')] },
          '/none': { status: 200, headers: {} },
          '/no-content': { status: 204, headers: {}, body: Buffer.from('x') },
          '/big': { status: 200, headers: {}, body: Buffer.alloc(5_000_000, 'z') },
        }[target] ?? assert.fail(),
      ),
    )
    const pieces = await ask(session, { ':path': '/pieces' })
    expect(pieces.text).toBe('ab')
    expect(pieces.headers['connection']).toBeUndefined()
    expect((await ask(session, { ':path': '/none' })).headers['content-length']).toBe('0')
    const noContent = await ask(session, { ':path': '/no-content' })
    expect([noContent.text, noContent.headers['content-length']]).toEqual(['', undefined])
    const head = await ask(session, { ':path': '/pieces', ':method': 'HEAD' })
    expect([head.text, head.headers['content-length']]).toEqual(['', '2'])
    expect((await ask(session, { ':path': '/big' })).text).toHaveLength(5_000_000)
  })

  test('streams each piece as it comes, and ends', async () => {
    const pieces = [deferred<Uint8Array>(), deferred<Uint8Array>()]
    async function* body(): AsyncGenerator<Uint8Array> {
      for (const piece of pieces) yield await piece.promise
    }
    const { session } = await serve(() => Promise.resolve({ status: 200, headers: {}, body: body() }))
    const stream = session.request({})
    await once(stream, 'response')
    pieces[0]?.resolve(Buffer.from('first'))
    expect(String(((await once(stream, 'data')) as [Buffer])[0])).toBe('first')
    pieces[1]?.resolve(Buffer.from('second'))
    expect(String(((await once(stream, 'data')) as [Buffer])[0])).toBe('second')
    await once(stream, 'end')
  })

  test('resets a stream that failed, after what came before', async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.alloc(1000, 'a'))
      throw new Error('broken')
    }
    const { session } = await serve(() => Promise.resolve({ status: 200, headers: {}, body: body() }))
    await expect(ask(session, {})).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    await expect(ask(session, {})).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    expect(session.closed).toBe(false)
  })

  test('resets a stream whose response is none, and leaves its body', async () => {
    let isLeft = false
    const body: AsyncIterableIterator<Uint8Array> = {
      next: () => Promise.resolve({ done: true, value: undefined }),
      return: () => {
        isLeft = true
        return Promise.resolve({ done: true, value: undefined })
      },
      [Symbol.asyncIterator]: () => body,
    }
    const { session } = await serve(() => Promise.resolve({ status: 200, headers: { x: 'a\nb' }, body }))
    await expect(ask(session, {})).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    assert(isLeft)
  })

  test('answers 500 when the server throws, 400 when host and authority differ', async () => {
    const { session, requests } = await serve(() => Promise.reject(new Error('oops')))
    expect((await ask(session, {})).headers[':status']).toBe(500)
    expect((await ask(session, { ':authority': 'a', host: 'b' })).headers[':status']).toBe(400)
    expect(
      (await ask(session, { ':path': 'x' }).catch(() => ({ headers: { ':status': 400 } }))).headers[':status'],
    ).toBe(400)
    expect((await ask(session, { ':path': '/#x' })).headers[':status']).toBe(400)
    expect(requests).toHaveLength(1)
  })

  test('row 13: holds no more of a body than its bound while nobody reads it, and others go on', async () => {
    const gate = deferred<undefined>()
    const { session } = await serve(async (request) => {
      if (request.method === 'GET') return echo(request)
      await gate.promise
      const got = await readBody(request).then(({ length }) => length, String)
      return { status: 200, headers: {}, body: Buffer.from(`got ${got}`) }
    })
    const [large, small] = [10_000_000, 500_000].map((length) => {
      const stream = session.request({ ':method': 'POST' })
      stream.end(Buffer.alloc(length))
      return stream
    })
    await quiet()
    expect((await ask(session, {})).text).toBe('ok')
    gate.resolve(undefined)
    assert(large && small)
    expect((await read(large)).text).toContain('holds too many bytes of requests that are not read yet')
    expect((await read(small)).text).toBe('got 500000')
  })

  test('row 13: holds a quarter of all unread bytes for one user, however many connections it has', async () => {
    const gate = deferred<undefined>()
    const answer: Transport = async (request) => {
      request.peer?.onAuthenticated?.(request.headers['x-user'] ?? '')
      await gate.promise
      const got = await readBody(request).then(({ length }) => length, String)
      return { status: 200, headers: {}, body: Buffer.from(`got ${got}`) }
    }
    const served = await serve(answer, { unreadBytesMax: 200_000, unreadBytesPerConnectionMax: 40_000 })
    const streams = ['ada', 'ada', 'bob'].map((user) => {
      const stream = open(served).request({ ':method': 'POST', 'x-user': user })
      stream.on('response', () => undefined)
      return stream
    })
    await until(() => served.requests.length === 3)
    for (const stream of streams) stream.end(Buffer.alloc(30_000))
    await quiet()
    gate.resolve(undefined)
    const texts = (await Promise.all(streams.map(read))).map(({ text }) => text)
    const refused = 'got ApiError: the server holds too many bytes of requests that are not read yet'
    expect([texts.slice(0, 2).toSorted(), texts[2]]).toEqual([['got 30000', refused], 'got 30000'])
  })

  test('row 19: disconnects a client that sends a body in tiny frames, whether anybody reads it or not', async () => {
    for (const answer of [echo, () => new Promise<never>(() => undefined)]) {
      const { session } = await serve(answer)
      const closed = new Promise((resolve) => session.on('error', () => undefined).on('close', resolve))
      const stream = session.request({ ':method': 'POST', 'content-length': 60_000 })
      stream.on('error', () => undefined)
      let sent = 0
      for (; sent < 60_000 && !session.destroyed; sent++)
        await new Promise((resolve) => {
          stream.write('x', resolve)
        })
      expect(sent).toBeLessThan(20_000)
      await closed
    }
  })

  test('takes a large body of ordinary frames, with the tiny ones between them', async () => {
    const { session } = await serve(async (request) => ({
      status: 200,
      headers: {},
      body: Buffer.from(String((await readBody(request)).length)),
    }))
    const stream = session.request({ ':method': 'POST' })
    const answer = read(stream)
    for (let piece = 0; piece < 1400; piece++)
      await new Promise((resolve) => {
        stream.write(Buffer.alloc(piece % 2 === 0 ? 2000 : 10), resolve)
      })
    stream.end()
    expect((await answer).text).toBe('1407000')
  })

  test('answers before the body is there, and tells the client to stop', async () => {
    const { session } = await serve(() => Promise.resolve({ status: 413, headers: {}, body: Buffer.from('no') }))
    const stream = session.request({ ':method': 'POST' })
    stream.write('x')
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    expect(headers[':status']).toBe(413)
    stream.resume()
    await once(stream, 'close')
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
  })
})

describe('Http2Connection when the client goes', () => {
  const watching =
    (left: (value: undefined) => void): Transport =>
    ({ signal }) =>
      Promise.resolve({ status: 200, headers: {}, body: untilAborted(signal, left) })

  test('aborts the signal of a cancelled request and leaves its loop; others go on', async () => {
    const left = deferred<undefined>()
    const { session, requests } = await serve(watching(left.resolve))
    const [one, two] = [session.request({}), session.request({})]
    await Promise.all([once(one, 'data'), once(two, 'data')])
    one.close(constants.NGHTTP2_CANCEL)
    await left.promise
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false])
  })

  test('aborts all when the connection is lost', async () => {
    const { session, requests, listening } = await serve(watching(() => undefined))
    const streams = [session.request({}), session.request({})]
    for (const stream of streams) stream.on('error', () => undefined)
    await Promise.all(streams.map((stream) => once(stream, 'data')))
    session.destroy()
    await until(() => requests.every(({ signal }) => signal.aborted))
    await until(() => listening.connections === 0)
  })

  test('stays whole while many streams with unsent data are cut, cancelled and finished at once', async () => {
    let served = 0
    const { session, requests } = await serve(
      ({ signal }) => Promise.resolve({ status: 200, headers: {}, body: bursts(served++, signal) }),
      { nuisancesMax: 100_000 },
    )
    for (let round = 0; round < 30; round++) {
      const streams = Array.from({ length: 40 }, () => session.request({}))
      for (const [index, stream] of streams.entries()) {
        stream.on('error', () => undefined)
        if (index % 3 === 0)
          stream.once('response', () => {
            stream.close(constants.NGHTTP2_CANCEL)
          })
        else if (index % 3 === 1) stream.resume()
        else
          stream.once('data', () => {
            stream.close(constants.NGHTTP2_CANCEL)
          })
      }
      await Promise.all(
        streams.map((stream) =>
          stream.closed
            ? Promise.resolve()
            : new Promise<void>((resolve) => {
                stream.once('close', resolve)
              }),
        ),
      )
    }
    expect(requests.length).toBe(1200)
    expect(session.closed).toBe(false)
  })
})

describe('Http2Connection limits', () => {
  test('tells how many requests it takes at a time', async () => {
    const { session } = await serve()
    const [settings] = (await once(session, 'remoteSettings')) as [
      { maxConcurrentStreams?: number; maxHeaderListSize?: number },
    ]
    expect(settings).toMatchObject({ maxConcurrentStreams: 250, maxHeaderListSize: 65_536 })
  })

  test('row 19: disconnects who opens and cancels requests over and over', async () => {
    const { session, listening, requests } = await serve(() => new Promise(() => undefined), { nuisancesMax: 50 })
    let calm: number | undefined
    session.on('goaway', (code) => {
      calm = code
    })
    for (let count = 1; count < 100 && !session.closed && !session.destroyed; count++) {
      const stream = session.request({})
      stream.on('error', () => undefined)
      await until(() => requests.length === count || session.destroyed)
      stream.close(constants.NGHTTP2_CANCEL)
    }
    expect(requests.length).toBeLessThan(60)
    expect(calm).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    await until(() => listening.connections === 0)
  })

  test('row 19: survives requests that are cancelled in the same read, and disconnects their client', async () => {
    const { listening, requests } = await serve(() => new Promise(() => undefined), { nuisancesMax: 50 })
    const client = new RawClient(listening.url, { ca, alpn: ['h2'] })
    await once(client.socket, 'secureConnect')
    const frames = Array.from({ length: 120 }, (_, index) => 2 * index + 1).flatMap((id) => [
      getFrame(id),
      resetFrame(id),
    ])
    client.socket.write(Buffer.concat([preface, ...frames]))
    await client.closed
    expect(goawayCodes(client.text)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    expect(requests.length).toBeLessThan(60)
    await until(() => listening.connections === 1)
  })

  test.each([
    ['all at once', 3000],
    ['fifty at a time', 50],
    ['one at a time', 1],
  ])('row 19: with the default limits a client that cancels requests learns why: %s', async (_, step) => {
    const { listening, requests } = await serve(() => new Promise(() => undefined))
    const client = new RawClient(listening.url, { ca, alpn: ['h2'] })
    await once(client.socket, 'secureConnect')
    client.socket.write(preface)
    for (let sent = 0; sent < 3000 && goawayCodes(client.text).length === 0; sent += step) {
      const ids = Array.from({ length: step }, (_each, index) => 2 * (sent + index) + 1)
      client.socket.write(Buffer.concat(ids.flatMap((id) => [getFrame(id), resetFrame(id)])))
      await turn()
      await turn()
    }
    await client.closed
    expect(goawayCodes(client.text)[0]).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    expect(requests.length).toBeLessThan(600)
  })

  test('row 19: begins a few requests of a connection in each turn, in their order', async () => {
    const turns = countTurns()
    const began: number[] = []
    const { listening } = await serve(() => {
      began.push(turns.number)
      return Promise.resolve({ status: 204, headers: {} })
    })
    const client = new RawClient(listening.url, { ca, alpn: ['h2'] })
    await once(client.socket, 'secureConnect')
    client.socket.write(Buffer.concat([preface, ...Array.from({ length: 100 }, (_, index) => getFrame(2 * index + 1))]))
    await until(() => began.length === 100)
    turns.stop()
    const inTurn = [...new Set(began)].map((number) => began.filter((other) => other === number).length)
    expect(Math.max(...inTurn)).toBeLessThanOrEqual(16)
  })

  test('row 19: disconnects who pings without end', async () => {
    const { session } = await serve(undefined, { nuisancesMax: 50 })
    await ask(session, {})
    for (let turns = 0; turns < 3000 && !session.closed && !session.destroyed; turns++) {
      session.ping(() => undefined)
      await turn()
    }
    expect(session.closed || session.destroyed).toBe(true)
  })

  test.each([
    ['no preface', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    [
      'a frame of no kind that is far too long',
      Buffer.concat([preface, Buffer.from([0xff, 0xff, 0xff, 0xee, 0xff, 0, 0, 0, 0]), Buffer.alloc(1000)]),
    ],
    [
      'a head that cannot be unpacked',
      Buffer.concat([preface, Buffer.from([0, 0, 4, 1, 5, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff])]),
    ],
    [
      'a window that overflows',
      Buffer.concat([preface, Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff])]),
    ],
    ['data on a stream that there is not', Buffer.concat([preface, Buffer.from([0, 0, 1, 0, 0, 0, 0, 0, 9, 0])])],
  ])('row 19: disconnects who sends %s, at the latest when it asks nothing else, and goes on', async (_, bytes) => {
    const { session, listening, clock } = await serve()
    await ask(session, {})
    const client = new RawClient(listening.url, { ca, alpn: ['h2'] })
    await once(client.socket, 'secureConnect')
    client.socket.write(bytes)
    await quiet()
    await clock.advance(80_000)
    await ask(session, {})
    await clock.advance(15_000)
    expect(await Promise.race([client.closed.then(() => 'closed'), quiet()])).toBe('closed')
    expect((await ask(session, {})).text).toBe('ok')
  })

  test('row 19: outlives connections that are reset, in the middle of anything', async () => {
    const { listening, session, clock } = await serve()
    await ask(session, {})
    for (let index = 0; index < 12; index++) {
      const socket = connectTcp({ host: '127.0.0.1', port: listening.port })
      const secured = connectTls({ socket, ca, servername: 'localhost', ALPNProtocols: ['h2'] })
      secured.on('error', () => undefined)
      if (index % 4 > 0) await once(secured, 'secureConnect')
      if (index % 4 > 1) secured.write(preface)
      if (index % 4 > 2) await once(secured, 'data')
      for (let turns = index; turns > 0; turns--) await turn()
      socket.resetAndDestroy()
    }
    await until(() => listening.connections === 1)
    await clock.advance(1000)
    expect((await ask(session, {})).text).toBe('ok')
  })

  test('row 18: refuses a head with too many fields', async () => {
    const { session } = await serve(undefined, { headFieldsMax: 20 })
    await expect(
      ask(session, Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`x-${index}`, '1']))),
    ).rejects.toThrow()
    expect((await ask(session, {})).text).toBe('ok')
  })

  test('gives up a body that stops and a response that nobody takes', async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      for (;;) yield await Promise.resolve(Buffer.alloc(65_536))
    }
    const { session, clock, requests } = await serve((request) =>
      request.method === 'GET' ? Promise.resolve({ status: 200, headers: {}, body: body() }) : echo(request),
    )
    const stopped = session.request({ ':method': 'POST', 'content-length': 10 })
    stopped.write('abc')
    const answer = once(stopped, 'response')
    const untaken = session.request({})
    untaken.on('error', () => undefined)
    untaken.pause()
    await until(() => requests.length === 2)
    await quiet()
    await clock.advance(31_000)
    expect(((await answer) as [Record<string, unknown>])[0][':status']).toBe(500)
    await clock.advance(31_000)
    await until(() => requests[1]?.signal.aborted === true)
    expect((await ask(session, { ':method': 'POST', 'content-length': 1 }, 'x')).text).toBe('x')
  })

  test('closes a connection that asks nothing', async () => {
    const { session, clock, listening } = await serve()
    await ask(session, {})
    await quiet()
    await clock.advance(95_000)
    await until(() => session.closed)
    await until(() => listening.connections === 0)
    expect(clock.pending).toBe(0)
  })
})

describe('Listening.close with HTTP/2', () => {
  test('sends GOAWAY, waits for requests under way, and leaves nothing', async () => {
    const gate = deferred<undefined>()
    const { session, clock, listening, requests } = await serve(async (request) => {
      await gate.promise
      return echo(request)
    })
    const answer = ask(session, {})
    await until(() => requests.length === 1)
    const goaway = once(session, 'goaway')
    const closed = listening.close({ graceMs: 60_000 })
    expect((await goaway)[0]).toBe(constants.NGHTTP2_NO_ERROR)
    gate.resolve(undefined)
    expect((await answer).text).toBe('ok')
    await closed
    expect([listening.connections, clock.pending]).toEqual([0, 0])
  })

  test('cuts off what does not end in time', async () => {
    const { session, clock, listening, requests } = await serve(({ signal }) =>
      Promise.resolve({ status: 200, headers: {}, body: untilAborted(signal, () => undefined) }),
    )
    const stream = session.request({})
    stream.on('error', () => undefined)
    await once(stream, 'data')
    const closed = listening.close({ graceMs: 5_000 })
    await clock.advance(5_000)
    await closed
    await until(() => requests[0]?.signal.aborted === true)
    expect(clock.pending).toBe(0)
  })
})

test('Http2Connection carries thousands of watches over several connections', async () => {
  const goOn = deferred<undefined>()
  const piece = Buffer.from('event')
  async function* body(): AsyncGenerator<Uint8Array> {
    await goOn.promise
    yield piece
  }
  const served = await serve(() => Promise.resolve({ status: 200, headers: {}, body: body() }))
  const connections = [served.session, ...Array.from({ length: 7 }, () => open(served))]
  const answers = connections.flatMap((session) => Array.from({ length: 250 }, () => ask(session, {})))
  await until(() => served.requests.length === 2000)
  goOn.resolve(undefined)
  expect(new Set((await Promise.all(answers)).map(({ text }) => text))).toEqual(new Set(['event']))
})

async function* untilAborted(signal: AbortSignal, onLeft: (value: undefined) => void): AsyncGenerator<Uint8Array> {
  try {
    yield Buffer.from('x')
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
    })
  } finally {
    onLeft(undefined)
  }
}

/** Much at once, then the end or a failure. */
async function* bursts(index: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < index % 7; piece++) {
    if (signal.aborted) return
    yield await Promise.resolve(Buffer.alloc(index % 2 === 0 ? 100 : 40_000))
  }
  if (index % 5 === 0) throw new Error('cut')
}
