import { expect, test } from 'vitest'
import { failureOf, messageOf, retryAfterOf } from './driver.ts'

test.each<[object | undefined, string]>([
  [undefined, 'unknown'],
  [{}, 'unknown'],
  [{ status: 404 }, 'absent'],
  [{ statusCode: 410 }, 'absent'],
  [{ code: 429 }, 'throttled'],
  [{ code: 400 }, 'refused'],
  [{ code: 499 }, 'refused'],
  [{ code: 399 }, 'unknown'],
  [{ code: 408 }, 'unknown'],
  [{ code: 500 }, 'unknown'],
  [{ code: 'ENOENT', status: 404 }, 'absent'],
  [{ status: 600, statusCode: 404 }, 'absent'],
  [{ status: 99, statusCode: 404 }, 'absent'],
])('failureOf %j is %s', (error, failure) => {
  expect(failureOf(error)).toBe(failure)
})

test('retryAfterOf is what the system asked for, at most an hour', () => {
  expect([0, 5000, 3_600_000, 1e12, -1, '5'].map((retryAfterMs) => retryAfterOf({ retryAfterMs }))).toEqual([
    0,
    5000,
    3_600_000,
    3_600_000,
    undefined,
    undefined,
  ])
})

test('messageOf cuts a text to 300 characters', () => {
  expect(messageOf(new Error('no'))).toBe('no')
  expect(messageOf('x'.repeat(300))).toBe('x'.repeat(300))
  expect(messageOf('x'.repeat(301))).toBe(`${'x'.repeat(297)}...`)
})
