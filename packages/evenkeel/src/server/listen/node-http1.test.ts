/**
 * HTTP/1.1 by Node's parser: the same answers as by ours, and the differential fuzz of the two.
 */
import { METHODS } from 'node:http'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { makeIdentity } from '../auth/identity.ts'
import { listen } from './listener.ts'
import { RawClient } from './raw-client.fixture.ts'
import { closeServed, echo, readBody, serve } from './served.fixture.ts'
import { until } from './turns.fixture.ts'

afterEach(closeServed)

const node = { http: 'node' } as const
const get = 'GET /a?b=c HTTP/1.1\r\nHost: localhost\r\n\r\n'

describe("listen with http: 'node'", () => {
  test('refuses another word', async () => {
    await expect(listen(echo, { http: 'curl' as 'node' })).rejects.toThrow("http must be 'own' or 'node', got curl")
  })

  test('serves one request after the other on a connection, over TLS too', async () => {
    const { authority, server } = makeIdentity()
    const tls = { key: server.keyPem, cert: server.certificatePem }
    for (const options of [node, { ...node, tls }]) {
      const { listening, requests } = await serve(echo, options)
      const client = new RawClient(listening.url, { ca: authority.certificatePem })
      await client.send(get).until('ok')
      await client.send('POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody').until('body')
      expect(requests.map(({ method, target }) => `${method} ${target}`)).toEqual(['GET /a?b=c', 'POST /b'])
      expect(requests[0]?.peer).toMatchObject({ address: '127.0.0.1', encrypted: 'tls' in options })
      client.socket.destroy()
    }
  })

  test('gives long and chunked bodies in pieces, and asks for them when they are wanted', async () => {
    const { listening } = await serve(
      async (request) => ({ status: 200, headers: {}, body: Buffer.from(`${(await readBody(request)).length} bytes`) }),
      { ...node, limits: { unreadBodyBytesMax: 16 } },
    )
    const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n'
    expect(await new RawClient(listening.url).send(chunked).until('bytes')).toContain('7 bytes')
    const client = new RawClient(listening.url)
    client.send('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 20\r\n\r\n')
    await client.until('100 Continue')
    expect(await client.send('x'.repeat(20)).until('bytes')).toContain('20 bytes')
  })

  test('leaves no listeners behind: neither per request of a connection nor per wait of a stream', async () => {
    const warnings: string[] = []
    const note = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`)
    process.on('warning', note)
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < 15; index++) yield await Promise.resolve(Buffer.alloc(131_072, 'x'))
      yield Buffer.from('the end')
    }
    const { listening } = await serve(
      (request) =>
        request.target === '/long' ? Promise.resolve({ status: 200, headers: {}, body: pieces() }) : echo(request),
      node,
    )
    const client = new RawClient(listening.url)
    for (let index = 0; index < 20; index++)
      await client
        .send(`POST /b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\nbody-${100 + index}`)
        .until(`body-${100 + index}`)
    await client.send('GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n').until('the end')
    process.off('warning', note)
    expect(warnings).toEqual([])
  })

  test('streams a response, and leaves its loop when the client goes', async () => {
    let isLeft = false
    async function* forever(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield Buffer.alloc(65_536)
      } finally {
        isLeft = true
      }
    }
    const { listening, requests } = await serve(
      () => Promise.resolve({ status: 200, headers: {}, body: forever() }),
      node,
    )
    const client = new RawClient(listening.url).send(get)
    await client.until('chunked')
    const signal = requests[0]?.signal
    client.socket.destroy()
    await until(() => isLeft && signal?.aborted === true)
  })

  test.each([
    ['two hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['a proxy request', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ['another expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n', 417],
    ['a head that is too long', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`, 431],
    ['garbage', '\0\0\0\0\r\n\r\n', 400],
  ])('refuses %s and closes', async (_, text, status) => {
    const { listening, requests } = await serve(echo, node)
    expect(await new RawClient(listening.url).send(text).all()).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    expect(requests).toEqual([])
  })

  test('closes an idle connection after its time, and the rest when it stops', async () => {
    const { listening, clock } = await serve(echo, node)
    const client = new RawClient(listening.url)
    await client.send(get).until('ok')
    await clock.advance(95_000)
    await client.closed
    const other = new RawClient(listening.url)
    await other.send(get).until('ok')
    await listening.close()
    await other.closed
  })
})

/** The requests that a server accepted, in order, before it refused or the bytes ended. What is missing was rejected. */
async function understood(http: 'own' | 'node', bytes: Buffer): Promise<readonly string[]> {
  const requests: string[] = []
  const { listening } = await serve(
    async (request) => {
      const headers = Object.entries(request.headers).sort(([a], [b]) => (a < b ? -1 : 1))
      // A body that breaks off reaches the handler as an error: then it is no request.
      const body = (await readBody(request)).toString('latin1')
      requests.push(JSON.stringify([request.method, request.target, headers, body]))
      return { status: 200, headers: {}, body: Buffer.from('ok') }
    },
    { http },
  )
  const client = new RawClient(listening.url)
  client.socket.end(bytes)
  await client.all()
  return requests
}

