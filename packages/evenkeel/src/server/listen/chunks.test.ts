import { expect, test } from 'vitest'
import { allocatePiece, chunkOf } from './http1-body.ts'

test('chunkOf puts the size before a piece and a line end after it', () => {
  expect(chunkOf(Buffer.from('hello')).toString()).toBe('5\r\nhello\r\n')
  expect(chunkOf(new Uint8Array(300)).subarray(0, 5).toString()).toBe('12c\r\n')
})

test('row 20: chunkOf frames a shared piece once, whatever its length', () => {
  const [shared, large] = [Buffer.from('event'), new Uint8Array(100_000)]
  expect(chunkOf(shared)).toBe(chunkOf(shared))
  expect(chunkOf(Buffer.from('event'))).not.toBe(chunkOf(shared))
  expect(chunkOf(large)).toBe(chunkOf(large))
  expect(chunkOf(large)).toHaveLength(100_009)
})

test('chunkOf writes the frame around a piece that has room for it, and copies nothing', () => {
  const piece = allocatePiece(300).fill('x')
  const chunk = chunkOf(piece)
  expect(chunk.toString()).toBe(`12c\r\n${'x'.repeat(300)}\r\n`)
  expect(chunk.buffer).toBe(piece.buffer)
  const shorter = allocatePiece(5, { memory: piece }).fill('y')
  expect(chunkOf(shorter).toString()).toBe('5\r\nyyyyy\r\n')
  expect(shorter.buffer).toBe(piece.buffer)
})
