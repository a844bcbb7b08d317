/**
 * A WebSocket, read message by message: every wait ends with a message, the end of the connection or an error.
 *
 *   81 05 'hello'        a text message (opcode 1) of 5 bytes; servers do not mask what they send
 *   88 82 mask code      a close message of a client, masked
 *
 * Written by hand, so that the judge shares no code with the judged.
 */
import { createHash } from 'node:crypto'
import { abortable, deadline, SystemClock } from 'evenkeel/unstable/base'

interface Upgraded {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
  readonly write?: (bytes: Uint8Array) => void
}

interface StreamOptions {
  /** The request, for messages. */
  readonly asked: string
  readonly patienceMs: number
  /** Aborts the request when the stream is no longer read. */
  readonly over: AbortController
}

export interface SocketMessage {
  readonly opcode: number
  readonly payload: Buffer
}

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

const clock = new SystemClock()
const key = 'dGhlIHNhbXBsZSBub25jZQ=='

/** The headers of a client that asks for a WebSocket. */
export const handshake: Readonly<Record<string, string>> = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': key,
}

/** What the server must answer to the key of the handshake (RFC 6455, 4.2.2). */
export const expectedAccept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')

export class WebSocketStream {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly #messages: AsyncGenerator<SocketMessage, void>
  readonly #write: ((bytes: Uint8Array) => void) | undefined
  readonly #options: StreamOptions

  constructor({ status, headers, body, write }: Upgraded, options: StreamOptions) {
    this.status = status
    this.headers = headers
    this.#messages = messagesOf(body)
    this.#write = write
    this.#options = options
  }

  /** The next message; undefined when the server has ended the connection. */
  async next(): Promise<SocketMessage | undefined> {
    const { signal, done } = deadline(clock, this.#options.patienceMs)
    try {
      return (await abortable(this.#messages.next(), { signal })).value ?? undefined
    } catch (error) {
      throw new Error(`${this.#options.asked}: ${String(error)}`, { cause: error })
    } finally {
      done()
    }
  }

  /** The next messages; fails when there are fewer. */
  async take(count: number): Promise<SocketMessage[]> {
    const messages: SocketMessage[] = []
    while (messages.length < count) {
      const message = await this.next()
      if (!message) throw new Error(`${this.#options.asked}: the connection ended after ${messages.length} messages`)
      messages.push(message)
    }
    return messages
  }

  /** The messages until the server ends the connection. */
  async rest(): Promise<SocketMessage[]> {
    const messages: SocketMessage[] = []
    for (let message = await this.next(); message; message = await this.next()) messages.push(message)
    return messages
  }

  /** Sends a message of up to 125 bytes, with a mask of zeros. */
  send(opcode: number, payload: Uint8Array = new Uint8Array()): void {
    this.#write?.(Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | payload.length, 0, 0, 0, 0]), payload]))
  }

  close(): void {
    this.#options.over.abort(new Error('the stream was closed'))
    this.#messages.return().catch(() => undefined)
  }
}

async function* messagesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<SocketMessage, void> {
  let pending: Buffer = Buffer.alloc(0)
  for await (const chunk of body) {
    pending = Buffer.concat([pending, chunk])
    for (let found = firstMessage(pending); found; found = firstMessage(pending)) {
      yield found.message
      pending = pending.subarray(found.length)
    }
  }
}

/** The first message and the bytes it takes; undefined while it is incomplete. */
function firstMessage(bytes: Buffer): { readonly message: SocketMessage; readonly length: number } | undefined {
  if (bytes.length < 2) return undefined
  const short = bytes.readUInt8(1)
  const head = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < head) return undefined
  const size = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  const length = head + size
  if (bytes.length < length) return undefined
  return { message: { opcode: bytes.readUInt8(0) & 15, payload: bytes.subarray(head, length) }, length }
}
