/**
 * A client of connections for tests, on a raw socket: it sends exactly the bytes of a test, and collects what comes.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { WebSocketReader, webSocketMessage } from '#wire'

const mask = Uint8Array.of(7, 1, 9, 3)

interface RawConnectOptions {
  readonly port: number
  readonly token: string
  readonly path: string
  /** @default 'v5.channel.k8s.io' */
  readonly protocol?: string
  /** Lines of the head. @default none */
  readonly more?: readonly string[]
}

export class RawConnection {
  readonly socket: Socket
  readonly messages: Buffer[] = []
  head = ''
  isClosed = false
  readonly #reader = new WebSocketReader({
    from: 'server',
    onMessage: (message) => this.messages.push(message),
  })

  constructor({ port, token, path, protocol = 'v5.channel.k8s.io', more = [] }: RawConnectOptions) {
    this.socket = connect({ host: '127.0.0.1', port })
    this.socket.on('error', () => undefined)
    this.socket.on('data', (piece: Buffer) => {
      this.#take(piece)
    })
    const lines = [
      `GET ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${token}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...(protocol === '' ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
      ...more,
    ]
    this.socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  }

  #take(piece: Buffer): void {
    let rest = piece
    if (!this.head.includes('\r\n\r\n')) {
      const text = this.head + piece.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      this.head = end < 0 ? text : text.slice(0, end + 4)
      if (end < 0) return
      rest = Buffer.from(text.slice(end + 4), 'latin1')
    }
    if (this.#reader.receive(rest).isOver) this.isClosed = true
  }

  send(channel: number, text: string | Uint8Array = ''): void {
    this.sendRaw(webSocketMessage(Buffer.concat([Uint8Array.of(channel), Buffer.from(text)]), 'binary', mask))
  }

  sendRaw(bytes: Uint8Array): void {
    this.socket.write(bytes)
  }

  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await once(this.socket, 'data')
  }

  /** All bytes of a channel. */
  text(channel: number): string {
    return Buffer.concat(
      this.messages.filter((message) => message[0] === channel).map((message) => message.subarray(1)),
    ).toString()
  }

  /** The outcome, once the server has closed. */
  async outcome(): Promise<Record<string, unknown>> {
    await this.until(() => this.isClosed)
    return JSON.parse(this.text(3)) as Record<string, unknown>
  }
}
