import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepFreeze, getOwn, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { defaultCustomObject } from './default.ts'
import { pruneCustomObject } from './prune.ts'
import type { SchemaNode } from './schema.ts'
import { validateCustomObject } from './validate.ts'

const string: SchemaNode = { type: 'string' }
const spec: SchemaNode = {
  type: 'object',
  properties: {
    size: { type: 'integer' },
    tier: { type: 'string', default: 'gold' },
    note: { type: 'string', nullable: true },
    free: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { a: string } } },
    },
    freeList: {
      type: 'array',
      'x-kubernetes-preserve-unknown-fields': true,
      items: { type: 'object', properties: { a: { type: 'object', properties: { b: string } } } },
    },
    map: { type: 'object', additionalProperties: { type: 'object', properties: { a: string } } },
    open: { type: 'object', additionalProperties: true },
    list: { type: 'array', items: { type: 'object', properties: { a: string } } },
    bare: { type: 'array' },
    port: { 'x-kubernetes-int-or-string': true },
    template: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', properties: { a: string } } },
    },
    objects: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
  },
}
const schema: SchemaNode = { type: 'object', properties: { spec } }

const parse = (text: string): JsonObject => deepFreeze(JSON.parse(text) as JsonObject)
const shape = (text: string): { spec: JsonValue | undefined; unknown: readonly string[]; mistake?: string } => {
  const { object, ...rest } = pruneCustomObject(
    parse(`{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"a"},"spec":${text}}`),
    schema,
  )
  return { spec: object['spec'], ...rest }
}

