import { expect, test } from 'vitest'
import { LentMemory } from './lent-memory.ts'

const large = 200_000

test('LentMemory uses one buffer for all pieces of a stream, and for the next stream', () => {
  const first = new LentMemory({ isLent: true })
  const { buffer } = first.allocate(large)
  expect(first.allocate(large + 1000).buffer).toBe(buffer)
  first.release()
  const second = new LentMemory({ isLent: true })
  expect(second.allocate(large).buffer).toBe(buffer)
})

test('LentMemory gives no memory of an unfinished stream to another', () => {
  const first = new LentMemory({ isLent: true }).allocate(large)
  expect(new LentMemory({ isLent: true }).allocate(large).buffer).not.toBe(first.buffer)
})

test('LentMemory lends nothing to a reader that keeps pieces', () => {
  const memory = new LentMemory({ isLent: false })
  expect(memory.allocate(large).buffer).not.toBe(memory.allocate(large).buffer)
})

test('LentMemory copies a piece that becomes small: it may wait in the queue of the socket', () => {
  const memory = new LentMemory({ isLent: true })
  const piece = memory.allocate(large).fill(1)
  const still = memory.shorten(piece, 150_000)
  expect([still.length, still.buffer === piece.buffer]).toEqual([150_000, true])
  const small = memory.shorten(piece, 1000)
  piece.fill(2)
  expect(small).toEqual(Buffer.alloc(1000, 1))
})
