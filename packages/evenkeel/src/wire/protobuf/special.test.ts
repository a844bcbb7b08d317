import type { JsonValue } from '#api'
import { describe, expect, test } from 'vitest'
import { decodeProtobuf, encodeProtobuf } from './envelope.ts'
import { body, bytes, field, number } from './wire-bytes.fixture.ts'

/** One field of an object: its bytes, and what JSON says; decoding and encoding must both agree. */
interface Case {
  readonly what: string
  readonly wire: Uint8Array
  readonly json: JsonValue
}

const seconds = 1_772_366_400

const times: Case[] = [
  { what: 'a time is seconds', wire: bytes(number(1, seconds), number(2, 0)), json: '2026-03-01T12:00:00Z' },
  {
    what: 'a time before 1970 has negative seconds',
    wire: bytes(number(1, -1), number(2, 0)),
    json: '1969-12-31T23:59:59Z',
  },
]

test.each(times)('$what', ({ wire, json }) => {
  const objects = (value: Uint8Array): Uint8Array => body('v1', 'Namespace', field(1, field(9, value)))
  expect(decodeProtobuf(objects(wire))).toMatchObject({ metadata: { deletionTimestamp: json } })
  expect(
    includes(
      encodeProtobuf({ apiVersion: 'v1', kind: 'Namespace', metadata: { deletionTimestamp: json } }),
      field(9, wire),
    ),
  ).toBe(true)
})

describe('time', () => {
  const decodeTime = (...parts: Uint8Array[]): unknown =>
    (
      decodeProtobuf(body('v1', 'Namespace', field(1, field(8, ...parts))))['metadata'] as
        | { creationTimestamp?: unknown }
        | undefined
    )?.creationTimestamp

  test('is absent when it is empty or the first moment of the year 1', () => {
    expect(decodeTime()).toBeUndefined()
    expect(decodeTime(number(1, -62_135_596_800), number(2, 0))).toBeUndefined()
    const zero = encodeProtobuf({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { creationTimestamp: '0001-01-01T00:00:00Z' },
    })
    expect(zero).toEqual(encodeProtobuf({ apiVersion: 'v1', kind: 'Namespace' }))
  })

  test('drops parts of a second', () => {
    expect(decodeTime(number(1, seconds), number(2, 999_999_999))).toBe('2026-03-01T12:00:00Z')
    const exact = encodeProtobuf({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { creationTimestamp: '2026-03-01T12:00:00.9Z' },
    })
    expect(includes(exact, field(8, number(1, seconds), number(2, 0)))).toBe(true)
  })

  test('beyond the year 9999 is refused', () =>
    expect(() => decodeTime(number(1, 253_402_300_800))).toThrow('outside the years 1 to 9999'))
})

const specs: (Case & { kind: string; number: number; name: string })[] = [
  {
    what: 'a micro time',
    kind: 'coordination.k8s.io/v1 Lease',
    number: 3,
    name: 'acquireTime',
    wire: bytes(number(1, seconds), number(2, 123_456_000)),
    json: '2026-03-01T12:00:00.123456Z',
  },
  {
    what: 'a micro time before 1970',
    kind: 'coordination.k8s.io/v1 Lease',
    number: 4,
    name: 'renewTime',
    wire: bytes(number(1, -1), number(2, 999_999_000)),
    json: '1969-12-31T23:59:59.999999Z',
  },
  {
    what: 'an extra value',
    kind: 'authorization.k8s.io/v1 SubjectAccessReview',
    number: 5,
    name: 'extra',
    wire: bytes(field(1, 'k'), field(2, field(1, 'a'), field(1, ''))),
    json: { k: ['a', ''] },
  },
  {
    what: 'an empty extra value',
    kind: 'authorization.k8s.io/v1 SubjectAccessReview',
    number: 5,
    name: 'extra',
    wire: bytes(field(1, 'k'), field(2)),
    json: { k: [] },
  },
  {
    what: 'quantities of a map',
    kind: 'v1 ResourceQuota',
    number: 1,
    name: 'hard',
    wire: bytes(field(1, 'cpu'), field(2, field(1, '1500m'))),
    json: { cpu: '1500m' },
  },
  {
    what: 'a number where a text may be',
    kind: 'policy/v1 PodDisruptionBudget',
    number: 1,
    name: 'minAvailable',
    wire: bytes(number(1, 0), number(2, 3), field(3)),
    json: 3,
  },
  {
    what: 'a text where a number may be',
    kind: 'policy/v1 PodDisruptionBudget',
    number: 3,
    name: 'maxUnavailable',
    wire: bytes(number(1, 1), number(2, 0), field(3, '50%')),
    json: '50%',
  },
]

