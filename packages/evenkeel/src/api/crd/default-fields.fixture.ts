/**
 * Schemas of one field, `spec.f`, with a default, and the errors of kube-apiserver 1.36 about it; `f` in paths is that schema.
 */
import type { JsonObject } from '@evenkeel/cel/primitives'

interface Field {
  readonly field: JsonObject
  readonly errors: readonly string[]
}

export const defaultFields: readonly Field[] = [
  { field: { type: 'integer', format: 'uint32', default: -1 }, errors: [] },
  {
    field: { type: 'integer', format: 'uint32', default: 1.5 },
    errors: [
      'f.default: Invalid value: "": Checked value must be of type integer (default format) in ',
      'f.default: Invalid value: "float64":  in body must be of type uint32: "float64"',
    ],
  },
  {
    field: { type: 'string', format: 'int64', default: 5 },
    errors: ['f.default: Invalid value: "integer":  in body must be of type string: "integer"'],
  },
  {
    field: { type: 'number', format: 'double', minimum: 2, default: 1 },
    errors: ['f.default: Invalid value: 1:  in body should be greater than or equal to 2'],
  },
  {
    field: { type: 'integer', format: 'double', default: 1.5 },
    errors: [
      'f.default: Invalid value: "": Checked value must be of type integer (default format) in ',
      'f.default: Invalid value: "float64":  in body must be of type double: "float64"',
    ],
  },
  {
    field: { type: 'object', additionalProperties: { type: 'string' }, default: { '': 1 } },
    errors: ['f.default: Invalid value: "integer": . in body must be of type string: "integer"'],
  },
  {
    field: { type: 'boolean', format: 'date', default: 5 },
    errors: ['f.default: Invalid value: "int64":  in body must be of type date: "int64"'],
  },
  {
    field: { type: 'string', format: 'colour', default: 5 },
    errors: ['f.default: Invalid value: "int64":  in body must be of type colour: "int64"'],
  },
  {
    field: { type: 'string', format: 'date-time', default: 5 },
    errors: ['f.default: Invalid value: "int64":  in body must be of type date-time: "int64"'],
  },
  {
    field: { type: 'integer', format: 'int32', default: 'x' },
    errors: ['f.default: Invalid value: "string":  in body must be of type integer: "string"'],
  },
  {
    field: { type: 'integer', format: 'date', default: 1.5 },
    errors: [
      'f.default: Invalid value: "": Checked value must be of type integer (default format) in ',
      'f.default: Invalid value: "float64":  in body must be of type date: "float64"',
    ],
  },
  {
    field: { type: 'integer', format: 'colour', default: 1.5 },
    errors: [
      'f.default: Invalid value: "": Checked value must be of type integer (default format) in ',
      'f.default: Invalid value: "float64":  in body must be of type colour: "float64"',
    ],
  },
  {
    field: { type: 'integer', format: 'colour', minimum: 0.5, default: 1 },
    errors: ['f.default: Invalid value: "": Minimum boundary value must be of type integer (default format) in '],
  },
  { field: { type: 'boolean', format: 'colour', default: 'x' }, errors: [] },
  { field: { type: 'string', format: 'colour', default: ['a'] }, errors: [] },
  { field: { type: 'object', format: 'colour', default: ['a'] }, errors: [] },
  { field: { type: 'array', format: 'colour', items: { type: 'string' }, default: 'a' }, errors: [] },
  {
    field: { type: 'array', format: 'date', items: { type: 'string' }, default: 'a' },
    errors: ['f.default: Invalid value: "a":  in body must be of type date: "a"'],
  },
  {
    field: { type: 'integer', format: 'date', default: 'x' },
    errors: [
      'f.default: Invalid value: "string":  in body must be of type integer: "string"',
      'f.default: Invalid value: "x":  in body must be of type date: "x"',
    ],
  },
  {
    field: { type: 'integer', format: 'colour', default: 'x' },
    errors: ['f.default: Invalid value: "string":  in body must be of type integer: "string"'],
  },
  {
    field: { type: 'number', format: 'float', default: 1e300 },
    errors: ['f.default: Invalid value: "": Checked value must be of type number with format float in '],
  },
  {
    field: { type: 'number', format: 'double', default: 'x' },
    errors: ['f.default: Invalid value: "string":  in body must be of type number: "string"'],
  },
  { field: { type: 'number', format: 'int32', default: 3000000000 }, errors: [] },
  { field: { type: 'number', format: 'int32', default: 1.5 }, errors: [] },
  {
    field: { type: 'integer', format: 'int64', default: 1e30 },
    errors: [
      'f.default: Invalid value: "": Checked value must be of type integer with format int64 in ',
      'f.default: Invalid value: "float64":  in body must be of type int64: "float64"',
    ],
  },
  {
    field: {
      type: 'object',
      additionalProperties: { type: 'object', required: ['q'], properties: { z: { type: 'integer' } } },
      default: { x: { z: 'a' } },
    },
    errors: [
      'f.default.x.q: Required value',
      'f.default.x.z: Invalid value: "string": .x.z in body must be of type integer: "string"',
    ],
  },
  {
    field: {
      type: 'object',
      additionalProperties: { type: 'array', items: { type: 'integer' } },
      default: { x: ['a'] },
    },
    errors: ['f.default.x[0]: Invalid value: "string": .x[0] in body must be of type integer: "string"'],
  },
  {
    field: { type: 'object', properties: { '.dot': { type: 'integer' } }, default: { '.dot': 'a' } },
    errors: ['f.default.dot: Invalid value: "string": .dot in body must be of type integer: "string"'],
  },
  {
    field: { type: 'object', properties: { a: { type: 'integer' } }, default: { a: null } },
    errors: ['f.default.a: Invalid value: "null": a in body must be of type integer: "null"'],
  },
  {
    field: { type: 'object', properties: { a: { type: 'integer', nullable: true, enum: [1] } }, default: { a: null } },
    errors: ['f.default.a: Unsupported value: null: supported values: "1"'],
  },
  { field: { type: 'string', nullable: true, enum: ['a'], default: null }, errors: [] },
  {
    field: { type: 'array', items: { 'x-kubernetes-int-or-string': true, pattern: '^a' }, default: [1, 'b', true] },
    errors: ['f.default.[1]: Invalid value: "b": [1] in body should match \'^a\''],
  },
  {
    field: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }], default: true },
    errors: [
      'f.default: Invalid value: "": "" must validate at least one schema (anyOf)',
      'f.default: Invalid value: "boolean":  in body must be of type integer: "boolean"',
    ],
  },
  {
    field: { 'x-kubernetes-int-or-string': true, minimum: 5, default: 1 },
    errors: ['f.default: Invalid value: 1:  in body should be greater than or equal to 5'],
  },
  {
    field: { type: 'object', properties: { a: { type: 'string', default: 'q' } }, required: ['a'], default: {} },
    errors: ['f.default.a: Required value'],
  },
  { field: { type: 'array', uniqueItems: false, items: { type: 'integer' }, default: [1, 1] }, errors: [] },
  {
    field: { type: 'string', oneOf: [{ pattern: '^b' }, { minLength: 5 }], default: 'a' },
    errors: [
      'f.default: Invalid value: "": "" must validate one and only one schema (oneOf). Found none valid',
      'f.default: Invalid value: "a":  in body should match \'^b\'',
    ],
  },
  {
    field: { type: 'string', allOf: [{ pattern: '^b' }, { minLength: 5 }], default: 'a' },
    errors: [
      'f.default: Invalid value: "": "" must validate all the schemas (allOf). None validated',
      'f.default: Invalid value: "a":  in body should be at least 5 chars long',
      'f.default: Invalid value: "a":  in body should match \'^b\'',
    ],
  },
  {
    field: { type: 'string', maxLength: 1, format: 'ipv4', default: 'abc' },
    errors: [
      'f.default: Invalid value: "abc":  in body must be of type ipv4: "abc"',
      'f.default: Too long: may not be more than 1 byte',
    ],
  },
  {
    field: { type: 'string', pattern: 'z', format: 'ipv4', default: 'abc' },
    errors: [
      'f.default: Invalid value: "abc":  in body must be of type ipv4: "abc"',
      'f.default: Invalid value: "abc":  in body should match \'z\'',
    ],
  },
  {
    field: { type: 'object', minProperties: 2, properties: { a: { type: 'integer' } }, default: {} },
    errors: ['f.default: Invalid value: 0:  in body should have at least 2 properties'],
  },
  {
    field: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: { type: 'integer', minimum: 3 } },
      default: { a: 1, b: 2 },
    },
    errors: ['f.default.a: Invalid value: 1: a in body should be greater than or equal to 3'],
  },
  {
    field: { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } } }, default: [{ a: 'x' }] },
    errors: ['f.default.[0].a: Invalid value: "string": [0].a in body must be of type integer: "string"'],
  },
  {
    field: { type: 'array', items: { type: 'array', items: { type: 'integer' } }, default: [['x']] },
    errors: ['f.default.[0][0]: Invalid value: "string": [0][0] in body must be of type integer: "string"'],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'object', properties: { kind: { type: 'string' } } } },
      default: { a: { kind: 1 } },
    },
    errors: ['f.default.a.kind: Invalid value: "integer": a.kind in body must be of type string: "integer"'],
  },
  {
    field: { type: 'string', enum: ['a', 'b'], default: 5 },
    errors: [
      'f.default: Invalid value: "integer":  in body must be of type string: "integer"',
      'f.default: Unsupported value: 5: supported values: "a", "b"',
    ],
  },
  {
    field: { type: 'object', additionalProperties: { type: 'string', maxLength: 1 }, default: { x: 'yy' } },
    errors: ['f.default.x: Too long: may not be more than 1 byte'],
  },
  {
    field: { type: 'object', additionalProperties: { type: 'string', not: { enum: ['y'] } }, default: { x: 'y' } },
    errors: ['f.default: Invalid value: "": ".x" must not validate the schema (not)'],
  },
  {
    field: { type: 'object', additionalProperties: { type: 'string', enum: ['z'] }, default: { x: 'y' } },
    errors: ['f.default.x: Unsupported value: "y": supported values: "z"'],
  },
  {
    field: {
      type: 'object',
      additionalProperties: { type: 'object', additionalProperties: { type: 'integer', minimum: 1.5 } },
      default: { x: { y: 2 } },
    },
    errors: ['f.default: Invalid value: "": Minimum boundary value must be of type integer (default format) in .x.y'],
  },
]
