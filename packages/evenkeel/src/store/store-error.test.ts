import { expect, test } from 'vitest'
import { isStoreError, StoreError } from './store.ts'

test('StoreError says why, and keeps its cause', () => {
  const cause = new Error('deep down')
  const error = new StoreError('NoSpace', 'the disk is full', { cause })
  expect([error.name, error.reason, error.message, error.cause, error instanceof Error]).toEqual([
    'StoreError',
    'NoSpace',
    'the disk is full',
    cause,
    true,
  ])
  expect('cause' in new StoreError('Closed', 'x')).toBe(false)
})

test('isStoreError recognizes a StoreError, with a reason only that one', () => {
  const error = new StoreError('NoLease', 'x')
  expect([isStoreError(error), isStoreError(error, 'NoLease'), isStoreError(error, 'Closed')]).toEqual([
    true,
    true,
    false,
  ])
})

test('isStoreError recognizes errors of another copy of this package', () => {
  const other = Object.assign(new Error('x'), { name: 'StoreError', reason: 'Closed' })
  expect([isStoreError(other), isStoreError(other, 'Closed'), isStoreError(other, 'Failed')]).toEqual([
    true,
    true,
    false,
  ])
})

test.each([
  undefined,
  null,
  'StoreError',
  new Error('x'),
  { name: 'StoreError', reason: 'Closed' },
  Object.assign(new Error('x'), { reason: 'Closed' }),
  Object.assign(new Error('x'), { name: 'StoreError' }),
])('isStoreError takes %o for none', (other) => {
  expect(isStoreError(other)).toBe(false)
})
