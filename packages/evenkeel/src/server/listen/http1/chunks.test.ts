import { expect, test } from 'vitest'
import { chunkOf } from './chunks.ts'

test('chunkOf puts the size before a piece and a line end after it', () => {
  expect(chunkOf(Buffer.from('hello')).toString()).toBe('5\r\nhello\r\n')
  expect(chunkOf(new Uint8Array(300)).subarray(0, 5).toString()).toBe('12c\r\n')
})

test('chunkOf frames a shared piece once, and remembers no large ones', () => {
  const [shared, large] = [Buffer.from('event'), new Uint8Array(100_000)]
  expect(chunkOf(shared)).toBe(chunkOf(shared))
  expect(chunkOf(Buffer.from('event'))).not.toBe(chunkOf(shared))
  expect(Object.is(chunkOf(large), chunkOf(large))).toBe(false)
  expect(chunkOf(large)).toHaveLength(100_009)
})
