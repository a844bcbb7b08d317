import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isApiError, type JsonValue } from '#api'
import { splitCbor } from './items.ts'
import { readCbor, readCborType } from './reader.ts'
import { writeCbor, writeCborEvent } from './writer.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
const refusal = (text: string, options = {}): string => {
  try {
    readCbor(hex(text), options)
  } catch (error) {
    if (isApiError(error)) return error.message
    throw error
  }
  return 'accepted'
}

// RFC 8949, appendix A: the items that JSON has too.
test.each<[string, JsonValue]>([
  ['00', 0],
  ['01', 1],
  ['0a', 10],
  ['17', 23],
  ['1818', 24],
  ['1819', 25],
  ['1864', 100],
  ['1903e8', 1000],
  ['1a000f4240', 1_000_000],
  ['1b000000e8d4a51000', 1_000_000_000_000],
  ['20', -1],
  ['29', -10],
  ['3863', -100],
  ['3903e7', -1000],
  ['f90000', 0],
  ['f98000', -0],
  ['f93c00', 1],
  ['fb3ff199999999999a', 1.1],
  ['f93e00', 1.5],
  ['f97bff', 65_504],
  ['fa47c35000', 100_000],
  ['fa7f7fffff', 3.402_823_466_385_288_6e38],
  ['fb7e37e43c8800759c', 1e300],
  ['f90001', 5.960_464_477_539_063e-8],
  ['f90400', 0.000_061_035_156_25],
  ['f9c400', -4],
  ['fbc010666666666666', -4.1],
  ['f4', false],
  ['f5', true],
  ['f6', null],
  ['c074323031332d30332d32315432303a30343a30305a', '2013-03-21T20:04:00Z'],
  ['c11a514b67b0', '2013-03-21T20:04:00Z'],
  ['c1fb41d452d9ec200000', '2013-03-21T20:04:00.5Z'],
  ['d74401020304', '01020304'],
  ['d818456449455446', 'dIETF'],
  ['d82076687474703a2f2f7777772e6578616d706c652e636f6d', 'http://www.example.com'],
  ['40', ''],
  ['60', ''],
  ['6161', 'a'],
  ['6449455446', 'IETF'],
  ['62225c', '"\\'],
  ['62c3bc', '\u{fc}'],
  ['63e6b0b4', '\u{6c34}'],
  ['64f0908591', '\u{10151}'],
  ['80', []],
  ['83010203', [1, 2, 3]],
  ['8301820203820405', [1, [2, 3], [4, 5]]],
  ['98190102030405060708090a0b0c0d0e0f101112131415161718181819', Array.from({ length: 25 }, (_, index) => index + 1)],
  ['a0', {}],
  ['a26161016162820203', { a: 1, b: [2, 3] }],
  ['826161a161626163', ['a', { b: 'c' }]],
  ['a56161614161626142616361436164614461656145', { a: 'A', b: 'B', c: 'C', d: 'D', e: 'E' }],
  ['5f42616243636465ff', 'abcde'],
  ['7f657374726561646d696e67ff', 'streaming'],
  ['9fff', []],
  ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]],
  ['83018202039f0405ff', [1, [2, 3], [4, 5]]],
  ['bf61610161629f0203ffff', { a: 1, b: [2, 3] }],
  ['826161bf61626163ff', ['a', { b: 'c' }]],
  ['bf6346756ef563416d7421ff', { Fun: true, Amt: -2 }],
])('reads %s of RFC 8949', (text, value) => {
  expect(readCbor(hex(text))).toStrictEqual(value)
})

