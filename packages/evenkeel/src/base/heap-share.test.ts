import { getHeapStatistics } from 'node:v8'
import { expect, test } from 'vitest'
import { heapShare } from './heap-share.ts'

test('heapShare is a share of the heap, and never more than the maximum', () => {
  const { heap_size_limit: heap } = getHeapStatistics()
  expect(heapShare(1 / 8, { max: Number.MAX_SAFE_INTEGER })).toBe(Math.floor(heap / 8))
  expect(heapShare(1 / 8, { max: 1000 })).toBe(1000)
})
