import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError, isNotFound, type Subject } from './api-error.ts'
import { expired, notFound, tooManyRequests, unauthorized } from './constructors.ts'
import { fieldError, FieldPath, invalid } from './field-error.ts'
import { reasons } from './reasons.ts'
import { fromStatus, fromUnexpectedResponse, isFailureStatus, toStatus, type Status } from './status.ts'

describe('toStatus', () => {
  test('writes what kube-apiserver writes for a missing object', () => {
    expect(toStatus(notFound({ group: 'apps', kind: 'deployments', name: 'web' }))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'deployments.apps "web" not found',
      reason: 'NotFound',
      details: { name: 'web', group: 'apps', kind: 'deployments' },
      code: 404,
    })
  })

  test('has no details when there is nothing to say, and no empty members', () => {
    expect(toStatus(unauthorized())).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    })
    expect(toStatus(notFound({ group: '', kind: 'pods', name: 'a' })).details).toEqual({ name: 'a', kind: 'pods' })
  })

  test("writes causes with the wire's name for their type", () => {
    const error = invalid({ kind: 'Pod', name: 'a' }, [fieldError.required(FieldPath.of('spec', 'image'))])
    expect(toStatus(error).details).toEqual({
      name: 'a',
      kind: 'Pod',
      causes: [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.image' }],
    })
  })

  test.each([
    [1, 1],
    [1000, 1],
    [1001, 2],
    [60_000, 60],
  ])('rounds a wait of %d ms up to %d s', (retryAfterMs, seconds) => {
    expect(toStatus(tooManyRequests('x', { retryAfterMs })).details).toEqual({ retryAfterSeconds: seconds })
  })

  test('carries list metadata and leaves the unknown reason out', () => {
    expect(toStatus(expired('x', { continueToken: 't' })).metadata).toEqual({ continue: 't' })
    expect('reason' in toStatus(new ApiError('Unknown', 'x'))).toBe(false)
  })

  test('turns anything else into an internal error', () => {
    expect(toStatus(new TypeError('oops'))).toMatchObject({
      reason: 'InternalError',
      code: 500,
      message: 'Internal error occurred: oops',
      details: { causes: [{ message: 'oops' }] },
    })
    expect(toStatus(undefined)).toMatchObject({ reason: 'InternalError', code: 500 })
  })
})

describe('fromStatus', () => {
  const word = fc.string({ minLength: 1, maxLength: 5 })
  const subject = fc.record(
    { kind: word, group: word, name: word, uid: word },
    { requiredKeys: ['kind'] },
  ) as fc.Arbitrary<Subject>
  const anyError = fc
    .record({
      reason: fc.constantFrom(...Object.keys(reasons), 'TooSalty'),
      message: fc.string(),
      subject: fc.option(subject, { nil: undefined }),
      causes: fc.array(fc.record({ reason: word, message: word, field: word }, { requiredKeys: [] }), { maxLength: 2 }),
      retryAfterMs: fc.option(
        fc.integer({ min: 1, max: 100 }).map((seconds) => seconds * 1000),
        { nil: undefined },
      ),
      metadata: fc.option(fc.constant({ continue: 't' }), { nil: undefined }),
      code: fc.integer({ min: 100, max: 599 }),
    })
    .map(({ reason, message, ...options }) => new ApiError(reason, message, options))

  test('undoes toStatus, through JSON text', () => {
    fc.assert(
      fc.property(anyError, (error) => {
        const back = fromStatus(JSON.parse(JSON.stringify(toStatus(error))) as Status)
        expect({ ...back, message: back.message }).toEqual({ ...error, message: error.message })
      }),
    )
  })

  test('and toStatus undoes fromStatus', () => {
    const status: Status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: { continue: 'x' },
      status: 'Failure',
      message: 'm',
      reason: 'Foreign',
      details: { name: 'n', kind: 'k', uid: 'u', causes: [{ message: 'c' }], retryAfterSeconds: 3 },
      code: 418,
    }
    expect(toStatus(fromStatus(status))).toEqual(status)
  })

  test('makes the best of what foreign servers leave out or mistype', () => {
    expect(fromStatus({})).toMatchObject({ reason: 'Unknown', code: 500, message: '', causes: [], subject: undefined })
    expect(isNotFound(fromStatus({ code: 404 }))).toBe(true)
    const odd = {
      reason: 'Conflict',
      code: 0,
      details: { causes: ['text', { message: 'm' }] },
      metadata: null,
    } as unknown as Status
    expect(fromStatus(odd)).toMatchObject({
      reason: 'Conflict',
      code: 409,
      causes: [{ message: 'm' }],
      metadata: undefined,
    })
    expect(fromStatus({ details: null } as unknown as Status).causes).toEqual([])
  })
})

test.each([
  [{ kind: 'Status', status: 'Failure' }, true],
  [{ kind: 'Status' }, true],
  [{ kind: 'Status', status: 'Success' }, false],
  [{ kind: 'Pod', status: {} }, false],
  [null, false],
  ['Status', false],
])('isFailureStatus(%j)', (value, expected) => expect(isFailureStatus(value)).toBe(expected))

describe('fromUnexpectedResponse', () => {
  test.each([
    [400, 'GET', 'BadRequest', 'the server rejected our request for an unknown reason'],
    [401, 'GET', 'Unauthorized', 'the server has asked for the client to provide credentials'],
    [403, 'GET', 'Forbidden', 'a page'],
    [404, 'GET', 'NotFound', 'the server could not find the requested resource'],
    [405, 'PUT', 'MethodNotAllowed', 'the server does not allow this method on the requested resource'],
    [406, 'GET', 'NotAcceptable', 'a page'],
    [409, 'PUT', 'Conflict', 'the server reported a conflict'],
    [409, 'post', 'AlreadyExists', 'the server reported a conflict'],
    [415, 'PATCH', 'UnsupportedMediaType', 'a page'],
    [418, 'GET', 'Unknown', 'the server responded with the status code 418 but did not return more information'],
    [422, 'PUT', 'Invalid', 'the server rejected our request due to an error in our request'],
    [429, 'GET', 'TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
    [502, 'GET', 'InternalError', 'an error on the server ("a page") has prevented the request from succeeding'],
    [503, 'GET', 'ServiceUnavailable', 'the server is currently unable to handle the request'],
    [
      504,
      'GET',
      'Timeout',
      'the server was unable to return a response in the time allotted, but may still be processing the request',
    ],
  ])('%d on %s is %s', (...[code, method, reason, message]) => {
    const error = fromUnexpectedResponse({ code, method, text: 'a page' })
    expect(error).toMatchObject({
      code,
      reason,
      message,
      causes: [{ reason: 'UnexpectedServerResponse', message: 'a page' }],
    })
  })

  test('names what was asked for', () => {
    const subject = { group: 'apps', kind: 'deployments', name: 'web' }
    expect(fromUnexpectedResponse({ code: 404, method: 'GET', subject, retryAfterMs: 2000 })).toMatchObject({
      message: 'the server could not find the requested resource (get deployments.apps web)',
      subject,
      retryAfterMs: 2000,
    })
    expect(fromUnexpectedResponse({ code: 404, method: 'GET', subject: { kind: 'pods' } }).message).toMatch(
      /\(get pods\)$/,
    )
    expect(fromUnexpectedResponse({ code: 406, method: 'GET' }).message).toBe(
      'the server was unable to respond with a content type that the client supports',
    )
  })
})
