import { expect, test } from 'vitest'
import { compareVersions, hasReachedVersion } from './items.ts'

test('91 orderOf compares versions of any length as decimals', () => {
  expect(compareVersions('999', '1000')).toBeLessThan(0)
  expect(compareVersions('9007199254740993', '9007199254740992')).toBeGreaterThan(0)
  expect(compareVersions('5', '5')).toBe(0)
})

test('91 orderOf knows no order of what is no version, where hasReached takes equality', () => {
  for (const text of ['0', '', '007', 'abc']) {
    expect(compareVersions(text, '5')).toBeUndefined()
    expect(hasReachedVersion(text, '5')).toBe(false)
    expect(hasReachedVersion(text, text)).toBe(true)
  }
})
