import { expect, test } from 'vitest'
import { heapShare, SimulatedClock } from '#base'
import { inParts, LentMemory } from './lent-memory.ts'

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

test('LentMemory keeps a buffer that is too small for the next stream', () => {
  const [small, wide] = [new LentMemory({ isLent: true }), new LentMemory({ isLent: true })]
  const { buffer } = small.allocate(large)
  small.release()
  wide.allocate(large * 10)
  const next = new LentMemory({ isLent: true })
  expect(next.allocate(large).buffer).toBe(buffer)
  wide.release()
  next.release()
})

test('LentMemory lets a stream begin when another ends; after a quarter of a second it has to go on without', async () => {
  const clock = new SimulatedClock()
  const share = heapShare(1 / 32, { max: 67_108_864 })
  const holder = new LentMemory({ isLent: true })
  expect(holder.waitForRoom(large, clock)).toBeUndefined()
  holder.allocate(share)
  expect(holder.waitForRoom(large, clock), 'a stream with a buffer goes on').toBeUndefined()
  const began: string[] = []
  const begin = (name: string): void => {
    void new LentMemory({ isLent: true })
      .waitForRoom(large, clock)
      ?.then((hasRoom) => began.push(`${name}: ${hasRoom}`))
  }
  expect(new LentMemory({ isLent: true }).waitForRoom(1000, clock), 'a small piece needs no room').toBeUndefined()
  begin('first')
  await clock.advance(249)
  expect(began).toEqual([])
  await clock.advance(1)
  expect(began).toEqual(['first: false'])
  begin('second')
  holder.forget()
  await clock.advance(0)
  expect(began).toEqual(['first: false', 'second: true'])
  expect(new LentMemory({ isLent: true }).waitForRoom(large, clock)).toBeUndefined()
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

test('inParts gives the same bytes in parts of 64 KiB', () => {
  const sources = [1, 65_536, 0, 200_000, 7].map((bytes, index) => Buffer.alloc(bytes, index + 1))
  const parts = [...inParts(sources)]
  expect(parts.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 65_536, 3_400])
  expect(Buffer.concat(parts).equals(Buffer.concat(sources))).toBe(true)
})
