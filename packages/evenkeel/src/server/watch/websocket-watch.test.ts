import { connect } from 'node:net'
import { once } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import { TestServer } from '../client.fixture.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const handshake = (authorization: string): string =>
  `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${authorization}\r\n`
const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.server.stop({ graceMs: 0 })
})

async function serve(http: 'own' | 'node' = 'own'): Promise<{ server: TestServer; port: number; token: string }> {
  const server = await TestServer.start({ listen: { tls: false, http } })
  servers.push(server)
  const { port = 0, token = '' } = server.server.address ?? {}
  return { server, port, token }
}

/** A client that collects what it receives after the head. */
class SocketClient {
  readonly socket
  #bytes = Buffer.alloc(0)

  constructor(port: number, request: string) {
    this.socket = connect({ host: '127.0.0.1', port })
    this.socket.on('error', () => undefined)
    this.socket.on('data', (piece) => {
      this.#bytes = Buffer.concat([this.#bytes, piece])
    })
    this.socket.write(request.replace('HOST', `127.0.0.1:${port}`))
  }

  get head(): string {
    return this.#bytes.toString('latin1').split('\r\n\r\n', 1)[0] ?? ''
  }

  /** The messages so far: opcode and payload. */
  get messages(): [number, string][] {
    const found: [number, string][] = []
    const start = this.#bytes.indexOf('\r\n\r\n')
    if (start < 0) return found
    for (let at = start + 4; at + 2 <= this.#bytes.length;) {
      const short = this.#bytes[at + 1] ?? 0
      const [length, head] = short === 126 ? [this.#bytes.readUInt16BE(at + 2), 4] : [short, 2]
      if (at + head + length > this.#bytes.length) break
      found.push([(this.#bytes[at] ?? 0) & 15, this.#bytes.subarray(at + head, at + head + length).toString('latin1')])
      at += head + length
    }
    return found
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await once(this.socket, 'data')
  }
}

const watchText = (query: string, authorization: string): string =>
  `GET ${maps}?watch=true${query} HTTP/1.1\r\nHost: HOST\r\n${handshake(authorization)}\r\n`

describe('a watch over a WebSocket', () => {
  test('sends each event as a text message, answers pings, and ends when the client closes', async () => {
    const { server, port, token } = await serve()
    for (const name of ['a', 'b']) await server.ask('POST', maps, { body: { metadata: { name } } })
    const client = new SocketClient(port, watchText('', `Authorization: Bearer ${token}`))
    await client.until(() => client.messages.length >= 2)
    expect(client.head).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\n/)
    expect(client.head).toContain('sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=')
    expect(client.head.toLowerCase()).toMatch(/connection: upgrade\r\nupgrade: websocket/)
    await server.ask('POST', maps, { body: { metadata: { name: 'c' } } })
    await client.until(() => client.messages.length === 3)
    const events = client.messages.map(([opcode, text]) => {
      const { type, object } = JSON.parse(text) as { type: string; object: { metadata: { name: string } } }
      return [opcode, type, object.metadata.name]
    })
    expect(events).toEqual([
      [1, 'ADDED', 'a'],
      [1, 'ADDED', 'b'],
      [1, 'ADDED', 'c'],
    ])
    client.socket.write(Buffer.from([0x89, 0x81, 0, 0, 0, 0, 0x21]))
    await client.until(() => client.messages.length === 4)
    expect(client.messages.at(-1)).toEqual([10, '!'])
    client.socket.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0]))
    await once(client.socket, 'end')
    expect(client.messages.at(-1)).toEqual([8, '\x03\xe8'])
    expect((await server.ask('GET', '/metrics')).text).toContain('apiserver_longrunning_requests{verb="WATCH"} 0\n')
  })

  test('authenticates by a subprotocol, ends with its time, and sends protobuf as binary messages', async () => {
    const { server, port, token } = await serve()
    const bearer = `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
    const client = new SocketClient(
      port,
      watchText(
        '&timeoutSeconds=5',
        `Accept: application/vnd.kubernetes.protobuf;stream=watch\r\nSec-WebSocket-Protocol: ${bearer}, base64.binary.k8s.io`,
      ),
    )
    await client.until(() => client.head.includes('101'))
    expect(client.head).toContain('sec-websocket-protocol: base64.binary.k8s.io')
    await server.ask('POST', maps, { body: { metadata: { name: 'p' } } })
    await client.until(() => client.messages.length > 0)
    expect(client.messages[0]?.[0]).toBe(2)
    expect(client.messages[0]?.[1]).toContain('ADDED')
    const ended = once(client.socket, 'end')
    await server.clock.advance(6_000)
    await ended
    expect(client.messages.at(-1)?.[0]).toBe(8)
  })

  test('row 6: is refused without credentials, from a foreign page, and without rights, as any watch', async () => {
    const { port, token } = await serve()
    const ask = async (authorization: string): Promise<string> => {
      const client = new SocketClient(port, watchText('', authorization))
      await client.until(() => client.head !== '')
      client.socket.destroy()
      return client.head.slice(0, 12)
    }
    expect(await ask('')).toBe('HTTP/1.1 401')
    expect(await ask(`Origin: https://evil.example\r\nAuthorization: Bearer ${token}`)).toBe('HTTP/1.1 403')
    expect(await ask(`Impersonate-User: nobody\r\nAuthorization: Bearer ${token}`)).toBe('HTTP/1.1 403')
    expect(await ask(`Authorization: Bearer ${token}`)).toBe('HTTP/1.1 101')
  })

  test("with Node's parser the client is told at once that there is none", async () => {
    const { port, token } = await serve('node')
    const client = new SocketClient(port, watchText('', `Authorization: Bearer ${token}`))
    await once(client.socket, 'end')
    expect(client.head).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(client.head).toContain('content-length: 0')
  })
})
