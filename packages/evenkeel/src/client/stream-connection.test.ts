import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { nextTurn, SystemClock } from '#base'
import type { WireRequest } from '#wire'
import { readBody, textOf } from './rest-client.ts'
import { authority, startHttps } from './transport.fixture.ts'
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

/** A server that says what it is told to, whatever it is asked. */
async function say(answer: string): Promise<string> {
  const server = createServer((socket) =>
    socket
      .on('error', () => undefined)
      .once('data', () => {
        socket.end(answer, 'latin1')
      }),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(async () => {
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function open(options: HttpOptions): HttpConnection {
  const connection = httpTransport({ tls: { caPem: authority.certificatePem }, ...options })
  cleanups.push(() => connection.close())
  return connection
}

const watch = (more: Partial<WireRequest> = {}): WireRequest => ({
  method: 'GET',
  target: '/x?watch=true',
  headers: {},
  signal: new AbortController().signal,
  borrowsChunks: true,
  ...more,
})
const piecesOf = (body: unknown): AsyncIterator<Uint8Array> =>
  (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
const asText = ({ value }: IteratorResult<Uint8Array>): string => textOf(value as Uint8Array)

describe('httpTransport, when the reader borrows pieces', () => {
  test("carries the path below the server's and headers, repeated ones one by one", async () => {
    const server = await serve((incoming: IncomingMessage, response: ServerResponse) => {
      response.end(
        JSON.stringify({
          url: incoming.url,
          headers: incoming.headers,
          groups: incoming.headersDistinct['impersonate-group'],
        }),
      )
    })
    const { transport } = open({ server: `${server}/k8s/one/`, headers: { 'impersonate-group': ['a, b', 'c'] } })
    const { status, body } = await transport(watch({ headers: { 'x-own': 'yes' } }))
    expect(status).toBe(200)
    expect(JSON.parse(asText(await piecesOf(body).next()))).toMatchObject({
      url: '/k8s/one/x?watch=true',
      groups: ['a, b', 'c'],
      headers: { 'x-own': 'yes', host: new URL(server).host },
    })
  })

  test('comes piece by piece, ends cleanly, or by the signal', async () => {
    let go = (): void => undefined
    const server = await serve((incoming, response) => {
      response.write('one\n')
      if (incoming.url?.includes('end')) go = () => response.end('two\n')
    })
    const { transport } = open({ server })
    const ending = piecesOf((await transport(watch({ target: '/end?watch=true' }))).body)
    expect(asText(await ending.next())).toBe('one\n')
    go()
    expect(asText(await ending.next())).toBe('two\n')
    expect((await ending.next()).done).toBe(true)

    const stop = new AbortController()
    const going = piecesOf((await transport(watch({ signal: stop.signal }))).body)
    expect(asText(await going.next())).toBe('one\n')
    const next = going.next()
    stop.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
    await expect(transport(watch({ signal: stop.signal }))).rejects.toThrow('enough')
  })

  test('all of much comes in order, however slow the reader is', async () => {
    const lines = Array.from({ length: 3000 }, (_, index) => `${index} ${'x'.repeat(1000)}\n`)
    const server = await serve((_, response) => {
      for (const line of lines) response.write(line)
      response.end()
    })
    const { body } = await open({ server }).transport(watch())
    let text = ''
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      await nextTurn(new SystemClock())
      text += textOf(piece)
    }
    expect(text === lines.join('')).toBe(true)
  })

  test('a refusal is read in whole', async () => {
    const server = await serve((_, response) => {
      response.writeHead(410)
      for (const part of ['a', 'b', 'c']) response.write(part.repeat(50_000))
      response.end()
    })
    const { status, body } = await open({ server }).transport(watch())
    expect([status, textOf(await readBody(body, 1_000_000))]).toEqual([
      410,
      `${'a'.repeat(50_000)}${'b'.repeat(50_000)}${'c'.repeat(50_000)}`,
    ])
  })

  test('a connection that is cut before and during the response is a reset', async () => {
    const server = await serve((incoming, response) => {
      if (!incoming.url?.includes('half')) return incoming.socket.destroy()
      response.write('half', () => incoming.socket.destroy())
      return undefined
    })
    const { transport } = open({ server })
    await expect(transport(watch())).rejects.toMatchObject({ problem: 'reset', address: server })
    const pieces = piecesOf((await transport(watch({ target: '/half?watch=true' }))).body)
    expect(asText(await pieces.next())).toBe('half')
    await expect(pieces.next()).rejects.toMatchObject({ problem: 'reset' })
    await expect(open({ server: await say('no HTTP\r\n\r\n') }).transport(watch())).rejects.toMatchObject({
      problem: 'reset',
      message: expect.stringContaining('not HTTP/1.1') as string,
    })
  })

  test('no byte goes to a server whose certificate is not trusted, and why is told', async () => {
    let asked = 0
    const server = await serve(
      (_, response) => {
        asked++
        response.end()
      },
      { names: ['api.example.com'] },
    )
    await expect(open({ server, tls: {} }).transport(watch())).rejects.toMatchObject({
      problem: 'certificate',
      message: expect.stringContaining('unknown authority') as string,
    })
    await expect(open({ server }).transport(watch())).rejects.toThrow('is for another name')
    await expect(
      open({
        server: await serve(
          () => {
            asked++
          },
          { isExpired: true },
        ),
      }).transport(watch()),
    ).rejects.toThrow('has expired')
    expect(asked).toBe(0)
    expect(
      (
        await open({ server, tls: { caPem: authority.certificatePem, serverName: 'api.example.com' } }).transport(
          watch(),
        )
      ).status,
    ).toBe(200)
    expect((await open({ server, tls: { insecureSkipVerify: true } }).transport(watch())).status).toBe(200)
  })

  test('nobody there, no answer to connecting, and nonsense in the request are told', async () => {
    await expect(open({ server: 'http://127.0.0.1:1' }).transport(watch())).rejects.toMatchObject({
      problem: 'refused',
    })
    // It takes the connection and never speaks TLS.
    const silent = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    cleanups.push(async () => {
      silent.close()
      await once(silent, 'close')
    })
    await expect(
      open({ server: `https://127.0.0.1:${(silent.address() as AddressInfo).port}`, connectTimeoutMs: 20 }).transport(
        watch(),
      ),
    ).rejects.toMatchObject({ problem: 'connect', message: expect.stringContaining('no answer') as string })
    const { transport } = open({ server: await say('') })
    for (const wrong of [{ headers: { a: 'b\r\nc: d' } }, { headers: { 'a b': 'c' } }, { target: '/x y?watch=true' }])
      await expect(transport(watch(wrong))).rejects.toThrow(RangeError)
  })

  test('close cuts streams off, and who leaves lets go of the connection', async () => {
    const gone: Promise<unknown>[] = []
    const server = await serve((incoming, response) => {
      response.write('one')
      gone.push(
        new Promise((resolve) => {
          incoming.socket.once('close', resolve)
        }),
      )
    })
    const connection = open({ server })
    const left = piecesOf((await connection.transport(watch())).body)
    await left.next()
    await left.return?.()
    const cut = piecesOf((await connection.transport(watch())).body)
    await cut.next()
    await connection.close()
    await expect(cut.next()).rejects.toMatchObject({
      problem: 'reset',
      message: expect.stringContaining('closed by its owner') as string,
    })
    expect(await Promise.all(gone)).toHaveLength(2)
  })
})
