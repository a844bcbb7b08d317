import { describe, expect, test } from 'vitest'
import type { JsonValue } from '@evenkeel/cel/primitives'
import { formatFieldError } from '../errors/field-error.ts'
import type { SchemaNode } from './schema.ts'
import { validateDefault } from './validate.ts'

const check = (node: SchemaNode, value: JsonValue): string[] =>
  validateDefault(
    { spec: value },
    { type: 'object', properties: { spec: node } },
    { matches: (pattern, text) => new RegExp(pattern).test(text) },
  ).map(formatFieldError)

/** [schema, good value, bad value, what is said about the bad one] */
const cases: [SchemaNode, JsonValue, JsonValue, string[]][] = [
  [{ type: 'string' }, 'a', 1, ['spec: Invalid value: "integer": spec in body must be of type string: "integer"']],
  [{ type: 'integer' }, 1, 'a', ['spec: Invalid value: "string": spec in body must be of type integer: "string"']],
  [
    { type: 'integer' },
    0,
    1.5,
    [
      'spec: Invalid value: "number": spec in body must be of type integer: "number"',
      '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec',
    ],
  ],
  [
    { type: 'integer', format: 'int32' },
    2 ** 31 - 1,
    2 ** 31,
    ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec'],
  ],
  [{ type: 'integer', format: 'int64' }, 1, true, ['spec: Invalid value: "": spec in body must be of type int64: ""']],
  [{ type: 'number' }, 1, false, ['spec: Invalid value: "boolean": spec in body must be of type number: "boolean"']],
  [{ type: 'boolean' }, true, [], ['spec: Invalid value: "array": spec in body must be of type boolean: "array"']],
  [{ type: 'object' }, {}, null, ['spec: Invalid value: "null": spec in body must be of type object: "null"']],
  [
    { type: 'array', nullable: true },
    null,
    {},
    ['spec: Invalid value: "object": spec in body must be of type array: "object"'],
  ],
  [{ type: 'string', enum: ['a', 'b'] }, 'b', 'c', ['spec: Unsupported value: "c": supported values: "a", "b"']],
  [{ type: 'integer', enum: [1, 2] }, 2, 3, ['spec: Unsupported value: 3: supported values: "1", "2"']],
  [
    { type: 'string', minLength: 2 },
    '😀😀',
    '😀',
    ['spec: Invalid value: "😀": spec in body should be at least 2 chars long'],
  ],
  [{ type: 'string', maxLength: 2 }, '😀😀', 'abc', ['spec: Too long: may not be more than 2 bytes']],
  [
    { type: 'string', pattern: '^[a-z]+$' },
    'a',
    'A',
    ['spec: Invalid value: "A": spec in body should match \'^[a-z]+$\''],
  ],
  [
    { type: 'string', format: 'date' },
    '2026-01-01',
    'x',
    ['spec: Invalid value: "x": spec in body must be of type date: "x"'],
  ],
  [
    { type: 'integer', minimum: 1 },
    1,
    0,
    ['spec: Invalid value: 0: spec in body should be greater than or equal to 1'],
  ],
  [
    { type: 'integer', minimum: 1, exclusiveMinimum: true },
    2,
    1,
    ['spec: Invalid value: 1: spec in body should be greater than 1'],
  ],
  [
    { type: 'number', maximum: 1 },
    1,
    1.5,
    ['spec: Invalid value: 1.5: spec in body should be less than or equal to 1'],
  ],
  [
    { type: 'number', maximum: 1, exclusiveMaximum: true },
    0.5,
    1,
    ['spec: Invalid value: 1: spec in body should be less than 1'],
  ],
  [{ type: 'integer', multipleOf: 5 }, 10, 7, ['spec: Invalid value: 7: spec in body should be a multiple of 5']],
  [
    { type: 'number', multipleOf: 0.5 },
    1.5,
    1.2,
    ['spec: Invalid value: 1.2: spec in body should be a multiple of 0.5'],
  ],
  [{ type: 'array', minItems: 1 }, [1], [], ['spec: Invalid value: 0: spec in body should have at least 1 items']],
  [{ type: 'array', maxItems: 1 }, [1], [1, 2], ['spec: Too many: 2: must have at most 1 item']],
  [
    { type: 'array', uniqueItems: true },
    [1, '1', { a: 1 }, { a: 2 }],
    [{ a: 1 }, { a: 1 }],
    ['spec: Invalid value: "": spec in body shouldn\'t contain duplicates'],
  ],
  [
    { type: 'array', items: { type: 'string' } },
    ['a'],
    ['a', 1],
    ['spec[1]: Invalid value: "integer": spec[1] in body must be of type string: "integer"'],
  ],
  [
    { type: 'object', minProperties: 1 },
    { a: 1 },
    {},
    ['spec: Invalid value: 0: spec in body should have at least 1 properties'],
  ],
  [{ type: 'object', maxProperties: 1 }, { a: 1 }, { a: 1, b: 2 }, ['spec: Too many: 2: must have at most 1 item']],
  [{ type: 'object', required: ['a', 'b'] }, { a: 1, b: 2 }, {}, ['spec.a: Required value', 'spec.b: Required value']],
  [{ type: 'object', required: ['constructor'] }, { constructor: 1 }, {}, ['spec.constructor: Required value']],
  [
    { type: 'object', properties: { a: { type: 'object', properties: { b: { type: 'string' } } } } },
    { a: { b: 'x' } },
    { a: { b: 1 } },
    ['spec.a.b: Invalid value: "integer": spec.a.b in body must be of type string: "integer"'],
  ],
  [
    { type: 'object', additionalProperties: { type: 'string' } },
    { 'a/b': 'x' },
    { 'a/b': 1 },
    ['spec.a/b: Invalid value: "integer": spec.a/b in body must be of type string: "integer"'],
  ],
  [
    { anyOf: [{ type: 'string' }, { minimum: 5 }] },
    7,
    1,
    [
      '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
      'spec: Invalid value: "integer": spec in body must be of type string: "integer"',
    ],
  ],
  [
    { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: 1 },
    { a: 1, b: 1 },
    ['<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
  ],
  [
    { oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { b: 1 },
    {},
    [
      '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
      'spec.a: Required value',
    ],
  ],
  [
    { type: 'integer', allOf: [{ minimum: 1 }, { maximum: 5 }] },
    3,
    6,
    [
      'spec: Invalid value: 6: spec in body should be less than or equal to 5',
      '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf)',
    ],
  ],
  [{ not: { required: ['a'] } }, {}, { a: 1 }, ['<nil>: Invalid value: "": "spec" must not validate the schema (not)']],
]

describe('validateDefault', () => {
  test.each(cases)('%j takes %j and refuses %j', (...[node, good, bad, said]) => {
    expect(check(node, good)).toEqual([])
    expect(check(node, bad)).toEqual(said)
  })

  test('says everything that is wrong, each thing once', () => {
    const node: SchemaNode = {
      type: 'object',
      required: ['c'],
      properties: {
        a: { type: 'string' },
        b: { type: 'integer', maximum: 1, allOf: [{ maximum: 1 }, { minimum: 0 }] },
      },
    }
    expect(check(node, { a: 1, b: 5, unknown: 1 })).toEqual([
      'spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"',
      'spec.b: Invalid value: 5: spec.b in body should be less than or equal to 1',
      '<nil>: Invalid value: "": "spec.b" must validate all the schemas (allOf)',
      'spec.c: Required value',
    ])
  })
})
