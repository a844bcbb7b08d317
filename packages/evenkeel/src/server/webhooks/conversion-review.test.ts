import { describe, expect, test } from 'vitest'
import type { JsonValue } from '#api'
import { makeConversionReview, readConversionResponse } from './conversion-review.ts'
import { reviewVersion } from './review.ts'

const question = { version: 'v1', uid: 'q', apiVersion: 'a.example.com/v2' } as const
const head = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' }

test('reviewVersion takes the first of a list that is spoken here', () => {
  expect(reviewVersion(['v9', 'v1beta1', 'v1'])).toBe('v1beta1')
  expect(reviewVersion(['v9'])).toBeUndefined()
})

test('makeReview asks for a version and does not tell where objects are stored', () => {
  const objects = [{ apiVersion: 'a.example.com/v1', kind: 'Thing', metadata: { name: 'x', resourceVersion: '7' } }]
  expect(makeConversionReview(objects, question)).toEqual({
    ...head,
    request: {
      uid: 'q',
      desiredAPIVersion: 'a.example.com/v2',
      objects: [{ apiVersion: 'a.example.com/v1', kind: 'Thing', metadata: { name: 'x' } }],
    },
  })
})

describe('readAnswer', () => {
  test('gives the converted objects', () => {
    expect(
      readConversionResponse(
        { ...head, response: { uid: 'q', result: { status: 'Success' }, convertedObjects: [1] } },
        question,
      ),
    ).toEqual([1])
    expect(
      readConversionResponse({ ...head, response: { uid: 'q', result: { status: 'Success' } } }, question),
    ).toEqual([])
  })

  test.each<[JsonValue, string]>([
    [[], "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct"],
    [{}, 'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind='],
    [
      { ...head, apiVersion: 'apiextensions.k8s.io/v1beta1' },
      'expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got apiextensions.k8s.io/v1beta1, Kind=ConversionReview',
    ],
    [head, 'no response provided'],
    [{ ...head, response: { uid: 'other' } }, 'expected response.uid="q", got "other"'],
    [{ ...head, response: { uid: 'q' } }, "response.result.status was '', not 'Success'"],
    [
      { ...head, response: { uid: 'q', result: { status: 'Failure' } } },
      "response.result.status was 'Failure', not 'Success'",
    ],
    [{ ...head, response: { uid: 'q', result: { status: 'Failure', message: 'no way' } } }, 'no way'],
    [
      { ...head, response: { uid: 'q', result: { status: 'Success' }, convertedObjects: {} } },
      'response.convertedObjects must be a list',
    ],
  ])('refuses %j', (review, why) => {
    expect(() => readConversionResponse(review, question)).toThrow(new Error(why))
  })

  test('takes any answer in v1beta1 that says success', () => {
    expect(
      readConversionResponse(
        { response: { uid: 'other', result: { status: 'Success' }, convertedObjects: [] } },
        { ...question, version: 'v1beta1' },
      ),
    ).toEqual([])
  })
})
