import { describe, expect, test } from 'vitest'
import { deepFreeze, type JsonObject, type JsonValue } from '@evenkeel/cel/primitives'
import { formatFieldError } from '../errors/field-error.ts'
import type { SchemaNode } from './schema.ts'
import { validateCustomObject, type ValidateCustomOptions } from './validate.ts'

const string: SchemaNode = { type: 'string' }
const matches = (pattern: string, text: string): boolean => new RegExp(pattern, 'u').test(text)

function complaints(
  value: JsonValue,
  node: SchemaNode,
  options: Omit<ValidateCustomOptions, 'matches'> & { before?: JsonValue } = {},
): string[] {
  const { before, ...rest } = options
  const object: JsonObject = deepFreeze({ kind: 'Thing', spec: value })
  const old = before === undefined ? {} : { old: { kind: 'Thing', spec: before } }
  return validateCustomObject(
    object,
    { type: 'object', properties: { spec: node, status: node } },
    { matches, ...old, ...rest },
  ).map(formatFieldError)
}

describe('validateCustomObject', () => {
  /** [schema, a good value, a bad value, the complaints] */
  test.each<[SchemaNode, JsonValue, JsonValue, string[]]>([
    [{ type: 'integer' }, 1, 'x', ['spec: Invalid value: "string": spec in body must be of type integer: "string"']],
    [
      { type: 'integer' },
      2 ** 60,
      1.5,
      [
        'spec: Invalid value: "number": spec in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec',
      ],
    ],
    [
      { type: 'integer', format: 'int32' },
      5,
      3e9,
      ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec'],
    ],
    [{ type: 'number' }, 1, 'x', ['spec: Invalid value: "string": spec in body must be of type number: "string"']],
    [
      { type: 'number', format: 'float' },
      1e38,
      1e39,
      ['<nil>: Invalid value: "": Checked value must be of type number with format float in spec'],
    ],
    [{ type: 'string' }, '', null, ['spec: Invalid value: "null": spec in body must be of type string: "null"']],
    [
      { type: 'string', format: 'date' },
      '2026-01-31',
      '2026-01-32',
      ['spec: Invalid value: "2026-01-32": spec in body must be of type date: "2026-01-32"'],
    ],
    [
      { type: 'string', format: 'date' },
      [],
      5,
      ['spec: Invalid value: "int64": spec in body must be of type date: "int64"'],
    ],
    [
      { type: 'string', format: 'unheard-of' },
      'x',
      5,
      ['spec: Invalid value: "integer": spec in body must be of type string: "integer"'],
    ],
    [
      { 'x-kubernetes-int-or-string': true },
      5,
      true,
      ['spec: Invalid value: "boolean": spec in body must be of type integer,string: "boolean"'],
    ],
    [
      { type: 'string', maxLength: 2, minLength: 1 },
      '😀😀',
      '😀😀😀',
      ['spec: Too long: may not be more than 2 bytes'],
    ],
    [
      { type: 'string', minLength: 2, format: 'ipv4' },
      '1.2.3.4',
      '1',
      [
        'spec: Invalid value: "1": spec in body should be at least 2 chars long',
        'spec: Invalid value: "1": spec in body must be of type ipv4: "1"',
      ],
    ],
    [{ type: 'string', pattern: '^a+$' }, 'aa', 'b', ['spec: Invalid value: "b": spec in body should match \'^a+$\'']],
    [{ type: 'string', enum: ['a', 'b'] }, 'a', 'c', ['spec: Unsupported value: "c": supported values: "a", "b"']],
    [
      { type: 'string', nullable: true },
      null,
      1,
      ['spec: Invalid value: "integer": spec in body must be of type string: "integer"'],
    ],
    [
      { type: 'string', nullable: true, enum: ['a'] },
      'a',
      null,
      ['spec: Unsupported value: null: supported values: "a"'],
    ],
    [
      { type: 'integer', minimum: 1, maximum: 3, multipleOf: 2 },
      2,
      5,
      [
        'spec: Invalid value: 5: spec in body should be a multiple of 2',
        'spec: Invalid value: 5: spec in body should be less than or equal to 3',
      ],
    ],
    [
      { type: 'number', minimum: 1, exclusiveMinimum: true },
      1.5,
      1,
      ['spec: Invalid value: 1: spec in body should be greater than 1'],
    ],
    [
      { type: 'array', items: string, minItems: 1, maxItems: 2 },
      ['a'],
      ['a', 'b', 'c'],
      ['spec: Too many: 3: must have at most 2 items'],
    ],
    [
      { type: 'array', items: string, minItems: 1 },
      ['a'],
      [],
      ['spec: Invalid value: 0: spec in body should have at least 1 items'],
    ],
    [
      { type: 'array', items: string, uniqueItems: true },
      ['1'],
      ['a', 'a'],
      ['spec: Invalid value: "": spec in body shouldn\'t contain duplicates'],
    ],
    [{ type: 'object', required: ['a'], properties: { a: string } }, { a: 'x' }, {}, ['spec.a: Required value']],
    [
      { type: 'object', additionalProperties: string, maxProperties: 1 },
      { a: 'x' },
      { a: 'x', b: 1 },
      [
        'spec: Too many: 2: must have at most 1 item',
        'spec.b: Invalid value: "integer": spec.b in body must be of type string: "integer"',
      ],
    ],
    [
      { type: 'object', minProperties: 1 },
      { a: 'x' },
      {},
      ['spec: Invalid value: 0: spec in body should have at least 1 properties'],
    ],
    [
      { type: 'array', items: { type: 'array', items: string } },
      [['a']],
      [[], [1]],
      ['spec[1][0]: Invalid value: "integer": spec[1][0] in body must be of type string: "integer"'],
    ],
    [
      { type: 'object', not: { required: ['a'] } },
      {},
      { a: 1 },
      ['<nil>: Invalid value: "": "spec" must not validate the schema (not)'],
    ],
    [
      { 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: [{ minLength: 2 }] }] },
      'ab',
      'a',
      [
        '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
        'spec: Invalid value: "a": spec in body should be at least 2 chars long',
        '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      { type: 'integer', oneOf: [{ minimum: 5 }, { minimum: 3 }] },
      4,
      6,
      ['<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      { type: 'integer', oneOf: [{ minimum: 5 }, { minimum: 3 }] },
      3,
      1,
      [
        '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
        'spec: Invalid value: 1: spec in body should be greater than or equal to 5',
      ],
    ],
    [
      { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
      ['a', 'b'],
      ['a', 'b', 'a', 'a', 'b'],
      ['spec[2]: Duplicate value: "a"', 'spec[4]: Duplicate value: "b"'],
    ],
    [
      { type: 'array', items: { 'x-kubernetes-preserve-unknown-fields': true }, 'x-kubernetes-list-type': 'set' },
      [1, '1', [1], { a: 1 }],
      [
        { b: 1, a: 2 },
        { a: 2, b: 1 },
      ],
      ['spec[1]: Duplicate value: {"a":2,"b":1}'],
    ],
    [
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['n'],
        items: { type: 'object', properties: { n: string } },
      },
      [{ n: 'a' }, { n: 'b' }, {}],
      [{ n: 'a' }, { n: 'a' }, {}, {}],
      ['spec[1]: Duplicate value: {"n":"a"}', 'spec[3]: Duplicate value: {}'],
    ],
    [
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['n', 'm'],
        items: { type: 'object', properties: { n: string, m: string } },
      },
      [{ n: 'a', m: 'b' }, { n: 'a' }],
      [
        { n: 'a', m: 'b' },
        { n: 'a', m: 'b' },
      ],
      ['spec[1]: Duplicate value: {"m":"b","n":"a"}'],
    ],
    [
      { type: 'object', additionalProperties: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' } },
      { k: ['a'] },
      { k: ['a', 'a'] },
      ['spec[k][1]: Duplicate value: "a"'],
    ],
  ])('%j', (...[node, good, bad, expected]) => {
    expect(complaints(good, node)).toEqual([])
    expect(complaints(bad, node)).toEqual(expected)
  })

  test('an item of a list that is a map must be an object', () => {
    const node: SchemaNode = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['n'] }
    expect(complaints([{}, null, 1], node)).toEqual([
      'spec[2]: Invalid value: 1: must be an object for an array of list-type map',
    ])
  })

  test('tells the errors of the alternative that was followed furthest, and every error once', () => {
    const node: SchemaNode = {
      type: 'object',
      properties: { a: string, b: string },
      anyOf: [{ required: ['c'] }, { properties: { a: { minLength: 3 }, b: { minLength: 3 } } }],
    }
    expect(complaints({ a: 'x', b: 'yyy' }, node)).toEqual([
      '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
      'spec.a: Invalid value: "x": spec.a in body should be at least 3 chars long',
    ])
    expect(complaints('abc', { type: 'string', anyOf: [{ minLength: 5 }, { not: { minLength: 1 } }] })).toEqual([
      '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
      'spec: Invalid value: "abc": spec in body should be at least 5 chars long',
    ])
    expect(complaints('x', { type: 'string', minLength: 2, anyOf: [{ minLength: 2 }] })).toHaveLength(2)
  })
})

