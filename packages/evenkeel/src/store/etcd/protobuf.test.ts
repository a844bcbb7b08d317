import { describe, expect, test } from 'vitest'
import { ProtobufError, ProtobufReader, ProtobufWriter } from './protobuf.ts'

const numbers = [
  1,
  2,
  127,
  128,
  255,
  300,
  16_383,
  16_384,
  2 ** 21 - 1,
  2 ** 21,
  2 ** 28 - 1,
  2 ** 28,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 42,
  2 ** 49 - 1,
  2 ** 49,
  2 ** 53 - 1,
]

/** The message without the prefix of gRPC. */
function messageOf(writer: ProtobufWriter): Buffer {
  return writer.frame().subarray(5)
}

function first(bytes: Uint8Array): ProtobufReader {
  const reader = new ProtobufReader(bytes)
  expect(reader.next()).toBe(true)
  return reader
}

describe('ProtobufWriter', () => {
  test('writes the examples of the protobuf documentation', () => {
    expect(messageOf(new ProtobufWriter().int(1, 150)).toString('hex')).toBe('089601')
    expect(messageOf(new ProtobufWriter().text(2, 'testing')).toString('hex')).toBe('120774657374696e67')
    expect(messageOf(new ProtobufWriter().message(3, (inner) => inner.int(1, 150))).toString('hex')).toBe('1a03089601')
  })

  test('omits zero and empty fields, unless required', () => {
    expect(messageOf(new ProtobufWriter().int(1, 0).latin1(2, '').bytes(3).int64(4, 0n).flag(5, false)).length).toBe(0)
    expect(messageOf(new ProtobufWriter().intAlways(6, 0)).toString('hex')).toBe('3000')
  })

  test('puts the length of the message in front of it', () => {
    expect(new ProtobufWriter().int(1, 150).frame().toString('hex')).toBe('0000000003089601')
  })

  test.each([0, 1, 126, 127, 128, 129, 16_382, 16_383, 16_384, 2_097_151, 2_097_152])(
    'nests a message of %i bytes and more',
    (size) => {
      const value = new Uint8Array(size).fill(7)
      const writer = new ProtobufWriter().message(1, (outer) =>
        outer.message(2, (inner) => inner.bytes(3, value).int(4, 5)).int(6, 7),
      )
      const outer = first(messageOf(writer)).message()
      expect(outer.next()).toBe(true)
      const inner = outer.message()
      if (size > 0) {
        expect(inner.next()).toBe(true)
        expect(Buffer.compare(inner.bytes(), value)).toBe(0)
      }
      expect(inner.next() && inner.int()).toBe(5)
      expect(outer.next() && outer.int()).toBe(7)
    },
  )
})

describe('ProtobufReader', () => {
  test.each(numbers)('reads %i back', (value) => {
    expect(first(messageOf(new ProtobufWriter().int(3, value))).int()).toBe(value)
    expect(first(messageOf(new ProtobufWriter().int64(3, BigInt(value)))).int64()).toBe(BigInt(value))
  })

  test('reads nested messages of every length around the limits of one and two bytes', () => {
    for (const length of [125, 126, 127, 128, 129, 16_382, 16_383, 16_384, 16_385]) {
      const value = Buffer.alloc(length - (length < 16_000 ? 2 : 4), 7)
      const outer = first(messageOf(new ProtobufWriter().message(1, (inner) => inner.bytes(2, value)).int(3, 9)))
      const inner = outer.message()
      expect(inner.next() && Buffer.from(inner.bytes()).equals(value), String(length)).toBe(true)
      expect(outer.next() && outer.int(), String(length)).toBe(9)
    }
  })

  test('reads all 64 bits, and negative numbers', () => {
    expect(first(messageOf(new ProtobufWriter().int64(3, 2n ** 63n - 1n))).int64()).toBe(2n ** 63n - 1n)
    const minusOne = Buffer.from('18ffffffffffffffffff01', 'hex')
    expect(first(minusOne).int()).toBe(-1)
    expect(first(minusOne).int64()).toBe(-1n)
    expect(first(Buffer.from('18feffffffffffffffff01', 'hex')).int()).toBe(-2)
    expect(first(Buffer.from('1880808080808080808001', 'hex')).int()).toBe(-(2 ** 63))
  })

  test('skips fields of every type that it does not know', () => {
    const bytes = Buffer.from(`08${'9601'}11${'00'.repeat(8)}1a03${'000000'}25${'00'.repeat(4)}2807`, 'hex')
    const reader = new ProtobufReader(bytes)
    const seen: number[] = []
    while (reader.next()) {
      seen.push(reader.field)
      if (reader.field === 5) expect(reader.int()).toBe(7)
      else reader.skip()
    }
    expect(seen).toEqual([1, 2, 3, 4, 5])
  })

  test('throws for a message truncated at any byte', () => {
    const whole = messageOf(
      new ProtobufWriter()
        .int(1, 300)
        .latin1(2, 'abc')
        .int64(3, 2n ** 60n),
    )
    const ends = new Set([0, 3, 8, whole.length])
    for (let length = 0; length <= whole.length; length++) {
      const read = (): void => {
        const reader = new ProtobufReader(whole.subarray(0, length))
        while (reader.next()) reader.skip()
      }
      if (ends.has(length)) read()
      else expect(read, String(length)).toThrow(ProtobufError)
    }
  })

  test('throws for malformed messages', () => {
    expect(() => {
      first(Buffer.from('0b', 'hex')).skip()
    }).toThrow('type 3')
    expect(() => new ProtobufReader(Buffer.from('00', 'hex')).next()).toThrow('number 0')
    expect(() => first(Buffer.from(`08${'ff'.repeat(10)}01`, 'hex')).int()).toThrow('longer than 64 bits')
  })
})
