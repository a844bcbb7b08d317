import { describe, expect, test } from 'vitest'
import { deepFreeze, getOwn, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { cannotBeHandledError, decodeObject, strictDecodingError, strictDecodingMessages } from './decode.ts'
import type { Schema, SchemaNode } from './schema.ts'

const string: SchemaNode = { type: 'string' }
const wrapped = (name: string): SchemaNode => ({ allOf: [{ $ref: name }], default: {} })
const nodes: Record<string, SchemaNode> = {
  'x.v1.Thing': {
    type: 'object',
    properties: { kind: string, metadata: wrapped('x.v1.Meta'), spec: wrapped('x.v1.ThingSpec') },
  },
  'x.v1.Meta': {
    type: 'object',
    properties: {
      name: string,
      labels: { type: 'object', additionalProperties: string },
      created: wrapped('m.v1.Time'),
      renewed: wrapped('m.v1.MicroTime'),
    },
  },
  'x.v1.ThingSpec': {
    type: 'object',
    properties: {
      replicas: { type: 'integer', format: 'int32' },
      total: { type: 'integer', format: 'int64' },
      ratio: { type: 'number' },
      paused: { type: 'boolean' },
      port: wrapped('u.intstr.IntOrString'),
      limits: { type: 'object', additionalProperties: { $ref: 'r.resource.Quantity' } },
      data: { type: 'object', additionalProperties: { type: 'string', format: 'byte' } },
      items: { type: 'array', items: wrapped('x.v1.Item') },
      words: { type: 'array', items: string },
      list: { type: 'array' },
      raw: wrapped('r.runtime.RawExtension'),
      anything: {},
      empty: wrapped('x.v1.Empty'),
      open: { type: 'object', additionalProperties: true },
      nested: { type: 'object', additionalProperties: { type: 'array', items: string } },
      numbers: { type: 'object', additionalProperties: { type: 'integer', format: 'int32' } },
    },
  },
  'x.v1.Item': { type: 'object', properties: { name: string, self: { $ref: 'x.v1.Item' } } },
  'x.v1.Empty': { type: 'object' },
  'm.v1.Time': { type: 'string', format: 'date-time' },
  'm.v1.MicroTime': { type: 'string', format: 'date-time' },
  'u.intstr.IntOrString': { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  'r.resource.Quantity': { oneOf: [{ type: 'string' }, { type: 'number' }] },
  'r.runtime.RawExtension': { type: 'object' },
}
const schema: Schema = { root: { $ref: 'x.v1.Thing' }, definitions: (name) => nodes[name] }
const parse = (text: string): JsonObject => deepFreeze(JSON.parse(text) as JsonObject)
const spec = (text: string): { spec?: JsonValue | undefined; unknown: readonly string[]; mistake?: string } => {
  const { object, ...rest } = decodeObject(parse(`{"spec":${text}}`), schema)
  return { spec: object['spec'], ...rest }
}

describe('conform', () => {
  test('gives a good object back as it is', () => {
    const object = parse(
      '{"kind":"Thing","metadata":{"name":"a","labels":{"b":"c"},"created":"2026-01-01T00:00:00Z"},"spec":{"replicas":1,"port":"http","words":["x"],"items":[{"name":"n","self":{"name":"m"}}]}}',
    )
    const result = decodeObject(object, schema)
    expect(result).toEqual({ object, unknown: [] })
    expect(result.object).toBe(object)
  })

  test('removes unknown fields, at any depth and whatever they are called, and names them in the order of the text', () => {
    const { object, unknown } = decodeObject(
      parse(
        '{"foo":1,"metadata":{"Name":"x","labels":{"any":"y"}},"spec":{"items":[{},{"bar":{"deep":1},"self":{"baz":1}}],"__proto__":{"polluted":true},"constructor":1}}',
      ),
      schema,
    )
    expect(object).toEqual({ metadata: { labels: { any: 'y' } }, spec: { items: [{}, { self: {} }] } })
    expect(unknown).toEqual([
      'foo',
      'metadata.Name',
      'spec.items[1].bar',
      'spec.items[1].self.baz',
      'spec.__proto__',
      'spec.constructor',
    ])
  })

  test('reports at most 100 unknown fields and removes all', () => {
    const { object, unknown } = decodeObject(
      parse(`{"spec":{${Array.from({ length: 150 }, (_, index) => `"x${index}":1`).join()}}}`),
      schema,
    )
    expect(unknown).toHaveLength(100)
    expect(object).toEqual({ spec: {} })
  })

  test('keeps keys of maps whatever they are called', () => {
    const { object } = decodeObject(parse('{"metadata":{"labels":{"__proto__":null,"constructor":"c"}}}'), schema)
    const labels = (object['metadata'] as JsonObject)['labels'] as JsonObject
    expect(Object.keys(labels)).toEqual(['__proto__', 'constructor'])
    expect(getOwn(labels, '__proto__')).toBe('')
  })

  /** [what, spec, spec afterwards] */
  test.each<[string, string, string]>([
    ['null fields are absent', '{"replicas":null,"items":null,"raw":null}', '{}'],
    [
      'null in lists and maps is the zero value',
      '{"words":[null,"a"],"items":[null],"numbers":{"a":null},"nested":{"a":null},"limits":{"cpu":null}}',
      '{"words":["","a"],"items":[{}],"numbers":{"a":0},"nested":{"a":[]},"limits":{"cpu":"0"}}',
    ],
    [
      'quantities are canonical',
      '{"limits":{"a":"0.5","b":"1024Mi","c":1,"d":1.5,"e":"100m","f":"1e3","g":" 2 "}}',
      '{"limits":{"a":"500m","b":"1Gi","c":"1","d":"1500m","e":"100m","f":"1e3","g":"2"}}',
    ],
    [
      'bytes lose line breaks and spare bits',
      '{"data":{"a":"aGk=","b":"aG\\nk=","c":"YR==","d":"","e":null}}',
      '{"data":{"a":"aGk=","b":"aGk=","c":"YQ==","d":"","e":""}}',
    ],
    ['int or string', '{"port":80}', '{"port":80}'],
    [
      'raw values are left alone',
      '{"raw":{"a":null,"b":[1,null]},"anything":[null,{"c":null}],"open":{"d":{"e":null}}}',
      '{"raw":{"a":null,"b":[1,null]},"anything":[null,{"c":null}],"open":{"d":{"e":null}}}',
    ],
    [
      'large whole numbers',
      '{"total":9007199254740991,"replicas":-2147483648}',
      '{"total":9007199254740991,"replicas":-2147483648}',
    ],
    ['an empty struct keeps nothing', '{"empty":{"a":1}}', '{"empty":{}}'],
  ])('normalises: %s', (...[, before, after]) => {
    const result = spec(before)
    expect(result.mistake).toBeUndefined()
    expect(result.spec).toEqual(JSON.parse(after))
  })

  test('brings times into UTC with the digits of their type', () => {
    const { object } = decodeObject(
      parse('{"metadata":{"created":"2026-01-01T00:00:00.9+02:00","renewed":"2026-01-01T01:00:00.123456+01:00"}}'),
      schema,
    )
    expect(object['metadata']).toEqual({ created: '2025-12-31T22:00:00Z', renewed: '2026-01-01T00:00:00.123456Z' })
  })

  /** [spec, the sentence] */
  test.each<[string, string]>([
    ['{"replicas":"3"}', 'json: cannot unmarshal string into Go struct field ThingSpec.spec.replicas of type int32'],
    [
      '{"replicas":1.5}',
      'json: cannot unmarshal number 1.5 into Go struct field ThingSpec.spec.replicas of type int32',
    ],
    [
      '{"replicas":3000000000}',
      'json: cannot unmarshal number 3000000000 into Go struct field ThingSpec.spec.replicas of type int32',
    ],
    [
      '{"total":1e19}',
      'json: cannot unmarshal number 10000000000000000000 into Go struct field ThingSpec.spec.total of type int64',
    ],
    ['{"ratio":true}', 'json: cannot unmarshal bool into Go struct field ThingSpec.spec.ratio of type float64'],
    ['{"paused":"yes"}', 'json: cannot unmarshal string into Go struct field ThingSpec.spec.paused of type bool'],
    ['{"port":{}}', 'json: cannot unmarshal object into Go struct field ThingSpec.spec.port of type int32'],
    ['{"items":{}}', 'json: cannot unmarshal object into Go struct field ThingSpec.spec.items of type []v1.Item'],
    [
      '{"items":[{"self":[]}]}',
      'json: cannot unmarshal array into Go struct field Item.spec.items.self of type v1.Item',
    ],
    ['{"items":[1]}', 'json: cannot unmarshal number into Go struct field ThingSpec.spec.items of type v1.Item'],
    ['{"list":{}}', 'json: cannot unmarshal object into Go struct field ThingSpec.spec.list of type []interface {}'],
    ['{"words":["a",1]}', 'json: cannot unmarshal number into Go struct field ThingSpec.spec.words of type string'],
    [
      '{"nested":{"k":"v"}}',
      'json: cannot unmarshal string into Go struct field ThingSpec.spec.nested of type []string',
    ],
    [
      '{"nested":[]}',
      'json: cannot unmarshal array into Go struct field ThingSpec.spec.nested of type map[string][]string',
    ],
    ['{"data":{"a":"a"}}', 'illegal base64 data at input byte 0'],
    ['{"data":{"a":"aG k"}}', 'illegal base64 data at input byte 2'],
    ['{"data":{"a":1}}', 'json: cannot unmarshal number into Go struct field ThingSpec.spec.data of type []uint8'],
    [
      '{"limits":{"cpu":"lots"}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      '{"limits":{"cpu":true}}',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['[]', 'json: cannot unmarshal array into Go struct field Thing.spec of type v1.ThingSpec'],
  ])('refuses %s', (before, mistake) => {
    expect(spec(before).mistake).toBe(mistake)
  })

  test('refuses texts that are no times', () => {
    expect(decodeObject(parse('{"metadata":{"created":"yesterday"}}'), schema).mistake).toContain(
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00"',
    )
    expect(decodeObject(parse('{"metadata":{"created":"2026-02-30T00:00:00Z"}}'), schema).mistake).toContain(
      'parsing time',
    )
    expect(decodeObject(parse('{"metadata":{"renewed":5}}'), schema).mistake).toBe(
      'json: cannot unmarshal number into Go struct field Meta.metadata.renewed of type string',
    )
  })

  test('says what kind could not be handled', () => {
    const error = cannotBeHandledError('Thing', 'v1', spec('{"replicas":"3"}').mistake ?? '')
    expect(error.reason).toBe('BadRequest')
    expect(error.message).toBe(
      'Thing in version "v1" cannot be handled as a Thing: json: cannot unmarshal string into Go struct field ThingSpec.spec.replicas of type int32',
    )
  })
})

describe('strictSentences', () => {
  test('names duplicates, then unknown fields, each once', () => {
    expect(
      strictDecodingMessages({ duplicates: ['metadata.name', 'metadata.name'], unknown: ['spec.foo', 'spec.a"b'] }),
    ).toEqual(['duplicate field "metadata.name"', 'unknown field "spec.foo"', 'unknown field "spec.a\\"b"'])
  })

  test('does not look for duplicates in unknown fields', () => {
    expect(
      strictDecodingMessages({
        duplicates: ['spec.foo', 'spec.foo.a', 'spec.foo[0].b', 'spec.fool'],
        unknown: ['spec.foo'],
      }),
    ).toEqual(['duplicate field "spec.fool"', 'unknown field "spec.foo"'])
  })

  test('stops at 100', () => {
    expect(
      strictDecodingMessages({
        duplicates: Array.from({ length: 80 }, (_, index) => `d${index}`),
        unknown: Array.from({ length: 80 }, (_, index) => `u${index}`),
      }),
    ).toHaveLength(100)
  })

  test('make up one refusal', () => {
    expect(strictDecodingError('Thing', 'v1', ['unknown field "a"', 'unknown field "b"']).message).toBe(
      'Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "a", unknown field "b"',
    )
  })
})
