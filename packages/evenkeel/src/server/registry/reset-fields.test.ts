/** Filters of endpoints: alike for kinds that are alike, and the very same ones. */
import { expect, test } from 'vitest'
import type { Resource } from '@evenkeel/builtins'
import { resetFilters } from './field-manager.ts'

const bucket = {
  group: 'demo.example.com',
  kind: 'Bucket',
  custom: true,
  subresources: [{ name: 'status' }],
  strategy: {},
} as unknown as Resource

test('resetFilters of a definition that is served anew are the same ones, so that what was remembered of writes still holds', () => {
  const [before, after] = [resetFilters(bucket), resetFilters({ ...bucket })]
  expect(Object.keys(before)).toEqual(['', 'status'])
  for (const endpoint of ['', 'status']) expect(after[endpoint]).toBe(before[endpoint])
})
