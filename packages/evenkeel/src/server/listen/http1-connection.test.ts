import { afterEach, assert, describe, expect, test } from 'vitest'
import { deferred } from '#base'
import type { WireResponse } from '#wire'
import { RawClient } from './raw-client.fixture.ts'
import { closeServed, echo, readBody, serve } from './served.fixture.ts'
import { quiet, until } from './turns.fixture.ts'

afterEach(closeServed)

const get = (path = '/', more = ''): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`
const post = (body: string, more = ''): string =>
  `POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`
const text = (body: string): WireResponse => ({ status: 200, headers: {}, body: Buffer.from(body) })

describe('Http1Connection reads', () => {
  test('a request and tells who asked', async () => {
    const { listening, requests } = await serve()
    const client = new RawClient(listening.url).send(
      'GET /a?b=1 HTTP/1.1\r\nHost: localhost\r\nX-One:  1 \r\nx-one: 2\r\n__proto__: p\r\n\r\n',
    )
    await client.until('ok')
    const { method, target, headers, peer, body } = requests[0] ?? assert.fail()
    expect({ method, target, peer, body }).toEqual({
      method: 'GET',
      target: '/a?b=1',
      peer: { address: '127.0.0.1', encrypted: false, onAuthenticated: expect.any(Function) as () => void },
      body: undefined,
    })
    expect(Object.entries(headers)).toEqual([
      ['host', 'localhost'],
      ['x-one', '1, 2'],
      ['__proto__', 'p'],
    ])
    expect(client.text).toBe(
      'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\ncontent-length: 2\r\n\r\nok',
    )
  })

  test('a small body in one piece, however it was split', async () => {
    const { listening, requests } = await serve()
    const client = new RawClient(listening.url)
    const whole = post('hello')
    for (const character of whole) {
      client.send(character)
      await new Promise((resolve) => {
        client.socket.write('', resolve)
      })
    }
    await client.until('hello')
    assert(requests[0]?.body instanceof Uint8Array)
  })

  test('a long body and a chunked one in pieces, and the next request after each', async () => {
    const { listening, requests } = await serve(async (request) => text(`got ${(await readBody(request)).length};`))
    const long = 'x'.repeat(200_000)
    const client = new RawClient(listening.url)
      .send(post(long))
      .send(
        'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\nTrailer: 1\r\n\r\n',
      )
      .send(post('abc'))
    await client.until('got 3;')
    expect(client.text.match(/got \d+;/g)).toEqual(['got 200000;', 'got 11;', 'got 3;'])
    assert(!(requests[0]?.body instanceof Uint8Array))
  })

  test('pipelined requests one by one, and answers them in order', async () => {
    let running = 0
    const gates = [deferred<undefined>(), deferred<undefined>(), deferred<undefined>()]
    const { listening, requests } = await serve(async ({ target }) => {
      expect(++running).toBe(1)
      await gates[Number(target.slice(1))]?.promise
      running--
      return text(`answer ${target};`)
    })
    const client = new RawClient(listening.url).send(get('/0') + get('/1') + get('/2', 'Connection: close\r\n'))
    gates[2]?.resolve(undefined)
    gates[1]?.resolve(undefined)
    gates[0]?.resolve(undefined)
    expect((await client.all()).match(/answer [^;]+;/g)).toEqual(['answer /0;', 'answer /1;', 'answer /2;'])
    expect(requests).toHaveLength(3)
  })

  test('no further than its bound while a request is served', async () => {
    const gate = deferred<undefined>()
    const started = deferred<undefined>()
    const { listening } = await serve(async () => {
      started.resolve(undefined)
      await gate.promise
      return text('x')
    })
    const client = new RawClient(listening.url).send(get())
    await started.promise
    const many = get('/', `X-Fill: ${'f'.repeat(8000)}\r\n`)
    let isTaken = true
    for (let sent = 0; isTaken && sent < 40_000_000; sent += many.length * 32) {
      isTaken = await new Promise<boolean>((resolve) => {
        if (client.socket.write(many.repeat(32))) resolve(true)
        else
          void Promise.race([
            new Promise<boolean>((drained) => {
              client.socket.once('drain', () => {
                drained(true)
              })
            }),
            quiet(),
          ]).then(resolve)
      })
    }
    assert.isFalse(isTaken)
    client.socket.destroy()
    gate.resolve(undefined)
  })

  test('no more of a body than its bound while nobody reads it', async () => {
    const gate = deferred<undefined>()
    const { listening, requests } = await serve(async (request) => {
      await gate.promise
      return text(`got ${(await readBody(request)).length};`)
    })
    const bytes = 30_000_000
    const client = new RawClient(listening.url).send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`)
    client.socket.write(Buffer.alloc(bytes))
    await until(() => requests.length === 1)
    await quiet()
    expect(client.socket.writableLength).toBeGreaterThan(10_000_000)
    gate.resolve(undefined)
    await client.until(`got ${bytes};`)
  })

  test('HTTP/1.0, which closes unless asked to keep', async () => {
    const { listening } = await serve()
    const closing = new RawClient(listening.url).send('GET / HTTP/1.0\r\n\r\n')
    expect(await closing.all()).toMatch(/connection: close\r\n[^]*ok$/)
    const keeping = new RawClient(listening.url).send('GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n'.repeat(2))
    expect(await keeping.until('ok', 2)).toContain('connection: keep-alive\r\n')
  })

  test('an upgrade as if nobody had asked', async () => {
    const { listening } = await serve()
    const client = new RawClient(listening.url).send(get('/', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'))
    expect(await client.until('ok')).toMatch(/^HTTP\/1.1 200 /)
  })
})