test.each([
  [
    '1bffffffffffffffff',
    "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)",
  ],
  [
    '3bffffffffffffffff',
    "cbor: cannot unmarshal negative integer into Go value of type int64 (-18446744073709551616 overflows Go's int64)",
  ],
  ['c249010000000000000000', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
  ['c349010000000000000000', 'cbor: data item of cbor type tag is not accepted by protocol: bignum'],
  ['f97c00', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity'],
  ['fb7ff8000000000000', 'cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN'],
  ['f7', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized'],
  ['f8ff', 'cbor: data item of cbor type primitives is not accepted by protocol: simple value 255 is not recognized'],
  ['f818', 'cbor: invalid simple value 24 for type primitives'],
  ['a201020304', 'cbor: cannot unmarshal positive integer into Go value of type string'],
  ['a2616101416102', 'cbor: found duplicate map key "a" at map element index 1'],
  ['62c328', 'cbor: invalid UTF-8 string'],
  ['c04161', 'cbor: tag number 0 must be followed by text string, got byte string'],
  ['c180', 'cbor: tag number 1 must be followed by integer or floating-point number, got array'],
  [
    'c11b0000003afff44181',
    'cbor: decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year outside of range [0,9999]',
  ],
  ['', 'EOF'],
  ['19', 'unexpected EOF'],
  ['62', 'unexpected EOF'],
  ['9bffffffffffffffff00', 'unexpected EOF'],
  ['9f01', 'unexpected EOF'],
  ['0000', 'cbor: 1 bytes of extraneous data starting at index 1'],
  ['1c', 'cbor: invalid additional information 28 for type positive integer'],
  ['1f', 'cbor: invalid additional information 31 for type positive integer'],
  ['ff', 'cbor: unexpected "break" code'],
  ['81ff', 'cbor: unexpected "break" code'],
  ['7f4161ff', 'cbor: wrong element type byte string for indefinite-length UTF-8 text string'],
  ['5f5f4161ffff', 'cbor: indefinite-length byte string chunk is not definite-length'],
])('refuses %s', (text, message) => {
  expect(refusal(text)).toBe(message)
})

test('limits depth and number of values, also of short bodies', () => {
  expect(refusal(`${'81'.repeat(1000)}01`)).toBe('accepted')
  expect(refusal(`${'81'.repeat(1001)}01`)).toBe('cbor: exceeded max nested level 1000')
  expect(refusal(`${'c6'.repeat(1_000_000)}01`)).toBe('cbor: exceeded max nested level 1000')
  expect(refusal('84 a0 a0 a0 a0', { valuesMax: 6 })).toBe('accepted')
  expect(refusal('84 a0 a0 a0 a0', { valuesMax: 5 })).toBe(
    'Request entity too large: the document has more than 5 values',
  )
  expect(refusal(`9f${'01'.repeat(400_000)}ff`, { valuesMax: 100_000 })).toBe(
    'Request entity too large: the document has more than 100000 values',
  )
})

test('keys such as __proto__ are ordinary keys', () => {
  const value = readCbor(hex('a1 69 5f5f70726f746f5f5f a1 6161 01')) as Record<string, JsonValue>
  expect(Object.keys(value)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>)['a']).toBeUndefined()
})

test('byte strings below a tag are written in its encoding', () => {
  expect(readCbor(hex('d6 82 420102 d5 42fbff'))).toEqual(['AQI=', '-_8'])
  expect(readCbor(hex('42c328'))).toBe('\ufffd(')
})

test('reads the type although other values cannot be read', () => {
  expect(readCborType(hex('a3 6a61706956657273696f6e 627631 646b696e64 6141 6178 82 f7 a2 01 02 01 02'))).toEqual({
    apiVersion: 'v1',
    kind: 'A',
  })
  expect(() => readCborType(hex('80'))).toThrow('cannot unmarshal array into Go value of type v1.TypeMeta')
})

test('writes what kube-apiserver writes: byte strings, the shortest numbers, the tag of CBOR', () => {
  const written = (value: JsonValue): string => Buffer.from(writeCbor(value)).toString('hex')
  expect(written({ a: [1, -500, 1.5, 1.1, 100_000.5, true, null] })).toBe(
    'd9d9f7a141618701 3901f3 f93e00 fb3ff199999999999a fa47c35040 f5 f6'.replaceAll(' ', ''),
  )
  expect(written('x'.repeat(24))).toBe(`d9d9f75818${'78'.repeat(24)}`)
  expect(written('\u{fc}')).toBe('d9d9f742c3bc')
  expect(written(2n ** 60n)).toBe('d9d9f71b1000000000000000')
  expect(written(-(2n ** 60n))).toBe('d9d9f73b0fffffffffffffff')
})

test('events of a watch are documents in a row', () => {
  const sequence = Buffer.concat([writeCborEvent('ADDED', { a: 1 }), writeCborEvent('DELETED', { a: [2, {}] })])
  const events = splitCbor(sequence)
  expect(events.map((event) => readCbor(event))).toEqual([
    { type: 'ADDED', object: { a: 1 } },
    { type: 'DELETED', object: { a: [2, {}] } },
  ])
})

test('every float of 16 bits survives', () => {
  for (let bits = 0; bits < 0x1_0000; bits++) {
    if ((bits & 0x7c00) === 0x7c00) continue
    const value = readCbor(Buffer.from([0xf9, bits >> 8, bits & 0xff])) as number
    const written = writeCbor(value)
    expect(readCbor(written)).toBe(value)
    if (!Number.isInteger(value)) expect(written.byteLength).toBe(6)
  }
})

test('whatever JSON can say survives', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(readCbor(writeCbor(value as JsonValue))).toEqual(value)
    }),
    { numRuns: 500 },
  )
})

test('garbage is refused with an error of the API, or read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        readCbor(bytes, { valuesMax: 50, depthMax: 10 })
      } catch (error) {
        if (!isApiError(error)) throw error
      }
      try {
        readCborType(bytes)
      } catch (error) {
        if (!isApiError(error)) throw error
      }
    }),
    { numRuns: 20_000 },
  )
})

test('a damaged document is refused with an error of the API, or read', () => {
  const document = writeCbor({ apiVersion: 'v1', kind: 'A', spec: { list: [1, 2.5, 'text', { deep: null }] } })
  fc.assert(
    fc.property(fc.nat(document.byteLength - 1), fc.nat(255), (at, byte) => {
      const damaged = Buffer.from(document)
      damaged[at] = byte
      try {
        readCbor(damaged)
      } catch (error) {
        if (!isApiError(error)) throw error
      }
    }),
    { numRuns: 5000 },
  )
})
