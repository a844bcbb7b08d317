import { expect, test } from 'vitest'
import { errorOf, RpcError, toStoreError } from './grpc.ts'

const read = (code: string, message: string): unknown =>
  toStoreError(new RpcError(code as RpcError['code'], message, { isUncertain: false }), 'read /a')

test('toStoreError says what etcd refused, and what to do', () => {
  for (const code of ['PermissionDenied', 'Unauthenticated'])
    expect(read(code, 'no'), code).toMatchObject({
      reason: 'Failed',
      message: 'etcd denied permission to read /a: no; check user, password and role',
    })
  expect(read('Unavailable', 'gone')).toMatchObject({ reason: 'Failed', message: 'etcd could not read /a: gone' })
  expect(read('ResourceExhausted', 'etcdserver: mvcc: database space exceeded')).toMatchObject({ reason: 'NoSpace' })
  for (const text of ['etcdserver: request is too large', 'message larger than max'])
    expect(read('ResourceExhausted', text), text).toMatchObject({ reason: 'TooLarge' })
})

test('toStoreError returns any other error unchanged', () => {
  const error = new Error('another')
  expect(toStoreError(error, 'read /a')).toBe(error)
})

test('errorOf reads the status, and a response without one is an error', () => {
  expect(errorOf({ 'grpc-status': '0' })).toBeUndefined()
  expect(errorOf({ 'grpc-status': '7', 'grpc-message': 'not%20you' })).toMatchObject({
    code: 'PermissionDenied',
    message: 'not you',
    isUncertain: false,
  })
  expect(errorOf({ 'grpc-status': '7', 'grpc-message': '100%' })).toMatchObject({ message: '100%' })
  expect(errorOf({ ':status': '502' })).toMatchObject({
    code: 'Unknown',
    message: 'HTTP status 502',
    isUncertain: true,
  })
})

test('RpcError has a cause only if there is one', () => {
  const cause = new Error('below')
  expect(new RpcError('Internal', 'a', { isUncertain: true, cause }).cause).toBe(cause)
  expect('cause' in new RpcError('Internal', 'a', { isUncertain: true })).toBe(false)
})