describe('Http1Connection and a body that was not sent yet', () => {
  test('is asked for once somebody wants it', async () => {
    const { listening } = await serve()
    const client = new RawClient(listening.url).send(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n',
    )
    expect(await client.until('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    client.send('hello')
    await client.until('hello')
    client.send(get())
    await client.until('ok')
  })

  test('is not asked for by a server that refuses, and the connection closes', async () => {
    const { listening } = await serve(() => Promise.resolve({ status: 401, headers: {} }))
    const client = new RawClient(listening.url).send(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n',
    )
    const all = await client.all()
    expect(all).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/)
    expect(all).toContain('connection: close')
  })

  test('is read away if little is left, otherwise the connection closes', async () => {
    const { listening } = await serve(() => Promise.resolve(text('no;')), { limits: { unreadBodyBytesMax: 10 } })
    const short = new RawClient(listening.url).send(post('x'.repeat(1000)) + get('/', 'Connection: close\r\n'))
    expect((await short.all()).match(/no;/g)).toHaveLength(2)
    const long = new RawClient(listening.url).send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999999\r\n\r\nxxx`)
    expect(await long.all()).toMatch(/connection: close[^]*no;$/)
    const chunked = new RawClient(listening.url).send(
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
    )
    expect(await chunked.all()).toMatch(/connection: close[^]*no;$/)
  })

  test('row 13: is not held before the handler asks for it', async () => {
    const gate = deferred<undefined>()
    const { listening, requests } = await serve(async (request) => {
      await gate.promise
      return text(`read ${(await readBody(request)).length};`)
    })
    const client = new RawClient(listening.url).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n')
    await until(() => requests.length === 1)
    client.socket.write(Buffer.alloc(9_000_000))
    await quiet()
    // Loopback buffers some megabytes; the rest stays with the client.
    expect(client.socket.writableLength).toBeGreaterThan(1_000_000)
    gate.resolve(undefined)
    expect(await client.until('read')).toContain('read 9000000;')
  })

  test('row 13: in chunks of one byte is refused, in small ones accepted', async () => {
    const { listening } = await serve(async (request) =>
      text(await readBody(request).then(({ length }) => `read ${length};`, String)),
    )
    const send = (chunk: string, count: number): RawClient =>
      new RawClient(listening.url).send(
        `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${`${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(count)}0\r\n\r\n`,
      )
    expect(await send('x', 900).until('read')).toContain('read 900;')
    expect(await send('x'.repeat(16), 9000).until('read')).toContain('read 144000;')
    expect(await send('x', 9000).all()).toContain('the chunks are too small')
  })

  test('that is damaged fails for its reader and closes the connection', async () => {
    const { listening } = await serve(async (request) =>
      text(
        await readBody(request).then(
          () => 'read',
          (error: unknown) => `failed: ${(error as Error).message}`,
        ),
      ),
    )
    const client = new RawClient(listening.url).send(
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n${get('/smuggled')}`,
    )
    const all = await client.all()
    expect(all).toContain('failed: a chunk is longer than it said')
    expect(all.match(/HTTP\/1.1/g)).toHaveLength(1)
  })

  test('of which the rest never comes fails for its reader when the client leaves', async () => {
    const failed = deferred<unknown>()
    const { listening, requests } = await serve(async (request) => {
      await readBody(request).catch((error: unknown) => {
        failed.resolve(error)
      })
      return text('x')
    })
    const client = new RawClient(listening.url).send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc')
    await until(() => requests.length === 1)
    client.socket.destroy()
    expect(String(await failed.promise)).toContain('the client went away')
    assert(requests[0]?.signal.aborted)
  })
})

describe('Http1Connection writes', () => {
  const bodies: Record<string, [WireResponse, string]> = {
    nothing: [{ status: 200, headers: {} }, 'content-length: 0\r\n\r\n'],
    'no content': [{ status: 204, headers: {}, body: Buffer.from('x') }, ' GMT\r\n\r\n'],
    pieces: [
      { status: 201, headers: {}, body: [Buffer.from('a'), Buffer.from(''), Buffer.from('b')] },
      'content-length: 2\r\n\r\nab',
    ],
    'its own framing whatever the server says': [
      {
        status: 200,
        headers: { 'content-length': '99', 'transfer-encoding': 'gzip', connection: 'x' },
        body: Buffer.from('a'),
      },
      'content-length: 1\r\n\r\na',
    ],
  }
  for (const [name, [response, expected]] of Object.entries(bodies)) {
    test(name, async () => {
      const { listening } = await serve(() => Promise.resolve(response))
      const client = new RawClient(listening.url).send(get())
      const all = await client.until(expected)
      assert(all.endsWith(expected))
      expect(all).not.toMatch(/99|gzip|: x/)
      client.send(get())
      await client.until(expected, 2)
    })
  }

  test('the head alone for HEAD, with the length that GET would have', async () => {
    const { listening } = await serve(({ target }) =>
      Promise.resolve(
        target === '/stream' ? { status: 200, headers: {}, body: single(Buffer.from('abc')) } : text('hello'),
      ),
    )
    const client = new RawClient(listening.url).send(
      'HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n',
    )
    const all = await client.until('HTTP/1.1 200', 2)
    expect(all).toContain('content-length: 5\r\n\r\nHTTP/1.1')
    assert(all.endsWith('\r\n\r\n'))
  })

  test('a body larger than all buffers', async () => {
    const big = Buffer.alloc(20_000_000, 'z')
    const { listening } = await serve(() =>
      Promise.resolve({ status: 200, headers: {}, body: [Buffer.from('<'), big, Buffer.from('>')] }),
    )
    const client = new RawClient(listening.url).send(get('/', 'Connection: close\r\n'))
    const all = await client.all()
    expect(all.length - all.indexOf('<')).toBe(20_000_002)
  })

  test('the head of a stream at once, then each piece in a chunk, then the end', async () => {
    const pieces = [deferred<Uint8Array>(), deferred<Uint8Array>()]
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(0)
      for (const piece of pieces) yield await piece.promise
    }
    const { listening } = await serve(() => Promise.resolve({ status: 200, headers: {}, body: body() }))
    const client = new RawClient(listening.url).send(get())
    expect(await client.until('\r\n\r\n')).toContain('transfer-encoding: chunked')
    pieces[0]?.resolve(Buffer.from('first'))
    await client.until('5\r\nfirst\r\n')
    pieces[1]?.resolve(Buffer.alloc(20, 'x'))
    await client.until(`14\r\n${'x'.repeat(20)}\r\n0\r\n\r\n`)
    client.send(get())
    await client.until('HTTP/1.1 200', 2)
  })

  test('a stream without chunks for HTTP/1.0, up to the end of the connection', async () => {
    const { listening } = await serve(() =>
      Promise.resolve({ status: 200, headers: {}, body: single(Buffer.from('abc')) }),
    )
    const client = new RawClient(listening.url).send('GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
    const all = await client.all()
    assert(all.endsWith('\r\n\r\nabc'))
    expect(all).toContain('connection: close')
    expect(all).not.toContain('chunked')
  })

  test('no end to a stream that failed', async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield await Promise.resolve(Buffer.from('abc'))
      throw new Error('broken')
    }
    const { listening } = await serve(() => Promise.resolve({ status: 200, headers: {}, body: body() }))
    const all = await new RawClient(listening.url).send(get()).all()
    expect(all).not.toContain('0\r\n\r\n')
  })

  test('no faster than the client reads', async () => {
    let yielded = 0
    async function* body(): AsyncGenerator<Uint8Array> {
      for (; yielded < 4000; yielded++) yield await Promise.resolve(Buffer.alloc(65_536))
    }
    const { listening } = await serve(() => Promise.resolve({ status: 200, headers: {}, body: body() }))
    const client = new RawClient(listening.url)
    client.socket.pause()
    client.send(get())
    await quiet()
    expect(yielded).toBeLessThan(1000)
    client.socket.destroy()
  })

  test('an internal error when the server throws or answers with what is no response', async () => {
    const { listening } = await serve(({ target }) => {
      if (target === '/throws-at-once') throw new Error('at once')
      return target === '/throws'
        ? Promise.reject(new Error('oops'))
        : Promise.resolve({ status: 200, headers: { 'x-bad': 'a\r\nset-cookie: b' } })
    })
    await new RawClient(listening.url).send(get('/throws-at-once')).until('at once')
    const client = new RawClient(listening.url).send(get('/throws'))
    expect(await client.until('oops')).toMatch(/^HTTP\/1.1 500 [^]*"kind":"Status"/)
    expect(await new RawClient(listening.url).send(get('/bad')).all()).not.toContain('set-cookie')
  })

  test('text outside ASCII in a header as UTF-8', async () => {
    const { listening } = await serve(() => Promise.resolve({ status: 200, headers: { warning: '299 - "größe €"' } }))
    const client = new RawClient(listening.url).send(get())
    expect(Buffer.from(await client.until('\r\n\r\n'), 'latin1').toString()).toContain('warning: 299 - "größe €"\r\n')
  })
})

describe('Http1Connection when the client goes', () => {
  test('aborts the signal and leaves the loop over the response', async () => {
    const left = deferred<undefined>()
    const { listening, requests } = await serve(({ signal }) =>
      Promise.resolve({ status: 200, headers: {}, body: endless(signal, left.resolve) }),
    )
    const client = new RawClient(listening.url).send(get())
    await client.until('1\r\nx\r\n')
    assert.isFalse(requests[0]?.signal.aborted)
    client.socket.destroy()
    await left.promise
    assert(requests[0]?.signal.aborted)
  })

  test('tells a response that comes too late that nobody reads it', async () => {
    const [gate, returned] = [deferred<undefined>(), deferred<undefined>()]
    const body: AsyncIterableIterator<Uint8Array> = {
      next: () => Promise.resolve({ done: true, value: undefined }),
      return: () => {
        returned.resolve(undefined)
        return Promise.resolve({ done: true, value: undefined })
      },
      [Symbol.asyncIterator]: () => body,
    }
    const { listening, requests } = await serve(async () => {
      await gate.promise
      return { status: 200, headers: {}, body }
    })
    const client = new RawClient(listening.url).send(get())
    await until(() => requests.length === 1)
    client.socket.destroy()
    await until(() => listening.connections === 0)
    gate.resolve(undefined)
    await returned.promise
    assert(requests[0]?.signal.aborted)
  })

  test('leaves the signal of an answered request alone', async () => {
    const { listening, requests } = await serve(echo)
    const client = new RawClient(listening.url).send(get())
    await client.until('ok')
    const signal = requests[0]?.signal
    client.socket.destroy()
    await until(() => listening.connections === 0)
    assert.isFalse(signal?.aborted)
  })
})

async function* single(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(piece)
}

async function* endless(signal: AbortSignal, onLeft: (value: undefined) => void): AsyncGenerator<Uint8Array> {
  try {
    yield Buffer.from('x')
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve)
    })
  } finally {
    onLeft(undefined)
  }
}
