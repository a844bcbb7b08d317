import { describe, expect, test } from 'vitest'
import type { StoreErrorReason } from '#store'
import { withStorageErrors } from './storage.ts'

const target = { resource: { group: '', plural: 'pods' } } as never

/** Recognised by its name, so that errors of another copy of the package count as well. */
function storeError(reason: StoreErrorReason): Error {
  return Object.assign(new Error('no'), { name: 'StoreError', reason })
}

function failing(error: unknown): Promise<unknown> {
  return withStorageErrors(target, 'get', () => Promise.reject(error as Error))
}

describe('withStorageErrors', () => {
  test('returns what the call returns', async () => {
    expect(await withStorageErrors(target, 'get', () => Promise.resolve(7))).toBe(7)
  })

  test('passes on errors that are not of the store', async () => {
    const error = new TypeError('a bug')
    await expect(failing(error)).rejects.toBe(error)
  })

  test.for([
    ['TooLarge', { reason: 'RequestEntityTooLarge', code: 413 }],
    ['Failed', { reason: 'ServerTimeout', code: 500 }],
    ['NoLease', { reason: 'ServerTimeout', code: 500 }],
    ['NoSpace', { reason: 'ServiceUnavailable', code: 503 }],
  ] as const)('turns %s of a store into %j', async ([reason, expected]) => {
    await expect(failing(storeError(reason))).rejects.toMatchObject(expected)
  })
})
