import { expect, test } from 'vitest'
import { LatestValue } from './latest-value.ts'

const done = { done: true, value: undefined }

test('a slow reader gets the newest value, and each value once', async () => {
  const sizes = new LatestValue<number>()
  for (const size of [1, 2, 3]) sizes.set(size)
  expect(await sizes.next()).toEqual({ done: false, value: 3 })
  const waiting = sizes.next()
  sizes.set(4)
  expect(await waiting).toEqual({ done: false, value: 4 })
})

test('the last value is read after the end, and a reader that waits ends', async () => {
  const sizes = new LatestValue<number>()
  sizes.set(1)
  sizes.end()
  sizes.set(2)
  expect([await sizes.next(), await sizes.next()]).toEqual([{ done: false, value: 1 }, done])
  const other = new LatestValue<number>()
  const waiting = other.next()
  other.end()
  expect(await waiting).toEqual(done)
})

test('a reader that leaves takes the value with it', async () => {
  const sizes = new LatestValue<number>()
  sizes.set(1)
  await sizes.return()
  expect(await sizes.next()).toEqual(done)
})