describe('validateCustomObject of huge values', () => {
  test('stops after more errors than are shown, and finds all duplicates', () => {
    const wrong = Array.from({ length: 150_000 }, () => 1)
    expect(
      complaints(wrong, { type: 'array', anyOf: [{ items: { maximum: 0 } }], items: { type: 'integer' } }),
    ).toHaveLength(2002)
    const twice = Array.from({ length: 300_000 }, (_, index) => index % 150_000)
    expect(
      complaints(twice, { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } }),
    ).toHaveLength(150_000)
  })
})

describe('validateCustomObject of embedded resources', () => {
  const node: SchemaNode = {
    type: 'object',
    additionalProperties: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
    },
  }

  test('wants apiVersion and kind, and nothing else', () => {
    expect(complaints({ a: {} }, node)).toEqual(['spec[a].apiVersion: Required value', 'spec[a].kind: Required value'])
    expect(complaints({ a: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: {} } }, node)).toEqual([])
  })

  test('holds metadata to its rules', () => {
    const found = complaints(
      {
        a: {
          apiVersion: 'a/b/c',
          kind: 'a_b',
          metadata: { name: 'a/b', namespace: 'N', generation: -1, labels: { 'a b': 'c' } },
        },
      },
      node,
    )
    expect(found.map((complaint) => complaint.split(': ', 1)[0])).toEqual([
      'spec[a].apiVersion',
      'spec[a].kind',
      'spec[a].metadata.name',
      'spec[a].metadata.namespace',
      'spec[a].metadata.generation',
      'spec[a].metadata.labels',
    ])
    expect(found[0]).toBe('spec[a].apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c')
    expect(found[1]).toContain('may have mixed case, but should otherwise match: a DNS-1035 label')
  })
})

