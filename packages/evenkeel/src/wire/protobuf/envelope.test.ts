import { deepEqual, type JsonObject } from '#api'
import { describe, expect, test } from 'vitest'
import { decodeProtobuf, encodeProtobuf, knowsProtobuf } from './envelope.ts'
import { body, bytes, field, number } from './wire-bytes.fixture.ts'

const name = field(1, field(1, 'a'))

describe('decodeProtobuf', () => {
  test('reads the object in the envelope', () => {
    expect(decodeProtobuf(body('v1', 'ConfigMap', name, field(2, field(1, 'k'), field(2, 'v'))))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
      data: { k: 'v' },
    })
  })

  test('takes what the caller expects where the envelope says nothing', () => {
    expect(decodeProtobuf(bytes('k8s\0', field(2, name)), { apiVersion: 'v1', kind: 'Secret' })).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'a' },
    })
    expect(decodeProtobuf(body('v1', 'ConfigMap', name), { apiVersion: 'apps/v1', kind: 'Secret' })).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
    })
  })

  test('takes bytes that are a part of a larger buffer', () => {
    const one = body('v1', 'ConfigMap', name)
    expect(decodeProtobuf(bytes('xx', one, 'yy').subarray(2, 2 + one.length))).toMatchObject({
      metadata: { name: 'a' },
    })
  })

  test('leaves out zeros of values, keeps zeros of pointers and of fields that JSON always shows', () => {
    const spec = field(2, number(1, 0), number(5, 0), number(7, 0), field(2), field(4))
    expect(decodeProtobuf(body('apps/v1', 'Deployment', spec))['spec']).toEqual({
      replicas: 0,
      selector: {},
      template: undefined,
      minReadySeconds: undefined,
      paused: undefined,
    })
    expect(
      decodeProtobuf(
        body('autoscaling/v1', 'Scale', field(1), field(2, number(1, 0)), field(3, number(1, 0), field(2, ''))),
      ),
    ).toEqual({ apiVersion: 'autoscaling/v1', kind: 'Scale', status: { replicas: 0 } })
  })

  test('merges a message that comes twice, and lets the last of a value win', () => {
    const twice = body(
      'v1',
      'ConfigMap',
      field(1, field(1, 'a'), field(3, 'n')),
      field(1, field(1, ''), field(5, 'u')),
      number(4, 0),
      number(4, 1),
    )
    expect(decodeProtobuf(twice)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'n', uid: 'u' },
      immutable: true,
    })
  })

  test('passes over fields it does not know', () => {
    const unknown = bytes(
      number(99, 5),
      field(98, 'x'),
      bytes([((97 * 8) % 128) + 1 + 128, 6], new Uint8Array(8)),
      bytes([((96 * 8) % 128) + 5 + 128, 6], new Uint8Array(4)),
    )
    expect(decodeProtobuf(body('v1', 'ConfigMap', name, unknown))).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a' },
    })
  })

  test('reads numbers of a list with and without a tag each', () => {
    const groups = field(2, field(14, number(4, 7), number(4, 8), field(4, [9, 10])))
    expect(decodeProtobuf(body('v1', 'Pod', groups))).toMatchObject({
      spec: { securityContext: { supplementalGroups: [7, 8, 9, 10] } },
    })
  })

  test('keeps keys that JavaScript has plans for', () => {
    const { data } = decodeProtobuf(
      body('v1', 'ConfigMap', ...['__proto__', 'constructor', ''].map((key) => field(2, field(1, key), field(2, 'v')))),
    ) as { data: JsonObject }
    expect(Object.keys(data).sort()).toEqual(['', '__proto__', 'constructor'])
    expect(Object.getPrototypeOf(data)).toBe(Object.prototype)
  })

  test('reads an entry without a key or a value as empty', () => {
    expect(decodeProtobuf(body('v1', 'Secret', field(2, field(1, 'k')), field(4, field(2, 'v'))))).toMatchObject({
      data: { k: '' },
      stringData: { '': 'v' },
    })
  })
})

