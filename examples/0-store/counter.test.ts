import { expect, test } from 'vitest'
import { openMemoryStore } from 'evenkeel/unstable/store'
import { follow, increment } from './counter.ts'

test('increment loses nothing with many concurrent writers', async () => {
  const store = openMemoryStore()
  const values = await Promise.all(Array.from({ length: 100 }, () => increment(store, '/n')))
  expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1))
})

test('follow continues after the given revision, and fails when it is compacted', async () => {
  const store = openMemoryStore()
  for (let turn = 0; turn < 5; turn++) await increment(store, '/n')
  const seen: number[] = []
  for await (const { value } of follow(store, '/n', 3)) {
    seen.push(value)
    if (value === 5) break
  }
  expect(seen).toEqual([3, 4, 5])
  await store.compact(5)
  await expect(follow(store, '/n', 2).next()).rejects.toThrow(/history before revision 5 is gone/)
})
