import { crc32, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { gzipHead, gzipTail, plainBlocks } from './gzip.ts'

test.each([0, 1, 65_535, 65_536, 200_000])('plainBlocks, gzipHead and gzipTail make a file of %i bytes', (length) => {
  const bytes = Buffer.alloc(length, 'plain')
  const file = Buffer.concat([
    gzipHead,
    plainBlocks(bytes),
    plainBlocks(Buffer.from('end'), { last: true }),
    gzipTail({ checksum: crc32('end', crc32(bytes)), bytes: length + 3 }),
  ])
  expect(gunzipSync(file).equals(Buffer.concat([bytes, Buffer.from('end')]))).toBe(true)
})
