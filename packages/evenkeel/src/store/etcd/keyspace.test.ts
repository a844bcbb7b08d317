import { describe, expect, test } from 'vitest'
import { EtcdKeyspace } from './keyspace.ts'

const keyspace = new EtcdKeyspace('/e/')

describe('Keyspace', () => {
  test('puts the prefix before keys and takes it off', () => {
    expect(keyspace.inEtcd('pods/a')).toBe('/e/pods/a')
    expect(keyspace.inStore('/e/pods/a')).toBe('pods/a')
  })

  test('ranges over a prefix, and over everything but the marker', () => {
    expect(keyspace.range('pods/')).toEqual({ key: '/e/pods/', end: '/e/pods0' })
    expect(keyspace.range('')).toEqual({ key: '/e/!', end: '/e0' })
    expect(keyspace.marker > keyspace.all.key && keyspace.marker < '/e/!').toBe(true)
    expect(keyspace.range('~')).toEqual({ key: '/e/~', end: '/e/\u007f' })
  })

  test('ranges behind a key, wherever that lies', () => {
    expect(keyspace.range('pods/', 'pods/b')).toEqual({ key: '/e/pods/b\u0000', end: '/e/pods0' })
    expect(keyspace.range('pods/', 'a')).toEqual({ key: '/e/pods/', end: '/e/pods0' })
    expect(keyspace.range('pods/', 'z').key).toBe('/e/z\u0000')
  })
})
