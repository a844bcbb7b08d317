import { expect, test } from 'vitest'
import { BodyQueue } from './body-queue.ts'
import { HeldBytes } from './held-bytes.ts'

const bytes = (length: number): Uint8Array => new Uint8Array(length)

function make(bytesMax = 10, held = new HeldBytes(1000)): { queue: BodyQueue; calls: string[] } {
  const calls: string[] = []
  const queue = new BodyQueue({
    bytesMax,
    held,
    onWanted: () => {
      calls.push('wanted')
    },
    onRoom: () => {
      calls.push('room')
    },
  })
  return { queue, calls }
}

test('BodyQueue gives what has arrived as one piece, in order, and ends', async () => {
  const { queue } = make()
  queue.push(Buffer.from('a'))
  queue.push(Buffer.from('bc'))
  const pieces = [(await queue.next()).value]
  queue.push(Buffer.from('d'))
  queue.end()
  for await (const piece of queue) pieces.push(piece)
  expect(pieces.map(String)).toEqual(['abc', 'd'])
  expect(await queue.next()).toEqual({ done: true, value: undefined })
})

test('BodyQueue says when it is full and when there is room again', async () => {
  const { queue, calls } = make()
  expect(queue.push(bytes(9))).toBe(true)
  expect(queue.push(bytes(5))).toBe(false)
  expect(queue.isFull).toBe(true)
  expect((await queue.next()).value).toHaveLength(14)
  expect(calls).toEqual(['wanted', 'room'])
  expect(queue.isFull).toBe(false)
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

test('row 13: bytes that nobody reads are counted, refused above the limit, and given back', async () => {
  const all = new HeldBytes(100)
  const held = new HeldBytes(60, { parent: all })
  const { queue } = make(1000, held)
  for (let index = 0; index < 60; index++) queue.push(bytes(1))
  expect([held.size, all.size]).toEqual([60, 60])
  queue.push(bytes(1))
  expect([held.size, all.size]).toEqual([0, 0])
  await expect(queue.next()).rejects.toMatchObject({ reason: 'TooManyRequests' })

  const others = [1, 2].map(() => make(1000, new HeldBytes(60, { parent: all })).queue)
  for (const other of others) other.push(bytes(55))
  expect(all.size).toBe(55)
  await expect(others[1]?.next()).rejects.toMatchObject({ reason: 'TooManyRequests' })
  expect((await others[0]?.next())?.value).toHaveLength(55)
  expect(all.size).toBe(0)
  others[0]?.push(bytes(10))
  others[0]?.discard()
  expect(all.size).toBe(0)
})
