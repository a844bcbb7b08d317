import { expect, test } from 'vitest'
import { ContentHash, type Entry } from './store.ts'

const entry: Entry = { key: '/a', value: Buffer.from('value'), revision: 7, created: 3 }

function hashOf(...entries: readonly Entry[]): string {
  const hash = new ContentHash()
  for (const one of entries) hash.add(one)
  return hash.digest()
}

test('ContentHash is the same for the same entries, whatever their bytes lie in', () => {
  expect(hashOf(entry)).toBe(hashOf({ ...entry, value: Uint8Array.from(entry.value) }))
  expect(hashOf()).toBe(hashOf())
  expect(hashOf(entry)).toMatch(/^[0-9a-f]{64}$/)
})

test('ContentHash never changes between releases', () => {
  expect(hashOf()).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(hashOf(entry)).toBe(golden)
})

test('ContentHash shows every difference', () => {
  const others: readonly Entry[][] = [
    [],
    [entry, entry],
    [{ ...entry, key: '/b' }],
    [{ ...entry, value: Buffer.from('valuf') }],
    [{ ...entry, revision: 8 }],
    [{ ...entry, created: 4 }],
    [{ ...entry, lease: '1' }],
    [{ ...entry, key: '/av', value: Buffer.from('alue') }],
    [{ ...entry, value: new Uint8Array(0) }],
    [{ ...entry, key: '/b' }, entry],
    [entry, { ...entry, key: '/b' }],
  ]
  expect(new Set([hashOf(entry), ...others.map((list) => hashOf(...list))]).size).toBe(others.length + 1)
})

test('ContentHash covers whether there is a lease, not its id, which differs between engines', () => {
  expect(hashOf({ ...entry, lease: '1' })).toBe(hashOf({ ...entry, lease: '2' }))
})

const golden = '1dc495b7d4b445a0e5ab3f17cf8f2c362534878e19c7f7d385950898cfe90a06'