describe('validateCustomObject of an update', () => {
  const short: SchemaNode = { type: 'string', maxLength: 1 }
  const item: SchemaNode = { type: 'object', properties: { name: string, value: short } }
  const object: SchemaNode = {
    type: 'object',
    required: ['must'],
    properties: {
      a: short,
      b: short,
      must: string,
      deep: { type: 'object', properties: { a: short } },
      map: { type: 'object', additionalProperties: short },
      named: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: item },
      atomic: { type: 'array', items: item },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, maxProperties: 0 },
      set: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    },
  }

  /** [what, old, new, fields with errors] */
  test.each<[string, JsonObject, JsonObject, string[]]>([
    ['an unchanged field is forgiven', { must: '', a: 'xx' }, { must: '', a: 'xx', b: 'y' }, []],
    ['a changed field is not', { must: '', a: 'xx', b: 'yy' }, { must: '', a: 'xxx', b: 'yy' }, ['spec.a']],
    ['a new field is not', { must: '' }, { must: '', a: 'xx' }, ['spec.a']],
    ['a missing field is forgiven while nothing else changes', { a: 'x' }, { a: 'x' }, []],
    ['a missing field is not forgiven after that', { a: 'x' }, { a: 'y' }, ['spec.must']],
    [
      'below unchanged and changed objects',
      { must: '', deep: { a: 'xx' }, map: { k: 'xx', l: 'x' } },
      { must: '1', deep: { a: 'xx' }, map: { k: 'xx', l: 'yy' } },
      ['spec.map.l'],
    ],
    [
      'items with the same keys, in any order',
      {
        must: '',
        named: [
          { name: '1', value: 'xx' },
          { name: '2', value: 'yy' },
        ],
      },
      {
        must: '1',
        named: [
          { name: '2', value: 'yy' },
          { name: '1', value: 'xxx' },
          { name: '3', value: 'zz' },
        ],
      },
      ['spec.named[1].value', 'spec.named[2].value'],
    ],
    [
      'items of other lists only together',
      { must: '', atomic: [{ value: 'xx' }] },
      { must: '1', atomic: [{ value: 'xx' }] },
      [],
    ],
    [
      'items of other lists that changed',
      { must: '', atomic: [{ value: 'xx' }] },
      { must: '', atomic: [{ value: 'xx' }, {}] },
      ['spec.atomic[0].value'],
    ],
    [
      'an object with fields nobody knows counts as changed',
      { must: '', free: { x: 1 } },
      { must: '', free: { x: 1 } },
      ['spec.free'],
    ],
    ['repetitions in a set, when there were any', { must: '', set: ['a', 'a'] }, { must: '1', set: ['b', 'b'] }, []],
    [
      'repetitions in a set, when there were none',
      { must: '', set: ['a'] },
      { must: '', set: ['a', 'a'] },
      ['spec.set[1]'],
    ],
  ])('%s', (...[, before, after, fields]) => {
    expect(complaints(after, object, { before }).map((complaint) => complaint.split(': ', 1)[0])).toEqual(fields)
  })

  test('alternatives are judged as if everything were new', () => {
    const node: SchemaNode = {
      type: 'object',
      properties: { a: string, b: string },
      anyOf: [{ properties: { a: { minLength: 2 } } }],
    }
    expect(complaints({ a: 'x', b: '2' }, node, { before: { a: 'x', b: '1' } })).toHaveLength(2)
    expect(complaints({ a: 'x', b: '1' }, node, { before: { a: 'x', b: '1' } })).toEqual([])
  })

  test('the kind of the object is never forgiven', () => {
    const schema: SchemaNode = { type: 'object', properties: { kind: short, a: string } }
    expect(
      validateCustomObject({ kind: 'Thing', a: '1' }, schema, { matches, old: { kind: 'Thing', a: '2' } }),
    ).toHaveLength(1)
  })

  test('of the status: the rest is not looked at, except for repetitions', () => {
    const schema: SchemaNode = {
      type: 'object',
      required: ['other'],
      properties: {
        spec: object,
        status: { type: 'object', properties: { a: short, b: short }, anyOf: [{ required: ['a'] }] },
      },
    }
    const validate = (status: JsonValue, old: JsonValue): string[] =>
      validateCustomObject({ spec: { a: 'xx', set: ['a', 'a'] }, status }, schema, {
        matches,
        old: { spec: {}, status: old },
        part: 'status',
      }).map(formatFieldError)
    expect(validate({ a: 'xx', b: 'yy' }, { a: 'xx' })).toEqual([
      'status.b: Too long: may not be more than 1 byte',
      'spec.set[1]: Duplicate value: "a"',
    ])
    expect(validate({ b: 1 }, {})).toEqual([
      'status: Invalid value: "": "" must validate at least one schema (anyOf)',
      'status.a: Required value',
      'status.b: Invalid value: "integer": b in body must be of type string: "integer"',
      'spec.set[1]: Duplicate value: "a"',
    ])
  })
})