test.each(specs)('$what of a spec', ({ kind: text, number: fieldNumber, name, wire, json }) => {
  const [apiVersion = '', kind = ''] = text.split(' ')
  expect(decodeProtobuf(body(apiVersion, kind, field(2, field(fieldNumber, wire))))).toMatchObject({
    spec: { [name]: json },
  })
  expect(includes(encodeProtobuf({ apiVersion, kind, spec: { [name]: json } }), field(fieldNumber, wire))).toBe(true)
})

const schemas: (Case & { number: number; name: string })[] = [
  { what: 'a default', number: 8, name: 'default', wire: field(1, '{"a":[1,null]}'), json: { a: [1, null] } },
  { what: 'additionalProperties: true', number: 30, name: 'additionalProperties', wire: number(1, 1), json: true },
  { what: 'additionalProperties: false', number: 30, name: 'additionalProperties', wire: number(1, 0), json: false },
]

test.each(schemas)('$what of a schema', ({ number: fieldNumber, name, wire, json }) => {
  const apiVersion = 'apiextensions.k8s.io/v1'
  const wrap = (schema: Uint8Array): Uint8Array =>
    body(apiVersion, 'CustomResourceDefinition', field(2, field(7, field(4, field(1, schema)))))
  expect(decodeProtobuf(wrap(field(fieldNumber, wire)))).toMatchObject({
    spec: { versions: [{ schema: { openAPIV3Schema: { [name]: json } } }] },
  })
  expect(
    includes(
      encodeProtobuf({
        apiVersion,
        kind: 'CustomResourceDefinition',
        spec: { versions: [{ schema: { openAPIV3Schema: { [name]: json } } }] },
      }),
      field(fieldNumber, wire),
    ),
  ).toBe(true)
})

test('forms that are one thing or another keep what they are', () => {
  const schema = {
    items: [{ type: 'string' }],
    dependencies: { a: ['b'], c: { type: 'string' } },
    additionalItems: { type: 'string' },
    enum: [1, null, 'x'],
  }
  const object = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: { versions: [{ schema: { openAPIV3Schema: schema } }] },
  }
  expect(decodeProtobuf(encodeProtobuf(object))).toMatchObject(object)
})

test('an inlined message belongs to the object around it', () => {
  const volume = field(1, field(1, 'v'), field(2, field(2, field(1, 'Memory'))))
  expect(decodeProtobuf(body('v1', 'Pod', field(2, volume)))).toMatchObject({
    spec: { volumes: [{ name: 'v', emptyDir: { medium: 'Memory' } }] },
  })
})

test('quantities become canonical on both ways', () => {
  const wrap = (text: string): Uint8Array =>
    body('v1', 'ResourceQuota', field(2, field(1, field(1, 'cpu'), field(2, field(1, text)))))
  expect(decodeProtobuf(wrap('1000m'))).toMatchObject({ spec: { hard: { cpu: '1' } } })
  expect(decodeProtobuf(wrap('0.1e1'))).toMatchObject({ spec: { hard: { cpu: '1' } } })
  expect(decodeProtobuf(wrap('10e0999'))).toMatchObject({ spec: { hard: { cpu: '10e0999' } } })
  expect(encodeProtobuf({ apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard: { cpu: 0.5 } } })).toEqual(
    encodeProtobuf({ apiVersion: 'v1', kind: 'ResourceQuota', spec: { hard: { cpu: '500m' } } }),
  )
})

function includes(whole: Uint8Array, part: Uint8Array): boolean {
  return Buffer.from(whole).includes(Buffer.from(part))
}
