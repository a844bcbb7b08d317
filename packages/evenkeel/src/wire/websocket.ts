/**
 * WebSockets (RFC 6455): the handshake of a server and of a client, and messages as frames. What arrives is read in
 * websocket-reader.ts.
 *
 * Kubernetes offers watches over WebSockets: each event is a message, and what the client says is ignored. The default
 * clients of Java use nothing else. Browsers cannot set headers, so a token may come as a subprotocol. Commands and
 * terminals use messages in both directions: see channel-streams.ts.
 *
 * A frame: two bytes with opcode and length, for longer ones 2 or 8 more bytes of length, a mask of 4 bytes from clients
 * only, the payload. `{"a":1}` as a text message of a server is `81 07` and seven bytes.
 */
import { createHash } from 'node:crypto'
import type { WireHeaders } from './transport.ts'

export const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
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
  const [protocol] = webSocketProtocols(headers)
  const accept = acceptOf(headers['sec-websocket-key'] ?? '')
  return { 'sec-websocket-accept': accept, ...(protocol !== undefined && { 'sec-websocket-protocol': protocol }) }
}

/** The subprotocols that a client offers, the preferred one first, without a token among them. */
export function webSocketProtocols(headers: WireHeaders): string[] {
  return protocolsOf(headers).filter((each) => !each.startsWith(bearerProtocol))
}

/** The header fields by which a client asks for a WebSocket. */
export function webSocketRequestFields(key: Uint8Array, protocols: readonly string[]): Record<string, string> {
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.from(key).toString('base64'),
    'sec-websocket-protocol': protocols.join(', '),
  }
}

/** Whether a server has accepted the WebSocket that these fields asked for. */
export function isWebSocketAccepted(asked: WireHeaders, answered: WireHeaders): boolean {
  return answered['sec-websocket-accept'] === acceptOf(asked['sec-websocket-key'] ?? '')
}

function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}${handshakeText}`).digest('base64')
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

/** A whole message. A client masks each with four random bytes; a server does not mask. */
export function webSocketMessage(payload: Uint8Array, type: keyof typeof opcodes, mask?: Uint8Array): Buffer {
  const { length } = payload
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const head = 2 + lengthBytes + (mask ? 4 : 0)
  const frame = Buffer.allocUnsafe(head + length)
  frame[0] = 0x80 | opcodes[type]
  frame[1] = (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127) | (mask ? 0x80 : 0)
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2)
  else if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2)
  frame.set(payload, head)
  if (!mask) return frame
  frame.set(mask.subarray(0, 4), head - 4)
  for (let at = 0; at < length; at++) frame[head + at] = (frame[head + at] ?? 0) ^ (mask[at % 4] ?? 0)
  return frame
}

/** The last message of a side that ends the connection for a reason. */
export function webSocketClose(code: number, mask?: Uint8Array): Buffer {
  return webSocketMessage(Uint8Array.of(code >> 8, code & 0xff), 'close', mask)
}

/** The last message of a connection: normal closure. */
export const webSocketClosing = webSocketClose(1000)
