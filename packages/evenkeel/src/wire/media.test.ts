import { describe, expect, test } from 'vitest'
import { formatOfBody, negotiate, parseMediaType } from './media.ts'
import type { MediaOffer } from './media.ts'

const all: MediaOffer = {
  formats: ['json', 'yaml', 'protobuf'],
  accepts: ({ kind, group }, format) => kind === 'Table' && group === 'meta.k8s.io' && format !== 'protobuf',
}

describe('negotiate', () => {
  const table = { kind: 'Table', group: 'meta.k8s.io', version: 'v1' }
  test.each([
    [undefined, { format: 'json' }],
    ['', { format: 'json' }],
    ['*/*', { format: 'json' }],
    ['application/*', { format: 'json' }],
    ['application/yaml', { format: 'yaml' }],
    ['application/json;q=0.1, application/yaml;q=0.9', { format: 'yaml' }],
    ['application/vnd.kubernetes.protobuf,application/json', { format: 'protobuf' }],
    ['*/*, application/yaml', { format: 'yaml' }],
    ['text/html, application/json;q=0.5', { format: 'json' }],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', { format: 'json', shape: table }],
    ['application/json;as=Nonsense;v=v1;g=meta.k8s.io,application/json', { format: 'json' }],
    [
      'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io',
      { format: 'json', shape: table },
    ],
    ['application/json; pretty=1', { format: 'json', pretty: true }],
    ['APPLICATION/JSON ; charset=utf-8', { format: 'json' }],
    ['application/json;stream=watch', { format: 'json' }],
  ])('reads %s', (accept, choice) => {
    expect(negotiate(accept, all)).toEqual(choice)
  })

  test.each(['text/html', 'application/json;q=0', 'application/json;as=Table;g=other;v=v1', 'application/cbor'])(
    'refuses %s and names what is offered',
    (accept) => {
      expect(() => negotiate(accept, all)).toThrow(
        'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      )
    },
  )

  test('skips formats that are not offered', () => {
    expect(negotiate('application/vnd.kubernetes.protobuf,application/json', { formats: ['json', 'yaml'] })).toEqual({
      format: 'json',
    })
  })
})

test('negotiate offers a format only for shapes, and else takes the next accepted type', () => {
  const offer = { formats: ['json', 'protobuf'], onlyShaped: ['protobuf'], accepts: () => true } as const
  const protobuf = 'application/vnd.kubernetes.protobuf'
  expect(negotiate(`${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1`, offer).format).toBe('protobuf')
  expect(negotiate(`${protobuf},application/json`, offer)).toEqual({ format: 'json' })
  expect(() => negotiate(protobuf, offer)).toThrow('only the following media types are accepted')
})

test('parseMediaType takes quoted parameters and dangerous names', () => {
  expect(parseMediaType('Application/JSON; Charset="utf-8"; __proto__=x')).toEqual({
    type: 'application/json',
    parameters: Object.assign(Object.create(null), { charset: 'utf-8', ['__proto__']: 'x' }),
  })
})

test.each([
  [undefined, 'json'],
  ['', 'json'],
  ['application/json', 'json'],
  ['application/json; charset=utf-8', 'json'],
  ['application/yaml', 'yaml'],
  ['application/vnd.kubernetes.protobuf', 'protobuf'],
  ['application/cbor', 'cbor'],
  ['application/cbor-seq', undefined],
  ['text/plain', undefined],
])('formatOfBody of %s is %s', (contentType, format) => {
  expect(formatOfBody(contentType)).toBe(format)
})
