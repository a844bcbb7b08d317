import { expect, test } from 'vitest'
import { deferred } from './deferred.ts'

test('deferred resolves with the first value', async () => {
  const { promise, resolve, reject } = deferred<number>()
  const early = promise.then((value) => value + 1)
  resolve(1)
  resolve(2)
  reject(new Error('late'))
  expect(await promise).toBe(1)
  expect(await early).toBe(2)
})

test('deferred rejects with what it was given', async () => {
  const { promise, resolve, reject } = deferred<number>()
  reject('reason')
  resolve(1)
  await expect(promise).rejects.toBe('reason')
})
