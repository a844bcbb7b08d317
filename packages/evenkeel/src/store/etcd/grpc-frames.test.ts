import { describe, expect, test } from 'vitest'
import { randomInt, SeededRandom } from '#base'
import { GrpcFrameReader } from './grpc.ts'

function frame(message: Uint8Array): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

const messages = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(300, 7), Buffer.from('four'), Buffer.alloc(0)]
const stream = Buffer.concat(messages.map(frame))

describe('FrameReader', () => {
  test('gives the same messages wherever the bytes are cut in two', () => {
    for (let at = 0; at <= stream.length; at++) {
      const reader = new GrpcFrameReader()
      const found = [stream.subarray(0, at), stream.subarray(at)].flatMap((part) => reader.push(part))
      expect(
        found.map((one) => Buffer.from(one)),
        String(at),
      ).toEqual(messages)
    }
  })

  test('gives the same messages byte by byte', () => {
    const reader = new GrpcFrameReader()
    const found = [...stream].flatMap((byte) => reader.push(Uint8Array.of(byte)))
    expect(found.map((one) => Buffer.from(one))).toEqual(messages)
  })

  test('gives the same messages cut anyhow', () => {
    const random = new SeededRandom('frames')
    for (let round = 0; round < 200; round++) {
      const reader = new GrpcFrameReader()
      const found: Uint8Array[] = []
      for (let at = 0; at < stream.length;) {
        const size = randomInt(random, 40)
        found.push(...reader.push(stream.subarray(at, at + size)))
        at += size
      }
      expect(found.map((one) => Buffer.from(one))).toEqual(messages)
    }
  })

  test('refuses what is compressed or too long to be a message', () => {
    expect(() => new GrpcFrameReader().push(Buffer.from('0100000000', 'hex'))).toThrow('compressed')
    expect(() => new GrpcFrameReader().push(Buffer.from('00ffffffff', 'hex'))).toThrow('4294967295 bytes')
  })
})