describe('shapeCustomObject', () => {
  test('gives a good object back as it is', () => {
    const object = parse(
      '{"apiVersion":"g.io/v1","kind":"Thing","metadata":{"name":"a","labels":{"b":"c"}},"spec":{"size":1,"note":null,"map":{"x":{"a":"b"}},"list":[{"a":"b"}],"free":{"any":{"thing":1}}}}',
    )
    const result = pruneCustomObject(object, schema)
    expect(result).toEqual({ object, unknown: [] })
    expect(result.object).toBe(object)
  })

  /** [what, spec, spec afterwards, removed fields] */
  test.each<[string, string, string, string[]]>([
    ['an unknown field', '{"size":1,"sise":2}', '{"size":1}', ['spec.sise']],
    [
      'several, sorted',
      '{"z":1,"b":1,"list":[{},{"c":1}]}',
      '{"list":[{},{}]}',
      ['spec.b', 'spec.list[1].c', 'spec.z'],
    ],
    [
      'keys of prototypes',
      '{"__proto__":{"a":1},"constructor":1,"toString":2}',
      '{}',
      ['spec.__proto__', 'spec.constructor', 'spec.toString'],
    ],
    [
      'below values of maps',
      '{"map":{"any key":{"a":"b","c":1}}}',
      '{"map":{"any key":{"a":"b"}}}',
      ['spec.map.any key.c'],
    ],
    [
      'fields of objects without a schema',
      '{"open":{"a":{"b":1},"c":[1,{"d":2}],"e":"f"},"bare":[1,{"a":1},[{"b":1}]]}',
      '{"open":{"a":{},"c":[1,{}],"e":"f"},"bare":[1,{},[{}]]}',
      ['spec.bare[1].a', 'spec.bare[2][0].b', 'spec.open.a.b', 'spec.open.c[1].d'],
    ],
    [
      'nothing where unknown fields are preserved',
      '{"free":{"a":{"b":[{"c":null}]}}}',
      '{"free":{"a":{"b":[{"c":null}]}}}',
      [],
    ],
    [
      'below what is declared where unknown fields are preserved',
      '{"free":{"x":1,"known":{"a":"b","c":1}}}',
      '{"free":{"x":1,"known":{"a":"b"}}}',
      ['spec.free.known.c'],
    ],
    [
      'nothing in items of a list that preserves unknown fields',
      '{"freeList":[{"x":1,"a":{"b":"c","d":1}}]}',
      '{"freeList":[{"x":1,"a":{"b":"c"}}]}',
      ['spec.freeList[0].a.d'],
    ],
    [
      'nothing in a scalar of the wrong type',
      '{"size":[{}],"port":{"a":1}}',
      '{"size":[{}],"port":{}}',
      ['spec.port.a'],
    ],
    [
      'apiVersion, kind and metadata of nothing that is embedded',
      '{"list":[{"kind":"x","metadata":{}}]}',
      '{"list":[{}]}',
      ['spec.list[0].kind', 'spec.list[0].metadata'],
    ],
  ])('removes %s', (...[, before, after, unknown]) => {
    const result = shape(before)
    expect(result.mistake).toBeUndefined()
    expect(result.spec).toEqual(JSON.parse(after))
    expect(result.unknown).toEqual(unknown)
  })

  /** [what, spec, spec afterwards] */
  test.each<[string, string, string]>([
    ['goes where it may not be', '{"size":null,"map":{"a":null},"open":{"a":null}}', '{"map":{},"open":{"a":null}}'],
    ['stays where it may be', '{"note":null}', '{"note":null}'],
    ['waits for a default', '{"tier":null}', '{"tier":null}'],
    ['stays in lists', '{"list":[null,{"a":null}]}', '{"list":[null,{}]}'],
    ['stays where the schema says nothing', '{"free":{"x":null}}', '{"free":{"x":null}}'],
  ])('null %s', (...[, before, after]) => {
    expect(shape(before)).toEqual({ spec: JSON.parse(after), unknown: [] })
  })

  test('reads metadata as ObjectMeta: what is empty is left out, unknown fields are dropped and named first', () => {
    const { object, unknown } = pruneCustomObject(
      parse(`{"zzz":1,"metadata":{"name":"a","generateName":"","generation":0,"labels":{"x":null},"annotations":{},"finalizers":[],
      "creationTimestamp":"2026-01-01T01:00:00+01:00","deletionTimestamp":null,"deletionGracePeriodSeconds":0,"ownerReferences":[{"kind":"Pod","foo":1}],"bar":1}}`),
      schema,
    )
    expect(object).toEqual({
      metadata: {
        name: 'a',
        labels: { x: '' },
        creationTimestamp: '2026-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 0,
        ownerReferences: [{ apiVersion: '', kind: 'Pod', name: '', uid: '' }],
      },
    })
    expect(unknown).toEqual(['metadata.bar', 'metadata.ownerReferences[0].foo', 'zzz'])
  })

  /** [body, the sentence] */
  test.each<[string, string]>([
    ['{"metadata":{"name":1}}', 'json: cannot unmarshal number into Go struct field ObjectMeta.name of type string'],
    [
      '{"metadata":{"uid":1,"labels":[]}}',
      'json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string',
    ],
    ['{"metadata":{"uid":true}}', 'json: cannot unmarshal bool into Go struct field ObjectMeta.uid of type types.UID'],
    [
      '{"metadata":{"ownerReferences":[{"uid":1}]}}',
      'json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.uid of type types.UID',
    ],
    ['{"metadata":[]}', 'json: cannot unmarshal array into Go value of type v1.ObjectMeta'],
    ['{"kind":1}', '.kind accessor error: 1 is of the type int64, expected string'],
    ['{"apiVersion":null}', '.apiVersion accessor error: <nil> is of the type <nil>, expected string'],
    ['{"spec":{"template":{"kind":5}}}', 'spec.template.kind: Invalid value: 5: must be a string'],
    [
      '{"spec":{"objects":{"a":{"apiVersion":null}}}}',
      'spec.objects[a].apiVersion: Invalid value: null: must be a string',
    ],
    [
      '{"spec":{"objects":{"a":{"metadata":{"name":"x","labels":1}}}}}',
      'spec.objects[a].metadata: Invalid value: {"labels":1,"name":"x"}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string',
    ],
  ])('refuses %s', (body, mistake) => {
    const object = parse(body)
    expect(pruneCustomObject(object, schema)).toEqual({ object, unknown: [], mistake })
  })

  test('metadata that is null is empty', () => {
    expect(pruneCustomObject(parse('{"metadata":null}'), schema)).toEqual({ object: { metadata: {} }, unknown: [] })
  })

  test('reads the metadata of embedded resources, and names what it drops last', () => {
    const { spec: shaped, unknown } = shape(
      '{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","foo":1},"spec":{"b":1}},"objects":{"k":{"any":1,"metadata":{"bar":1}}}}',
    )
    expect(shaped).toEqual({
      template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: {} },
      objects: { k: { any: 1, metadata: {} } },
    })
    expect(unknown).toEqual(['spec.template.spec.b', 'spec.objects[k].metadata.bar', 'spec.template.metadata.foo'])
  })

  test('keeps keys of maps whatever they are called', () => {
    const { spec: shaped } = shape('{"map":{"__proto__":{"a":"x","b":1},"constructor":{"a":"y"}}}')
    const map = (shaped as JsonObject)['map'] as JsonObject
    expect(Object.keys(map)).toEqual(['__proto__', 'constructor'])
    expect(getOwn(map, '__proto__')).toEqual({ a: 'x' })
    expect(({} as JsonObject)['a']).toBeUndefined()
  })

  test('keeps everything at the root that preserves unknown fields', () => {
    const object = parse('{"kind":"A","other":{"b":1},"spec":{"size":1}}')
    expect(pruneCustomObject(object, { ...schema, 'x-kubernetes-preserve-unknown-fields': true }).object).toBe(object)
  })

  test('reports no more than a thousand fields and removes all', () => {
    const { object, unknown } = pruneCustomObject(
      parse(`{${Array.from({ length: 1500 }, (_, index) => `"x${index}":1`).join()}}`),
      schema,
    )
    expect(object).toEqual({})
    expect(unknown).toHaveLength(1000)
  })

  const key = fc.constantFrom(
    'size',
    'tier',
    'note',
    'free',
    'known',
    'freeList',
    'map',
    'open',
    'list',
    'bare',
    'port',
    'template',
    'objects',
    'a',
    'metadata',
    'kind',
    'apiVersion',
    'name',
    '__proto__',
  )
  const { value: anyValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      fc.constantFrom<JsonValue>(null, 1, 'x', true),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  }))

  test('whatever comes: nothing given is changed, a second time changes nothing, and what was shaped can be validated', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const first = pruneCustomObject(deepFreeze({ kind: 'Thing', spec: value }), schema)
        if (first.mistake !== undefined) return
        const again = pruneCustomObject(deepFreeze(first.object), schema)
        expect(again).toEqual({ object: first.object, unknown: [] })
        expect(again.object).toBe(first.object)
        const full = deepFreeze(defaultCustomObject(first.object, schema))
        expect(defaultCustomObject(full, schema)).toBe(full)
        validateCustomObject(full, schema, { matches: () => true })
      }),
      { numRuns: 500 },
    )
  })
})
