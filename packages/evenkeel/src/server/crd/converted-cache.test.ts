import { expect, test } from 'vitest'
import { ConvertedCache } from './versions.ts'

test('ConvertedCache forgets the oldest when the room is used up', () => {
  const cache = new ConvertedCache({ bytesMax: 10 })
  cache.put('a', { a: 1 }, 4)
  cache.put('b', { b: 1 }, 4)
  cache.put('a', { a: 2 }, 4)
  cache.put('c', { c: 1 }, 4)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([{ a: 2 }, undefined, { c: 1 }])
  cache.put('d', { d: 1 }, 11)
  expect(['a', 'c', 'd'].map((key) => cache.get(key))).toEqual([undefined, undefined, undefined])
})
