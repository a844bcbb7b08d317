import { expect, test } from 'vitest'
import { BodyQueue } from './body-queue.ts'

const bytes = (length: number): Uint8Array => new Uint8Array(length)

function make(bytesMax = 10): { queue: BodyQueue; calls: string[] } {
  const calls: string[] = []
  const queue = new BodyQueue({
    bytesMax,
    onWanted: () => {
      calls.push('wanted')
    },
    onRoom: () => {
      calls.push('room')
    },
  })
  return { queue, calls }
}

test('BodyQueue gives pieces in order and ends', async () => {
  const { queue } = make()
  queue.push(bytes(1))
  queue.push(bytes(2))
  queue.end()
  const lengths: number[] = []
  for await (const piece of queue) lengths.push(piece.length)
  expect(lengths).toEqual([1, 2])
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})

test('BodyQueue says when it is full and when there is room again', async () => {
  const { queue, calls } = make()
  expect(queue.push(bytes(9))).toBe(true)
  expect(queue.push(bytes(5))).toBe(false)
  expect(queue.isFull).toBe(true)
  await queue.next()
  expect(calls).toEqual(['wanted', 'room'])
  await queue.next()
  expect(calls).toEqual(['wanted', 'room'])
})

test('BodyQueue hands a piece straight to whoever waits, and tells when it is wanted once', async () => {
  const { queue, calls } = make(1)
  const next = queue.next()
  expect(queue.isWaitedFor).toBe(true)
  expect(queue.push(bytes(100))).toBe(true)
  expect((await next).value).toHaveLength(100)
  const last = queue.next()
  queue.end()
  expect((await last).done).toBe(true)
  expect(calls).toEqual(['wanted'])
})

test('BodyQueue throws its failure after the pieces that came before it', async () => {
  const { queue } = make()
  queue.push(bytes(1))
  queue.fail(new Error('cut'))
  expect((await queue.next()).done).toBe(false)
  await expect(queue.next()).rejects.toThrow('cut')
  const waiting = make()
  const next = waiting.queue.next()
  waiting.queue.fail(new Error('cut'))
  await expect(next).rejects.toThrow('cut')
})

test('BodyQueue drops everything once its reader has left', async () => {
  const { queue, calls } = make()
  queue.push(bytes(50))
  for await (const piece of queue) {
    expect(piece).toHaveLength(50)
    break
  }
  expect(queue.push(bytes(50))).toBe(true)
  expect(await queue.next()).toEqual({ done: true, value: undefined })
  expect(calls).toEqual(['wanted', 'room'])
})
