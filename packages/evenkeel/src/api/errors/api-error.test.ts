import { describe, expect, test } from 'vitest'
import * as predicates from './api-error.ts'
import {
  ApiError,
  findCause,
  formatSubject,
  isAlreadyExists,
  isApiError,
  isConflict,
  isExpired,
  isGone,
  isInternalError,
  isNotFound,
  isReason,
  isRequestEntityTooLarge,
  isTooManyRequests,
} from './api-error.ts'
import { isKnownReason, reasons, type Reason } from './reasons.ts'

const allReasons = Object.keys(reasons) as Reason[]

describe('ApiError', () => {
  test('takes its code from its reason', () => {
    const codes = Object.fromEntries(allReasons.map((reason) => [reason, new ApiError(reason, 'x').code]))
    expect(codes).toEqual({
      Unauthorized: 401,
      Forbidden: 403,
      NotFound: 404,
      AlreadyExists: 409,
      Conflict: 409,
      Gone: 410,
      Invalid: 422,
      ServerTimeout: 500,
      StorageReadError: 500,
      Timeout: 504,
      TooManyRequests: 429,
      BadRequest: 400,
      MethodNotAllowed: 405,
      NotAcceptable: 406,
      RequestEntityTooLarge: 413,
      UnsupportedMediaType: 415,
      InternalError: 500,
      Expired: 410,
      ServiceUnavailable: 503,
      Unknown: 500,
    })
  })

  test('keeps what it is given, and is an Error with a cause', () => {
    const cause = new Error('disk full')
    const error = new ApiError('Conflict', 'no', {
      subject: { kind: 'pods', name: 'a' },
      causes: [{ message: 'm' }],
      retryAfterMs: 5,
      metadata: { continue: 't' },
      cause,
      code: 418,
    })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: 'ApiError',
      message: 'no',
      reason: 'Conflict',
      code: 418,
      subject: { kind: 'pods', name: 'a' },
      causes: [{ message: 'm' }],
      retryAfterMs: 5,
      metadata: { continue: 't' },
    })
    expect(error.cause).toBe(cause)
    expect('cause' in new ApiError('Conflict', 'no')).toBe(false)
  })

  test('a reason nobody knows is kept, and counts as a failure of the server', () => {
    expect(new ApiError('TooSalty', 'x')).toMatchObject({ reason: 'TooSalty', code: 500 })
  })

  test.each([0, 99, 1000, NaN])('refuses code %d', (code) =>
    expect(() => new ApiError('Conflict', 'x', { code })).toThrow(RangeError),
  )
})

describe('recognition', () => {
  test('accepts an error of another copy of the package', () => {
    // What a second copy would make: another class, the same registered symbol.
    class OtherCopy extends Error {
      readonly reason = 'NotFound'
      readonly code = 404
      readonly causes = []
      get [Symbol.for('evenkeel.ApiError')](): boolean {
        return true
      }
    }
    const error: unknown = new OtherCopy('gone')
    expect(error).not.toBeInstanceOf(ApiError)
    expect(isApiError(error)).toBe(true)
    expect(isNotFound(error)).toBe(true)
    expect(isConflict(error)).toBe(false)
  })

  test.each([
    undefined,
    null,
    'NotFound',
    404,
    {},
    new Error('x'),
    { reason: 'NotFound', code: 404 },
    { name: 'ApiError' },
  ])('is not fooled by %j', (thing) => {
    expect(isApiError(thing)).toBe(false)
    expect(isNotFound(thing)).toBe(false)
    expect(findCause(thing, 'FieldValueInvalid')).toBeUndefined()
  })

  test('every reason but Unknown has a predicate, and it is true for that reason alone', () => {
    for (const reason of allReasons) {
      if (reason === 'Unknown') continue
      const predicate = predicates[`is${reason}` as keyof typeof predicates] as (error: unknown) => boolean
      expect(
        allReasons.filter((other) => predicate(new ApiError(other, 'x', { code: 299 }))),
        reason,
      ).toEqual([reason])
    }
  })

  test.each(['Unknown', 'TooSalty'])('reason %s lets the code speak', (reason) => {
    expect(isNotFound(new ApiError(reason, 'x', { code: 404 }))).toBe(true)
    expect(isConflict(new ApiError(reason, 'x', { code: 409 }))).toBe(true)
    expect(isGone(new ApiError(reason, 'x', { code: 410 }))).toBe(true)
    expect(isInternalError(new ApiError(reason, 'x', { code: 500 }))).toBe(true)
    expect(isAlreadyExists(new ApiError(reason, 'x', { code: 409 }))).toBe(false)
    expect(isExpired(new ApiError(reason, 'x', { code: 410 }))).toBe(false)
    expect(isReason(new ApiError(reason, 'x', { code: 500 }), 'ServerTimeout')).toBe(false)
  })

  test('a known reason beats its code, except for the two codes proxies send', () => {
    expect(isNotFound(new ApiError('Conflict', 'x', { code: 404 }))).toBe(false)
    expect(isTooManyRequests(new ApiError('InternalError', 'x', { code: 429 }))).toBe(true)
    expect(isRequestEntityTooLarge(new ApiError('InternalError', 'x', { code: 413 }))).toBe(true)
  })

  test('isKnownReason looks at own names only', () => {
    expect(isKnownReason('NotFound')).toBe(true)
    expect(isKnownReason('toString')).toBe(false)
  })

  test('findCause finds the first of a type', () => {
    const error = new ApiError('Invalid', 'x', {
      causes: [
        { reason: 'FieldValueInvalid', field: 'a' },
        { reason: 'FieldValueRequired', field: 'b' },
        { reason: 'FieldValueRequired', field: 'c' },
      ],
    })
    expect(findCause(error, 'FieldValueRequired')).toEqual({ reason: 'FieldValueRequired', field: 'b' })
    expect(findCause(error, 'NamespaceTerminating')).toBeUndefined()
  })
})

test.each([
  [{ kind: 'pods', name: 'a' }, 'pods "a"'],
  [{ kind: 'deployments', group: 'apps', name: 'web' }, 'deployments.apps "web"'],
  [{ kind: 'pods' }, 'pods'],
  [{ kind: 'pods', group: '', name: '' }, 'pods'],
])('formatSubject writes %j', (subject, text) => expect(formatSubject(subject)).toBe(text))