describe('encodeProtobuf', () => {
  test('writes what is no pointer even when it is not there, in the order of numbers and keys', () => {
    const metadata = field(1, field(1, 'a'), field(2), field(3), field(4), field(5), field(6), number(7, 0), field(8))
    const data = ['a', 'b', '\uFFFD', '\u{1F600}'].map((key) => field(2, field(1, key), field(2, key)))
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: { b: 'b', '\u{1F600}': '\u{1F600}', '\uFFFD': '\uFFFD', a: 'a' },
      metadata: { name: 'a' },
      extra: 1,
    }
    expect(encodeProtobuf(object)).toEqual(body('v1', 'ConfigMap', metadata, ...data))
  })

  test('takes null for absent, and for a zero in lists and maps', () => {
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: null,
      immutable: null,
      data: { k: null },
      binaryData: { k: null },
    }
    const empty = field(1, field(1), field(2), field(3), field(4), field(5), field(6), number(7, 0), field(8))
    expect(encodeProtobuf(object)).toEqual(
      body('v1', 'ConfigMap', empty, field(2, field(1, 'k'), field(2)), field(3, field(1, 'k'))),
    )
  })

  test('grows with the object, and gives every caller bytes of its own', () => {
    const large = { apiVersion: 'v1', kind: 'ConfigMap', data: { k: 'é'.repeat(2_000_000) } }
    const first = encodeProtobuf({ apiVersion: 'v1', kind: 'ConfigMap', data: { k: 'first' } })
    expect(deepEqual(decodeProtobuf(encodeProtobuf(large))['data'], large.data)).toBe(true)
    expect(decodeProtobuf(first)).toMatchObject({ data: { k: 'first' } })
  })

  test.each<[JsonObject, string]>([
    [{ data: { k: 1 } }, 'ConfigMap.data as protobuf: it must be a text, got 1'],
    [{ data: [] }, 'ConfigMap.data as protobuf: it must be an object, got a list'],
    [{ metadata: 'x' }, 'ConfigMap.metadata as protobuf: it must be an object, got "x"'],
    [
      { metadata: { generation: 1.5 } },
      'ObjectMeta.generation as protobuf: it must be a whole number (int64), got 1.5',
    ],
    [{ metadata: { generation: 2 ** 53 } }, 'a whole number (int64)'],
    [{ metadata: { finalizers: {} } }, 'ObjectMeta.finalizers as protobuf: it must be a list, got an object'],
    [{ metadata: { creationTimestamp: 'today' } }, 'ObjectMeta.creationTimestamp as protobuf: not a time: "today"'],
    [{ immutable: 'yes' }, 'ConfigMap.immutable as protobuf: it must be true or false, got "yes"'],
    [{ kind: 'Pod', spec: { priority: 2 ** 31 } }, 'PodSpec.priority as protobuf: it must be a whole number (int32)'],
    [
      { kind: 'LimitRange', spec: { limits: [{ max: { cpu: 'x' } }] } },
      'LimitRangeItem.max as protobuf: quantities must match',
    ],
    [{ kind: 'Widget' }, 'no protobuf form for kind "Widget" of version "v1"'],
    [{ kind: undefined }, 'no protobuf form'],
  ])('refuses %j', (fields, message) => {
    expect(() => encodeProtobuf({ apiVersion: 'v1', kind: 'ConfigMap', ...fields })).toThrow(
      new RegExp(message.replaceAll(/[()]/g, '\\$&')),
    )
  })

  test('refuses what is nested too deep, and reads what is just not', () => {
    const at = (levels: number): JsonObject => {
      let schema: JsonObject = { type: 'object' }
      for (let level = 0; level < levels; level++) schema = { type: 'object', not: schema }
      return {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        spec: { versions: [{ schema: { openAPIV3Schema: schema } }] },
      }
    }
    expect(decodeProtobuf(encodeProtobuf(at(96)))).toMatchObject(at(96))
    expect(() => encodeProtobuf(at(97))).toThrow('messages are nested more than 100 deep')
    expect(() => encodeProtobuf(at(100_000))).toThrow('messages are nested more than 100 deep')
  })
})

test.each([
  ['v1', 'Pod', true],
  ['v1', 'PodList', true],
  ['v1', 'Status', true],
  ['v1', 'DeleteOptions', true],
  ['example.com/v1', 'DeleteOptions', true],
  ['apps/v1', 'Deployment', true],
  ['meta.k8s.io/v1', 'PartialObjectMetadata', true],
  ['meta.k8s.io/v1beta1', 'PartialObjectMetadata', true],
  ['meta.k8s.io/v1beta1', 'PartialObjectMetadataList', true],
  ['policy/v1beta1', 'Eviction', true],
  ['authentication.k8s.io/v1', 'TokenRequest', true],
  ['apiextensions.k8s.io/v1', 'CustomResourceDefinition', true],
  ['v1', 'PodSpec', false],
  ['example.com/v1', 'Status', false],
  ['meta.k8s.io/v1', 'Table', false],
  ['example.com/v1', 'Website', false],
  ['constructor', 'Pod', false],
])('knowsProtobuf: %s %s is %s', (apiVersion, kind, known) => expect(knowsProtobuf(apiVersion, kind)).toBe(known))
