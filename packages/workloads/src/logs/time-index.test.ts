import { describe, expect, test } from 'vitest'
import { TimeIndex } from './time-index.ts'

describe('TimeIndex', () => {
  test('a byte has the time of the first look that saw it', () => {
    const index = new TimeIndex([
      [400, 1000],
      [900, 1100],
    ])
    expect([0, 399, 400, 899, 900].map((offset) => index.find(offset)?.[1])).toEqual([
      1000,
      1000,
      1100,
      1100,
      undefined,
    ])
    expect([500, 1000, 1050, 1100, 2000].map((ms) => index.offsetAt(ms))).toEqual([0, 0, 400, 400, 900])
  })

  test('a clock that jumps back does not move a later byte before an earlier one', () => {
    const index = new TimeIndex([[10, 1000]])
    index.add(20, 500)
    expect(index.find(15)).toEqual([20, 1000])
  })

  test('stays small: old times become coarser, new ones stay exact', () => {
    const index = new TimeIndex()
    for (let offset = 1; offset <= 100_000; offset++) index.add(offset, offset * 10)
    expect(index.entries.length).toBeLessThanOrEqual(2048)
    expect(index.find(99_999)).toEqual([100_000, 1_000_000])
    // Never too early.
    for (const offset of [0, 5000, 50_000]) expect(index.find(offset)?.[1]).toBeGreaterThan(offset * 10)
    index.dropBefore(99_990)
    expect(index.find(0)).toEqual([99_991, 999_910])
  })
})
