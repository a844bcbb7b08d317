import { expect, test } from 'vitest'
import { isBodiless } from './http-message.ts'

test.each([
  ['HEAD', 200, true],
  ['GET', 204, true],
  ['GET', 304, true],
  ['GET', 200, false],
  ['GET', 305, false],
])('isBodiless: a response to %s with status %d: %s', (method, status, expected) => {
  expect(isBodiless(method, status)).toBe(expected)
})
