import { ApiError, type JsonObject } from '#api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeProtobuf, encodeProtobuf } from './envelope.ts'
import { body, bytes, field, number, varint } from './wire-bytes.fixture.ts'

const configMap = (...fields: Uint8Array[]): Uint8Array => body('v1', 'ConfigMap', ...fields)

const pod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    labels: { a: 'b' },
    creationTimestamp: '2026-03-01T12:00:00Z',
    managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': {} } }],
  },
  spec: {
    containers: [
      {
        name: 'c',
        image: 'i',
        resources: { limits: { cpu: '100m' } },
        ports: [{ containerPort: 80 }],
        livenessProbe: { httpGet: { port: 'http' } },
      },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
}

describe('decodeProtobuf refuses', () => {
  test.each<[string, Uint8Array, string]>([
    ['nothing', bytes(), 'must start with the bytes 6b 38 73 00'],
    ['JSON', bytes('{"kind":"Pod"}'), 'must start with the bytes 6b 38 73 00'],
    ['an envelope without a type', bytes('k8s\0', field(2)), 'does not say its apiVersion and kind'],
    ['only the first bytes', bytes('k8s\0'), 'holds no object'],
    ['an envelope without an object', bytes('k8s\0', field(1, field(1, 'v1'), field(2, 'Pod'))), 'holds no object'],
    [
      'an unknown kind',
      body('example.com/v1', 'Website'),
      'no kind "Website" of version "example.com/v1" can be read from protobuf',
    ],
    ['a part of a kind', body('v1', 'PodSpec'), 'no kind "PodSpec"'],
    [
      'another content type',
      bytes('k8s\0', field(1, field(1, 'v1'), field(2, 'Pod')), field(2, '{}'), field(4, 'application/json')),
      'encoded as application/json',
    ],
    ['a compressed object', bytes('k8s\0', field(3, 'gzip')), 'encoded as gzip'],
    ['a field that is cut off', configMap(field(1, [10, 5, 97])), 'it ends in the middle of a field'],
    ['a tag that is cut off', configMap(bytes([0x80])), 'it ends in the middle of a field'],
    ['a length beyond everything', configMap(bytes([10], varint(2 ** 31 - 1))), 'it ends in the middle of a field'],
    ['a length of 64 bits', configMap(bytes([10], varint(-1))), 'a length is too large'],
    ['a number of 11 bytes', configMap(bytes([0x20], Array<number>(10).fill(0x80), [0])), 'more than 10 bytes'],
    ['a number of 65 bits', configMap(bytes([0x20], Array<number>(9).fill(0x80), [2])), 'more than 64 bits'],
    ['field number 0', configMap(bytes([2, 0])), 'illegal number'],
    ['a field number of 64 bits', configMap(bytes(varint(2n ** 40n))), 'illegal number'],
    ['the wrong wire type', configMap(number(1, 5)), 'ConfigMap.metadata cannot have wire type 0'],
    ['a text as a number', configMap(field(4, 'x')), 'ConfigMap.immutable cannot have wire type 2'],
    ['a group', configMap(bytes([((99 * 8) % 128) + 3 + 128, 6])), 'wire type 3 is not allowed'],
    ['the end of a group', configMap(bytes([((99 * 8) % 128) + 4 + 128, 6])), 'wire type 4 is not allowed'],
    ['a wire type of the future', configMap(bytes([((99 * 8) % 128) + 7 + 128, 6])), 'wire type 7 is not allowed'],
    [
      'a number that is none',
      body(
        'apiextensions.k8s.io/v1',
        'CustomResourceDefinition',
        field(2, field(7, field(4, field(1, bytes([9 * 8 + 1, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f]))))),
      ),
      'infinite or not a number',
    ],
    [
      'a quantity that is none',
      body('v1', 'ResourceQuota', field(2, field(1, field(1, 'cpu'), field(2, field(1, 'much'))))),
      'quantities must match',
    ],
    [
      'JSON that is none',
      configMap(field(1, field(17, field(7, field(1, '{"a":'))))),
      'a JSON text inside cannot be read',
    ],
    [
      'JSON that is nested too deep',
      configMap(field(1, field(17, field(7, field(1, '['.repeat(201) + ']'.repeat(201)))))),
      'nested more than 200 deep',
    ],
  ])('%s', (_, input, message) => {
    const error = errorOf(input)
    expect(error).toMatchObject({ reason: 'BadRequest', code: 400 })
    expect(error?.message).toContain(message)
  })

  test('messages that are nested more than 100 deep', () => {
    const at = (levels: number): Uint8Array => {
      let schema = field(5, 'object')
      for (let level = 0; level < levels; level++) schema = field(28, schema)
      return body('apiextensions.k8s.io/v1', 'CustomResourceDefinition', field(2, field(7, field(4, field(1, schema)))))
    }
    expect(errorOf(at(96))).toBeUndefined()
    expect(errorOf(at(97))?.message).toContain('nested more than 100 deep')
    expect(errorOf(at(5000))?.message).toContain('nested more than 100 deep')
  })

  test('a small body that asks for very many objects', () => {
    const containers = Buffer.alloc(200_000, Uint8Array.of(0x12, 0))
    expect(errorOf(body('v1', 'Pod', field(2, containers)))?.message).toContain(
      'far more messages than its length can need',
    )
  })

  test('every body that is cut off', () => {
    const whole = encodeProtobuf(pod)
    // The last four bytes are the two empty texts after the object: without them it is still whole.
    for (let length = 0; length < whole.length - 4; length++)
      expect(errorOf(whole.subarray(0, length))).toMatchObject({ reason: 'BadRequest' })
  })
})

test('decodeProtobuf reads or refuses whatever a damaged body says', () => {
  const whole = encodeProtobuf(pod)
  const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(damage, (changes) => {
      const damaged = whole.slice()
      for (const [index, byte] of changes) damaged[index] = byte
      expect(errorOf(damaged)?.reason ?? 'BadRequest').toBe('BadRequest')
    }),
    { numRuns: 2000 },
  )
})

test('decodeProtobuf reads or refuses whatever follows an envelope', () => {
  const kinds = fc.constantFrom(
    'v1 Pod',
    'v1 Secret',
    'v1 Status',
    'apiextensions.k8s.io/v1 CustomResourceDefinition',
    'authorization.k8s.io/v1 SubjectAccessReview',
  )
  fc.assert(
    fc.property(kinds, fc.uint8Array({ maxLength: 60 }), (kind, rest) => {
      const [apiVersion = '', name = ''] = kind.split(' ')
      expect(errorOf(body(apiVersion, name, rest))?.reason ?? 'BadRequest').toBe('BadRequest')
    }),
    { numRuns: 2000 },
  )
})

/** Anything but an ApiError is a bug of ours and fails the test. */
function errorOf(input: Uint8Array): ApiError | undefined {
  try {
    decodeProtobuf(input)
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}
