import { expect, test } from 'vitest'
import { compareVersions } from './groups.ts'

test('compareVersions prefers stable over beta over alpha, then higher numbers, then the alphabet', () => {
  const ordered = [
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'foo1',
    'foo10',
    'v0',
    'v1gamma1',
  ]
  expect(ordered.toReversed().sort(compareVersions)).toEqual(ordered)
})

test('compareVersions gives 0 for equal names only', () => {
  expect(compareVersions('v1', 'v1')).toBe(0)
  expect(compareVersions('main', 'main')).toBe(0)
  expect(compareVersions('v1', 'v01')).toBeLessThan(0)
})
