/**
 * WebSockets (RFC 6455) as a server speaks them: the handshake, messages to the client, and the frames of the client.
 *
 * Kubernetes offers watches over WebSockets: each event is a message, and what the client says is ignored. The default
 * clients of Java use nothing else. Browsers cannot set headers, so a token may come as a subprotocol.
 *
 * A frame: two bytes with opcode and length, for longer ones 2 or 8 more bytes of length, a mask of 4 bytes from clients
 * only, the payload. `{"a":1}` as a text message of a server is `81 07` and seven bytes.
 */
import { createHash } from 'node:crypto'
import type { WireHeaders } from './transport.ts'

const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
/** What every server appends to the key, to show that it knows the protocol. */
const handshakeText = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const bearerProtocol = 'base64url.bearer.authorization.k8s.io.'

/** Whether a client asks for a WebSocket, in a version that this server knows. */
export function isWebSocketRequest(headers: WireHeaders): boolean {
  const { connection = '', upgrade = '', 'sec-websocket-version': version, 'sec-websocket-key': key = '' } = headers
  return (
    upgrade.toLowerCase() === 'websocket' &&
    /(?:^|[\s,])upgrade(?:$|[\s,])/i.test(connection) &&
    version === '13' &&
    /^[A-Za-z0-9+/]{22}==$/.test(key)
  )
}

/** The header fields that accept a WebSocket. */
export function webSocketFields(headers: WireHeaders): Record<string, string> {
  const [protocol] = protocolsOf(headers).filter((each) => !each.startsWith(bearerProtocol))
  const accept = createHash('sha1')
    .update(`${headers['sec-websocket-key'] ?? ''}${handshakeText}`)
    .digest('base64')
  return { 'sec-websocket-accept': accept, ...(protocol !== undefined && { 'sec-websocket-protocol': protocol }) }
}

/** The token among the subprotocols; empty when there is none. */
export function webSocketToken(headers: WireHeaders): string {
  if (headers['sec-websocket-protocol'] === undefined || !isWebSocketRequest(headers)) return ''
  const found = protocolsOf(headers).find((each) => each.startsWith(bearerProtocol))
  return found === undefined ? '' : Buffer.from(found.slice(bearerProtocol.length), 'base64url').toString()
}

/** The headers without a token among the subprotocols: a proxy must not pass it on. */
export function withoutWebSocketToken(headers: WireHeaders): WireHeaders {
  const { 'sec-websocket-protocol': given, ...others } = headers
  if (given === undefined) return headers
  const kept = protocolsOf(headers).filter((each) => !each.startsWith(bearerProtocol))
  return kept.length === 0 ? others : { ...others, 'sec-websocket-protocol': kept.join(', ') }
}

function protocolsOf(headers: WireHeaders): string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')
}

/** A whole message of the server. */
export function webSocketMessage(payload: Uint8Array, type: keyof typeof opcodes): Buffer {
  const { length } = payload
  const head = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(head + length)
  frame[0] = 0x80 | opcodes[type]
  if (head === 2) frame[1] = length
  else if (head === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
  frame.set(payload, head)
  return frame
}

/** The last message of a connection: normal closure. */
export const webSocketClosing = webSocketMessage(Uint8Array.of(0x03, 0xe8), 'close')

/** What to do after bytes of the client. */
export interface WebSocketEffect {
  /** Bytes to send at once. */
  readonly reply?: Uint8Array
  /** The client has closed the connection, or does not follow the protocol. */
  readonly isOver?: boolean
}

/** Reads the frames of a client: answers pings and closure, and drops everything else without holding it. */
export class WebSocketReader {
  #head = Buffer.alloc(0)
  #opcode = 0
  #mask: Uint8Array = Buffer.alloc(4)
  #control: number[] = []
  #left = 0
  #at = 0
  #isInPayload = false

  receive(bytes: Uint8Array): WebSocketEffect {
    const replies: Uint8Array[] = []
    for (let at = 0; at < bytes.length || (this.#isInPayload && this.#left === 0);) {
      if (!this.#isInPayload) {
        const taken = this.#takeHead(bytes, at)
        if (taken < 0) return { isOver: true }
        at += taken
        continue
      }
      at += this.#takePayload(bytes, at)
      if (this.#left > 0) continue
      this.#isInPayload = false
      if (this.#opcode === opcodes.close) return { isOver: true }
      if (this.#opcode === opcodes.ping) replies.push(webSocketMessage(Buffer.from(this.#control), 'pong'))
    }
    return replies.length === 0 ? {} : { reply: Buffer.concat(replies) }
  }

  /** The number of bytes taken; negative for a frame that no client may send, such as one without a mask. */
  #takeHead(bytes: Uint8Array, at: number): number {
    const before = this.#head.length
    const beginning = Buffer.concat([this.#head, bytes.subarray(at, at + 2)])
    if (beginning.length >= 2 && ((beginning[1] ?? 0) & 0x80) === 0) return -1
    const needed = headLength(beginning)
    const head = Buffer.concat([this.#head, bytes.subarray(at, at + needed - before)])
    if (head.length < needed) {
      this.#head = head
      return head.length - before
    }
    this.#head = Buffer.alloc(0)
    return this.#startFrame(head) ? needed - before : -1
  }

  #startFrame(head: Buffer): boolean {
    const [first = 0, second = 0] = head
    const short = second & 0x7f
    const length = short < 126 ? short : short === 126 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2))
    this.#opcode = first & 0x0f
    this.#mask = head.subarray(-4)
    this.#left = length
    this.#at = 0
    this.#control = []
    this.#isInPayload = true
    const isControl = this.#opcode >= 8
    return (first & 0x70) === 0 && (!isControl || (short < 126 && (first & 0x80) !== 0))
  }

  #takePayload(bytes: Uint8Array, at: number): number {
    const taken = Math.min(this.#left, bytes.length - at)
    if (this.#opcode === opcodes.ping)
      for (let index = 0; index < taken; index++)
        this.#control.push((bytes[at + index] ?? 0) ^ (this.#mask[this.#at++ % 4] ?? 0))
    this.#left -= taken
    return taken
  }
}

/** The length of a head with its mask, as far as its beginning tells. */
function headLength(beginning: Buffer): number {
  if (beginning.length < 2) return 2
  const short = (beginning[1] ?? 0) & 0x7f
  return 6 + (short < 126 ? 0 : short === 126 ? 2 : 8)
}