const header = fc.oneof(
  fc.constantFrom(
    'Host: a',
    'host:a',
    'Host: a:1',
    'Content-Length: 5',
    'Content-Length: 05',
    'Content-Length: +5',
    'Content-Length: 5, 5',
    'Content-Length: 0x5',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: Chunked',
    'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding : chunked',
    'Connection: close',
    'Connection: keep-alive',
    'Authorization: Bearer x',
    'Impersonate-Group: a, b',
    'X-Folded: a\r\n b',
    ' X-Leading: a',
    'X-Blank : a',
    'X-Empty:',
    'X-Tab:\ta\t',
    'X-High: \u00e4',
    'X-Nul: \0',
    'X-Cr: a\rb',
    'X-Lf: a\nb',
    'NoColon',
    ': no name',
    'X-(: a',
  ),
  fc
    .tuple(fc.constantFrom('X-A', 'x-b', 'Accept'), fc.stringMatching(/^[ -~]{0,12}$/))
    .map(([name, value]) => `${name}: ${value}`),
)
const line = fc.constantFrom(
  'GET / HTTP/1.1',
  'POST /a?b HTTP/1.1',
  'DELETE /a HTTP/1.0',
  'GET http://b/c HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'GET  / HTTP/1.1',
  'GET / HTTP/1.2',
  'GET / HTTP/2.0',
  'GET / http/1.1',
  'GET /a b HTTP/1.1',
  'get / HTTP/1.1',
  'GET /\t HTTP/1.1',
  'GET #a HTTP/1.1',
  'GET /%zz HTTP/1.1',
)
const bodies = fc.constantFrom(
  '',
  'small',
  '5\r\nhello\r\n0\r\n\r\n',
  '5\r\nhello\r\n0\r\nT: 1\r\n\r\n',
  '5;x=y\r\nhello\r\n0\r\n\r\n',
  '5 \r\nhello\r\n0\r\n\r\n',
  '0x5\r\nhello\r\n0\r\n\r\n',
  '-5\r\nhello\r\n0\r\n\r\n',
  '5\nhello\n0\n\n',
  '5\r\nhelloX\r\n0\r\n\r\n',
  'FFFFFFFFFFFFFFFFF\r\nx',
)
const messages = fc
  .tuple(
    line,
    fc.constantFrom('X-Z: z', 'Transfer-Encoding: chunked', 'Content-Length: 5'),
    fc.array(header, { maxLength: 3 }),
    bodies,
  )
  .map(([first, coding, headers, body]) => `${[first, 'Host: a', coding, ...headers].join('\r\n')}\r\n\r\n${body}`)

/** Where the two parsers differ on purpose: a sample, the messages that the comparison leaves out, and who accepts it. */
const differences: readonly (readonly [about: string, sample: string, pattern: RegExp, acceptedBy: 'own' | 'node'])[] =
  [['two blanks in the request line', 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n', /^\w+ {2}/m, 'node']]

test.for(differences)('known difference: %s', async ([, sample, , acceptedBy]) => {
  const bytes = Buffer.from(sample, 'latin1')
  expect([(await understood('own', bytes)).length, (await understood('node', bytes)).length]).toEqual(
    acceptedBy === 'own' ? [1, 0] : [0, 1],
  )
})

/** Up to the first request with a method that Node does not know: where a body is cut short, `DELETE` may become `E`. */
function knownMethods(requests: readonly string[]): readonly string[] {
  const index = requests.findIndex((request) => !METHODS.includes((JSON.parse(request) as string[])[0] ?? ''))
  return index < 0 ? requests : requests.slice(0, index)
}

test(
  'our parser and that of Node accept the same requests and reject the same, but for known differences',
  { timeout: 60_000 },
  async () => {
    let compared = 0
    await fc.assert(
      fc.asyncProperty(fc.array(messages, { minLength: 1, maxLength: 2 }), async (texts) => {
        const text = texts.join('')
        if (differences.some(([, , pattern]) => pattern.test(text))) return
        compared++
        const bytes = Buffer.from(text, 'latin1')
        const [own, theirs] = [knownMethods(await understood('own', bytes)), await understood('node', bytes)]
        await closeServed()
        expect(own, JSON.stringify(text)).toEqual(theirs)
      }),
      // The same messages every time: what another seed finds becomes a case above.
      { numRuns: Number(process.env['FUZZ_RUNS'] ?? 600), seed: Number(process.env['FUZZ_SEED'] ?? 1) },
    )
    expect(compared).toBeGreaterThan(100)
  },
)
