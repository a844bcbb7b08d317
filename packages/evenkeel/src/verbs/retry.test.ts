import { expect, test } from 'vitest'
import { retryDelayMs } from './retry.ts'

const retry = { attempts: 9, backoffMs: 1000, maxBackoffMs: 5000 }
const withFields = (fields: object, options?: ErrorOptions): Error => Object.assign(new Error('x', options), fields)

test('F16: the wait doubles up to its maximum, ends with the last attempt, and is at least what the error asks for', () => {
  const busy = withFields({ status: 429 })
  expect([1, 2, 3, 4, 8, 9].map((attempt) => retryDelayMs(retry, attempt, busy))).toEqual([
    1000,
    2000,
    4000,
    5000,
    5000,
    undefined,
  ])
  expect(retryDelayMs(retry, 1, withFields({ status: 429, retryAfterMs: 7000 }))).toBe(7000)
})

test.each([
  ['429', withFields({ status: 429 }), true],
  ['503', withFields({ statusCode: 503 }), true],
  ['500 of an API error', withFields({ code: 500 }), true],
  ['404', withFields({ status: 404 }), false],
  ['a reset connection', withFields({ code: 'ECONNRESET' }), true],
  ['a failed fetch', new TypeError('fetch failed', { cause: withFields({ code: 'ECONNREFUSED' }) }), true],
  [
    'a fetch that timed out',
    new TypeError('fetch failed', { cause: withFields({ code: 'UND_ERR_CONNECT_TIMEOUT' }) }),
    true,
  ],
  [
    'a refused request with a broken cause',
    withFields({ status: 400 }, { cause: withFields({ code: 'EPIPE' }) }),
    false,
  ],
  ['a plain error', new Error('x'), false],
  ['a text', 'x', false],
])('F16: %s is transient: %s', (_, error, isTransient) => {
  expect(retryDelayMs(retry, 1, error) !== undefined).toBe(isTransient)
})
