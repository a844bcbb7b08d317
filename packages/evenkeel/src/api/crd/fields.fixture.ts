/**
 * Schemas of one field, `spec.f`, and what kube-apiserver 1.36 says about them; `f` in paths is that schema. Sentences about names are cut.
 */
import type { JsonObject } from '@evenkeel/cel/primitives'

interface Field {
  readonly field: JsonObject
  readonly errors: readonly string[]
}

export const fields: readonly Field[] = [
  { field: { $ref: '#/x' }, errors: ['f.$ref: Forbidden: $ref is not supported'] },
  { field: { type: 'string', $ref: '' }, errors: ['f.$ref: Forbidden: $ref is not supported'] },
  {
    field: { type: 'string', definitions: { a: { type: 'string' } } },
    errors: ['f.definitions: Forbidden: definitions is not supported'],
  },
  {
    field: { type: 'object', dependencies: { a: ['b'] } },
    errors: ['f.dependencies: Forbidden: dependencies is not supported'],
  },
  {
    field: { type: 'object', dependencies: { a: { type: 'foo' } } },
    errors: [
      'f.dependencies: Forbidden: dependencies is not supported',
      'f.dependencies[a].type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  },
  { field: { type: 'object', dependencies: {} }, errors: ['f.dependencies: Forbidden: dependencies is not supported'] },
  {
    field: { type: 'object', patternProperties: { a: { type: 'string' } } },
    errors: ['f.patternProperties: Forbidden: patternProperties is not supported'],
  },
  { field: { type: 'string', id: 'x' }, errors: ['f.id: Forbidden: id is not supported'] },
  {
    field: { type: 'string', $schema: 'x' },
    errors: ['spec.validation.openAPIV3Schema: Invalid value: "": OpenAPIV3Schema \'schema\' is not supported'],
  },
  {
    field: { type: 'array', items: { type: 'string' }, additionalItems: false },
    errors: ['f.additionalItems: Forbidden: additionalItems is not supported'],
  },
  {
    field: { type: 'array', items: { type: 'string' }, additionalItems: { type: 'x' } },
    errors: ['f.additionalItems: Forbidden: additionalItems is not supported'],
  },
  {
    field: { type: 'array', items: { type: 'string' }, uniqueItems: true },
    errors: [
      'f.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
  },
  { field: { type: 'array', items: { type: 'string' }, uniqueItems: false }, errors: [] },
  {
    field: { type: 'array', items: [{ type: 'string' }] },
    errors: ['f.items: Forbidden: items must be a schema object and not an array'],
  },
  { field: { type: 'array' }, errors: ['f.items: Required value: must be specified'] },
  {
    field: { type: 'array', items: {} },
    errors: ['f.items.type: Required value: must not be empty for specified array items'],
  },
  {
    field: { type: 'null' },
    errors: [
      'f.type: Forbidden: type cannot be set to null, use nullable as an alternative',
      'f.type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  },
  {
    field: { type: 'foo' },
    errors: [
      'f.type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  },
  { field: {}, errors: ['f.type: Required value: must not be empty for specified object fields'] },
  {
    field: { type: 'object', properties: { a: {} } },
    errors: ['f.properties[a].type: Required value: must not be empty for specified object fields'],
  },
  {
    field: { type: 'object', additionalProperties: {} },
    errors: ['f.additionalProperties.type: Required value: must not be empty for specified object fields'],
  },
  { field: { type: 'object', additionalProperties: true, properties: { a: { type: 'string' } } }, errors: [] },
  {
    field: { type: 'object', additionalProperties: false, properties: { a: { type: 'string' } } },
    errors: ['f.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
  },
  {
    field: { type: 'object', additionalProperties: { type: 'string' }, properties: { a: { type: 'string' } } },
    errors: ['f.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
  },
  { field: { type: 'object', additionalProperties: false }, errors: [] },
  { field: { type: 'string', default: null }, errors: [] },
  { field: { type: 'string', pattern: '^a+$' }, errors: [] },
  {
    field: { type: 'string', 'x-kubernetes-preserve-unknown-fields': false },
    errors: ['f.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
  },
  { field: { type: 'string', enum: ['a', null] }, errors: [] },
  {
    field: { type: 'string', anyOf: [{ type: 'string' }] },
    errors: ['f.anyOf[0].type: Forbidden: must be empty to be structural'],
  },
  {
    field: { type: 'string', allOf: [{ default: 'x', title: 't', description: 'd', nullable: true }] },
    errors: [
      'f.allOf[0].default: Forbidden: must be undefined to be structural',
      'f.allOf[0].description: Forbidden: must be empty to be structural',
      'f.allOf[0].nullable: Forbidden: must be false to be structural',
      'f.allOf[0].title: Forbidden: must be empty to be structural',
    ],
  },
  { field: { type: 'object', oneOf: [{ required: ['a'] }, { properties: { a: { minLength: 1 } } }] }, errors: [] },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      oneOf: [{ properties: { a: { minLength: 1, 'x-kubernetes-validations': [{ rule: 'true' }] } } }],
      not: { required: ['a'], 'x-kubernetes-map-type': 'atomic' },
    },
    errors: [
      'f.not.type: Required value: must be object if x-kubernetes-map-type is specified',
      'f.not.x-kubernetes-map-type: Forbidden: must be undefined to be structural',
      'f.oneOf[0].properties[a].x-kubernetes-validations: Forbidden: must be empty to be structural',
    ],
  },
  {
    field: { type: 'object', not: { additionalProperties: { type: 'string' } } },
    errors: ['f.not.additionalProperties: Forbidden: must be undefined to be structural'],
  },
  { field: { type: 'object', not: { additionalProperties: false } }, errors: [] },
  {
    field: { type: 'object', not: { additionalProperties: true } },
    errors: ['f.not.additionalProperties: Forbidden: must be undefined to be structural'],
  },
  {
    field: {
      type: 'array',
      items: { type: 'string' },
      anyOf: [{ items: { minLength: 1 } }, { items: { items: { maxLength: 1 } } }],
    },
    errors: [],
  },
  {
    field: {
      type: 'object',
      properties: { metadata: { type: 'object' } },
      anyOf: [{ properties: { metadata: { minProperties: 1 } } }],
    },
    errors: ['f.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context'],
  },
  { field: { type: 'object', allOf: [{ anyOf: [{ not: { properties: { q: { enum: ['a'] } } } }] }] }, errors: [] },
  {
    field: {
      type: 'string',
      not: {
        'x-kubernetes-preserve-unknown-fields': true,
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-int-or-string': true,
        'x-kubernetes-list-map-keys': ['a'],
        'x-kubernetes-list-type': 'map',
      },
    },
    errors: [
      'f.not.items: Required value: must have a schema if x-kubernetes-list-type is map',
      'f.not.type: Required value: must be array if x-kubernetes-list-type is specified',
      'f.not.x-kubernetes-embedded-resource: Forbidden: must be false to be structural',
      'f.not.x-kubernetes-int-or-string: Forbidden: must be false to be structural',
      'f.not.x-kubernetes-list-map-keys: Forbidden: must be empty to be structural',
      'f.not.x-kubernetes-list-type: Forbidden: must be undefined to be structural',
      'f.not.x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural',
    ],
  },
  { field: { 'x-kubernetes-int-or-string': true }, errors: [] },
  { field: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, errors: [] },
  {
    field: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] },
    errors: [
      'f.anyOf[0].type: Forbidden: must be empty to be structural',
      'f.anyOf[1].type: Forbidden: must be empty to be structural',
    ],
  },
  {
    field: {
      'x-kubernetes-int-or-string': true,
      allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { minLength: 1 }],
    },
    errors: [],
  },
  {
    field: {
      'x-kubernetes-int-or-string': true,
      allOf: [{ minLength: 1 }, { anyOf: [{ type: 'integer' }, { type: 'string' }] }],
    },
    errors: [
      'f.allOf[1].anyOf[0].type: Forbidden: must be empty to be structural',
      'f.allOf[1].anyOf[1].type: Forbidden: must be empty to be structural',
    ],
  },
  {
    field: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
    errors: [
      'f.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
    ],
  },
  {
    field: {
      'x-kubernetes-int-or-string': true,
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { a: { type: 'string' } },
    },
    errors: [
      'f.x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
    ],
  },
  { field: { 'x-kubernetes-int-or-string': true, default: 5 }, errors: [] },
  { field: { 'x-kubernetes-int-or-string': true, default: 'x' }, errors: [] },
  { field: { 'x-kubernetes-int-or-string': true, pattern: '^\\d+%?$', default: '5%' }, errors: [] },
  {
    field: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer', minimum: 1 }, { type: 'string' }] },
    errors: [
      'f.anyOf[0].type: Forbidden: must be empty to be structural',
      'f.anyOf[1].type: Forbidden: must be empty to be structural',
    ],
  },
  { field: { type: 'string', anyOf: [{ type: 'integer' }, { type: 'string' }] }, errors: [] },
  {
    field: { 'x-kubernetes-embedded-resource': true },
    errors: [
      'f.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      'f.type: Required value: must be object if x-kubernetes-embedded-resource is true',
    ],
  },
  {
    field: { 'x-kubernetes-embedded-resource': true, type: 'string' },
    errors: [
      'f.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      'f.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
    ],
  },
  {
    field: { 'x-kubernetes-embedded-resource': true, type: 'object' },
    errors: [
      'f.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
  },
  {
    field: { 'x-kubernetes-embedded-resource': true, type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    errors: [],
  },
  {
    field: { 'x-kubernetes-embedded-resource': true, type: 'object', properties: { spec: { type: 'object' } } },
    errors: [],
  },
  {
    field: { 'x-kubernetes-embedded-resource': true, type: 'object', additionalProperties: { type: 'string' } },
    errors: [
      'f.additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set',
      'f.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
  },
  {
    field: {
      'x-kubernetes-embedded-resource': true,
      type: 'object',
      properties: {
        metadata: {
          type: 'object',
          properties: { labels: { type: 'object', additionalProperties: { type: 'string', default: 'x' } } },
        },
      },
    },
    errors: [
      'f.properties[metadata].properties[labels].additionalProperties.default: Forbidden: must not be set inside additionalProperties applying to object metadata',
    ],
  },
  {
    field: {
      'x-kubernetes-embedded-resource': true,
      type: 'object',
      properties: { kind: { type: 'integer' }, metadata: { type: 'string' } },
    },
    errors: [
      'f.properties[kind].type: Invalid value: "integer": must be string',
      'f.properties[metadata].type: Invalid value: "string": must be object',
    ],
  },
  {
    field: {
      'x-kubernetes-embedded-resource': true,
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      default: {},
    },
    errors: ['f.default.apiVersion: Required value', 'f.default.kind: Required value'],
  },
  {
    field: {
      'x-kubernetes-embedded-resource': true,
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      default: { apiVersion: 'v1', kind: 'Pod' },
    },
    errors: [],
  },
  {
    field: {
      'x-kubernetes-embedded-resource': true,
      type: 'object',
      properties: { spec: { type: 'object' } },
      default: { apiVersion: 'v1', kind: 'Pod', spec: { x: 1 } },
    },
    errors: ['f.default: Invalid value: {"apiVersion":"v1","kind":"Pod","spec":{"x":1}}: must not have unknown fields'],
  },
  {
    field: {
      'x-kubernetes-embedded-resource': true,
      type: 'object',
      properties: { spec: { type: 'object' } },
      default: { apiVersion: '', kind: 5 },
    },
    errors: ['f.default.kind: Invalid value: 5: must be a string'],
  },
  { field: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }, errors: [] },
  {
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      'x-kubernetes-list-type': 'set',
    },
    errors: [
      'f.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  },
  {
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-map-type': 'atomic' },
      'x-kubernetes-list-type': 'set',
    },
    errors: [],
  },
  {
    field: {
      type: 'array',
      items: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      'x-kubernetes-list-type': 'set',
    },
    errors: [
      'f.items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  },
  {
    field: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bogus' },
    errors: ['f.x-kubernetes-list-type: Unsupported value: "bogus": supported values: "atomic", "set", "map"'],
  },
  {
    field: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': '' },
    errors: ['f.x-kubernetes-list-type: Unsupported value: "": supported values: "atomic", "set", "map"'],
  },
  {
    field: { type: 'string', 'x-kubernetes-list-type': 'set' },
    errors: ['f.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified'],
  },
  {
    field: { 'x-kubernetes-list-type': 'set', 'x-kubernetes-preserve-unknown-fields': true },
    errors: ['f.type: Required value: must be array if x-kubernetes-list-type is specified'],
  },
  {
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
    errors: [],
  },
  {
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
    errors: [
      'f.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
  },
  {
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a', 'a'],
    },
    errors: ['f.x-kubernetes-list-map-keys: Invalid value: ["a","a"]: must not contain duplicate entries'],
  },
  {
    field: {
      type: 'array',
      items: {
        type: 'object',
        properties: { a: { type: 'object' }, b: { type: 'string', nullable: true } },
        required: ['a', 'b'],
        nullable: true,
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a', 'b'],
    },
    errors: [
      'f.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
      'f.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
      'f.items.properties[b].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
  },
  {
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['z'],
    },
    errors: ['f.x-kubernetes-list-map-keys: Invalid value: ["z"]: entries must all be names of item properties'],
  },
  {
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      'x-kubernetes-list-type': 'map',
    },
    errors: ['f.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map'],
  },
  {
    field: {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
    errors: ['f.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map'],
  },
  {
    field: { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
    errors: [
      'f.items: Required value: must be specified',
      'f.items: Required value: must have a schema if x-kubernetes-list-type is map',
    ],
  },
  {
    field: {
      type: 'array',
      items: [{ type: 'object', properties: { a: { type: 'string' } } }],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    },
    errors: [
      'f.items: Forbidden: items must be a schema object and not an array',
      'f.items: Invalid value: [{"type":"object","properties":{"a":{"type":"string"}}}]: must only have a single schema if x-kubernetes-list-type is map',
    ],
  },
  {
    field: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-map-keys': ['a'] },
    errors: ['f.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty'],
  },
  {
    field: {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-list-map-keys': ['a'],
    },
    errors: ['f.x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty'],
  },
  {
    field: { type: 'array', items: { type: 'string', nullable: true }, 'x-kubernetes-list-type': 'set' },
    errors: ['f.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set'],
  },
  { field: { type: 'object', 'x-kubernetes-map-type': 'atomic' }, errors: [] },
  {
    field: { type: 'object', 'x-kubernetes-map-type': 'x' },
    errors: ['f.x-kubernetes-map-type: Unsupported value: "x": supported values: "atomic", "granular"'],
  },
  {
    field: { type: 'string', 'x-kubernetes-map-type': 'granular' },
    errors: ['f.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified'],
  },
  {
    field: { type: 'string', default: 5 },
    errors: ['f.default: Invalid value: "integer":  in body must be of type string: "integer"'],
  },
  { field: { type: 'string', default: 'x' }, errors: [] },
  {
    field: { type: 'integer', default: 1.5 },
    errors: [
      'f.default: Invalid value: "": Checked value must be of type integer (default format) in ',
      'f.default: Invalid value: "number":  in body must be of type integer: "number"',
    ],
  },
  {
    field: { type: 'integer', minimum: 3, default: 1 },
    errors: ['f.default: Invalid value: 1:  in body should be greater than or equal to 3'],
  },
  {
    field: { type: 'string', enum: ['a', 'b'], default: 'c' },
    errors: ['f.default: Unsupported value: "c": supported values: "a", "b"'],
  },
  {
    field: { type: 'string', maxLength: 2, default: 'abc' },
    errors: ['f.default: Too long: may not be more than 2 bytes'],
  },
  {
    field: { type: 'string', pattern: '^a$', default: 'b' },
    errors: ['f.default: Invalid value: "b":  in body should match \'^a$\''],
  },
  {
    field: { type: 'object', default: { x: 1 } },
    errors: ['f.default: Invalid value: {"x":1}: must not have unknown fields'],
  },
  {
    field: { type: 'object', default: {}, required: ['a'], properties: { a: { type: 'string' } } },
    errors: ['f.default.a: Required value'],
  },
  {
    field: { type: 'object', default: { a: 5 }, properties: { a: { type: 'string' } } },
    errors: ['f.default.a: Invalid value: "integer": a in body must be of type string: "integer"'],
  },
  {
    field: {
      type: 'object',
      default: { a: { b: [1, 'x'] } },
      properties: { a: { type: 'object', properties: { b: { type: 'array', items: { type: 'integer' } } } } },
    },
    errors: ['f.default.a.b[1]: Invalid value: "string": a.b[1] in body must be of type integer: "string"'],
  },
  {
    field: { type: 'array', items: { type: 'string' }, default: [1] },
    errors: ['f.default.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"'],
  },
  {
    field: {
      type: 'array',
      items: { type: 'object', properties: { a: { type: 'string' } } },
      default: [{ a: 'x', b: 1 }],
    },
    errors: ['f.default: Invalid value: [{"a":"x","b":1}]: must not have unknown fields'],
  },
  {
    field: { type: 'array', maxItems: 1, items: { type: 'string' }, default: ['a', 'b'] },
    errors: ['f.default: Too many: 2: must have at most 1 item'],
  },
  { field: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, default: { q: 1 } }, errors: [] },
  {
    field: { type: 'object', additionalProperties: true, default: { q: { z: 1 } } },
    errors: ['f.default: Invalid value: {"q":{"z":1}}: must not have unknown fields'],
  },
  { field: { type: 'object', additionalProperties: { type: 'string', default: 5 } }, errors: [] },
  { field: { type: 'string', nullable: true, default: 'x' }, errors: [] },
  {
    field: { type: 'object', properties: { a: { type: 'string', default: 4 } }, default: { a: 'x' } },
    errors: ['f.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"'],
  },
  {
    field: { type: 'boolean', default: 'true' },
    errors: ['f.default: Invalid value: "string":  in body must be of type boolean: "string"'],
  },
  {
    field: { type: 'string', anyOf: [{ minLength: 3 }, { enum: ['a'] }], default: 'bb' },
    errors: [
      'f.default: Invalid value: "": "" must validate at least one schema (anyOf)',
      'f.default: Invalid value: "bb":  in body should be at least 3 chars long',
    ],
  },
  {
    field: { type: 'number', multipleOf: 2, default: 3 },
    errors: ['f.default: Invalid value: 3:  in body should be a multiple of 2'],
  },
  {
    field: { type: 'string', not: { enum: ['x'] }, default: 'x' },
    errors: ['f.default: Invalid value: "": "" must not validate the schema (not)'],
  },
  {
    field: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set', default: ['a', 'a'] },
    errors: [],
  },
  {
    field: { type: 'string', format: 'date-time', default: 'x' },
    errors: ['f.default: Invalid value: "x":  in body must be of type date-time: "x"'],
  },
  {
    field: { type: 'object', minProperties: 1, default: {} },
    errors: ['f.default: Invalid value: 0:  in body should have at least 1 properties'],
  },
  {
    field: { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-validations': [{ rule: 'true' }] },
    errors: [],
  },
  {
    field: { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-validations': [{ rule: '' }] },
    errors: ['f.x-kubernetes-validations[0].rule: Required value: rule is not specified'],
  },
  {
    field: { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-validations': [{ rule: ' \n' }] },
    errors: ['f.x-kubernetes-validations[0].rule: Required value: rule is not specified'],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', message: ' ' }],
    },
    errors: ['f.x-kubernetes-validations[0].message: Invalid value: " ": must be non-empty if specified'],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', message: 'a\nb' }],
    },
    errors: ['f.x-kubernetes-validations[0].message: Invalid value: "a\\nb": must not contain line breaks'],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true\n && true' }],
    },
    errors: [
      'f.x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks',
    ],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true\n && true', message: 'x' }],
    },
    errors: [],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', messageExpression: ' ' }],
    },
    errors: [
      'f.x-kubernetes-validations[0].messageExpression: Required value: messageExpression must be non-empty if specified',
    ],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', reason: 'X' }],
    },
    errors: [
      'f.x-kubernetes-validations[0].reason: Unsupported value: "X": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
    ],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', reason: 'FieldValueInvalid' }],
    },
    errors: [],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.a' }],
    },
    errors: [],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.b' }],
    },
    errors: ['f.x-kubernetes-validations[0].fieldPath: Invalid value: ".b": must be a valid path'],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: 'a' }],
    },
    errors: ['f.x-kubernetes-validations[0].fieldPath: Invalid value: "a": must be a valid path'],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: "['a']" }],
    },
    errors: [],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: '[a]' }],
    },
    errors: ['f.x-kubernetes-validations[0].fieldPath: Invalid value: "[a]": must be a valid path'],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: ' ' }],
    },
    errors: [
      'f.x-kubernetes-validations[0].fieldPath: Invalid value: " ": must be a valid path',
      'f.x-kubernetes-validations[0].fieldPath: Invalid value: " ": must be non-empty if specified',
    ],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.a\n' }],
    },
    errors: [
      'f.x-kubernetes-validations[0].fieldPath: Invalid value: ".a\\n": must be a valid path',
      'f.x-kubernetes-validations[0].fieldPath: Invalid value: ".a\\n": must not contain line breaks',
    ],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.' }],
    },
    errors: ['f.x-kubernetes-validations[0].fieldPath: Invalid value: ".": must be a valid path'],
  },
  {
    field: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-kubernetes-validations': [{ rule: 'true', fieldPath: "['a'" }],
    },
    errors: ['f.x-kubernetes-validations[0].fieldPath: Invalid value: "[\'a\'": must be a valid path'],
  },
  {
    field: { type: 'number', default: 'x', $ref: '' },
    errors: [
      'f.$ref: Forbidden: $ref is not supported',
      'f.default: Invalid value: "string":  in body must be of type number: "string"',
    ],
  },
  { field: { 'x-kubernetes-int-or-string': true, default: true }, errors: [] },
  {
    field: { type: 'object', default: 5, 'x-kubernetes-int-or-string': true },
    errors: ['f.default: Invalid value: "integer":  in body must be of type object: "integer"'],
  },
]
