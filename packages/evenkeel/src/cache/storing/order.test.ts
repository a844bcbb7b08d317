import { expect, test } from 'vitest'
import { hasReached, orderOf } from './order.ts'

test('91 orderOf compares versions of any length as decimals', () => {
  expect(orderOf('999', '1000')).toBeLessThan(0)
  expect(orderOf('9007199254740993', '9007199254740992')).toBeGreaterThan(0)
  expect(orderOf('5', '5')).toBe(0)
})

test('91 orderOf knows no order of what is no version, where hasReached takes equality', () => {
  for (const text of ['0', '', '007', 'abc']) {
    expect(orderOf(text, '5')).toBeUndefined()
    expect(hasReached(text, '5')).toBe(false)
    expect(hasReached(text, text)).toBe(true)
  }
})
