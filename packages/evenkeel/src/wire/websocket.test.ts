import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isWebSocketRequest, webSocketFields, webSocketMessage, webSocketToken } from './websocket.ts'
import { WebSocketReader, type WebSocketEffect } from './websocket-reader.ts'

const headers = {
  connection: 'keep-alive, Upgrade',
  upgrade: 'WebSocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

describe('the handshake', () => {
  test('accepts the key as in the example of the RFC', () => {
    expect(isWebSocketRequest(headers)).toBe(true)
    expect(webSocketFields(headers)).toEqual({ 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' })
  })

  test.each([
    ['no upgrade', { upgrade: 'h2c' }],
    ['no connection', { connection: 'keep-alive' }],
    ['a word that contains it', { connection: 'upgraded' }],
    ['another version', { 'sec-websocket-version': '8' }],
    ['a bad key', { 'sec-websocket-key': 'short' }],
  ])('is none with %s', (_, changed) => {
    expect(isWebSocketRequest({ ...headers, ...changed })).toBe(false)
  })

  test('takes a token from the subprotocols, and repeats another one', () => {
    const asked = {
      ...headers,
      'sec-websocket-protocol': `base64url.bearer.authorization.k8s.io.${Buffer.from('s3cret').toString('base64url')}, base64.binary.k8s.io`,
    }
    expect(webSocketToken(asked)).toBe('s3cret')
    expect(webSocketFields(asked)).toMatchObject({ 'sec-websocket-protocol': 'base64.binary.k8s.io' })
    expect(webSocketToken({ ...asked, upgrade: '' })).toBe('')
    expect(webSocketToken(headers)).toBe('')
  })
})

test.each([
  [0, '8100'],
  [125, '817d'],
  [126, '817e007e'],
  [65_535, '817effff'],
  [65_536, '817f0000000000010000'],
])('a text message of %i bytes begins with %s', (length, head) => {
  const message = webSocketMessage(Buffer.alloc(length, 'x'), 'text')
  expect(message.subarray(0, head.length / 2).toString('hex')).toBe(head)
  expect(message.length).toBe(head.length / 2 + length)
})

/** A frame of a client: masked. */
function frame(opcode: number, payload: Uint8Array, { first = 0x80 | opcode, isMasked = true } = {}): Buffer {
  const message = webSocketMessage(payload, 'text')
  const head = message.subarray(0, message.length - payload.length)
  const mask = isMasked ? Buffer.from([1, 2, 3, 4]) : Buffer.alloc(0)
  const masked = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0))
  const frameHead = Buffer.from(head)
  frameHead[0] = first
  frameHead[1] = (frameHead[1] ?? 0) | (isMasked ? 0x80 : 0)
  return Buffer.concat([frameHead, mask, masked])
}

function receiveAll(reader: WebSocketReader, pieces: readonly Uint8Array[]): WebSocketEffect {
  const replies: Uint8Array[] = []
  for (const piece of pieces) {
    const { reply, isOver } = reader.receive(piece)
    if (reply) replies.push(reply)
    if (isOver === true) return { reply: Buffer.concat(replies), isOver }
  }
  return { reply: Buffer.concat(replies) }
}

describe('WebSocketReader', () => {
  test('answers pings and ignores messages, however the bytes are cut', () => {
    const message = fc.record({ isPing: fc.boolean(), payload: fc.uint8Array({ maxLength: 100 }) })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.integer({ min: 1, max: 20 })), (messages, cuts) => {
        const bytes = Buffer.concat(messages.map(({ isPing, payload }) => frame(isPing ? 9 : 2, payload)))
        const pieces: Uint8Array[] = []
        for (let at = 0, cut = 0; at < bytes.length; at += cut) {
          cut = cuts[pieces.length % Math.max(1, cuts.length)] ?? bytes.length
          pieces.push(bytes.subarray(at, at + cut))
        }
        const pongs = messages.filter(({ isPing }) => isPing).map(({ payload }) => webSocketMessage(payload, 'pong'))
        const { reply, isOver } = receiveAll(new WebSocketReader(), pieces)
        expect(Buffer.from(reply ?? []).equals(Buffer.concat(pongs))).toBe(true)
        expect(isOver).toBeUndefined()
      }),
    )
  })

  test('a long message is dropped while it arrives', () => {
    const reader = new WebSocketReader()
    const long = frame(1, Buffer.alloc(200_000))
    for (let at = 0; at < long.length; at += 1000) expect(reader.receive(long.subarray(at, at + 1000))).toEqual({})
    expect(reader.receive(frame(9, Buffer.from('x'))).reply).toEqual(webSocketMessage(Buffer.from('x'), 'pong'))
  })

  test.each([
    ['closes', frame(8, Buffer.alloc(0))],
    ['sends without a mask', frame(1, Buffer.from('x'), { isMasked: false })],
    ['sets reserved bits', frame(1, Buffer.from('x'), { first: 0xc1 })],
    ['sends a long ping', frame(9, Buffer.alloc(126))],
    ['sends a ping in parts', frame(9, Buffer.from('x'), { first: 0x09 })],
  ])('is over when the client %s', (_, bytes) => {
    expect(new WebSocketReader().receive(bytes)).toEqual({ isOver: true })
  })
})
