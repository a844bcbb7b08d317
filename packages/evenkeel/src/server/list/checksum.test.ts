import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinChecksums, shiftOf } from './gzip.ts'

test('joinChecksums gives the checksum of both texts in a row, whatever they are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (first, second) => {
      expect(joinChecksums(crc32(first), crc32(second), { shift: shiftOf(second.byteLength) })).toBe(
        crc32(Buffer.concat([first, second])),
      )
    }),
  )
})

test.each([0, 1, 65_535, 65_536, 1_000_003])('shiftOf is right for %i bytes', (length) => {
  const second = Buffer.alloc(length, 'second')
  expect(joinChecksums(crc32('first'), crc32(second), { shift: shiftOf(length) })).toBe(crc32(second, crc32('first')))
})

test('shiftOf adds up beyond 4 GiB', () => {
  const far = shiftOf(2 ** 33 + 5)
  const twice = joinChecksums(joinChecksums(1, 0, { shift: shiftOf(2 ** 33) }), 0, { shift: shiftOf(5) })
  expect(joinChecksums(1, 0, { shift: far })).toBe(twice)
})
