/**
 * Invalid structural schemas, each violation with its path.
 */
import { definitionIn } from '../../custom.ts'
import { ok } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'
import { mistakeCase } from './invalid.ts'
import type { Mistake } from './invalid.ts'

interface SchemaMistake {
  readonly id: string
  readonly rule: string
  readonly spec: Fields
  /** `~` stands for the path of `spec` in the schema. */
  readonly causes: readonly string[]
}

const object = (properties: Fields, more: Fields = {}): Fields => ({ type: 'object', properties, ...more })
const text = { type: 'string' }

const schemaMistakes: readonly SchemaMistake[] = [
  {
    id: 'no-type',
    rule: 'Every schema needs a type.',
    spec: object({ a: {} }),
    causes: ['~properties[a].type: Required value: must not be empty for specified object fields'],
  },
  {
    id: 'unknown-type',
    rule: 'The type of a schema is a JSON type.',
    spec: object({ a: { type: 'colour' } }),
    causes: [
      '~properties[a].type: Unsupported value: "colour": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  },
  {
    id: 'type-null',
    rule: 'The type null is not allowed.',
    spec: object({ a: { type: 'null' } }),
    causes: [
      '~properties[a].type: Forbidden: type cannot be set to null, use nullable as an alternative',
      '~properties[a].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
  },
  {
    id: 'keywords',
    rule: 'CRD schemas do not support $ref, definitions, dependencies and similar keywords.',
    spec: object({
      a: { ...text, $ref: '#/x' },
      b: { type: 'object', definitions: { x: text } },
      c: { type: 'object', patternProperties: { '^a': text } },
      d: { type: 'object', dependencies: { a: ['b'] } },
      e: { ...text, id: 'x' },
    }),
    causes: [
      '~properties[a].$ref: Forbidden: $ref is not supported',
      '~properties[b].definitions: Forbidden: definitions is not supported',
      '~properties[c].patternProperties: Forbidden: patternProperties is not supported',
      '~properties[d].dependencies: Forbidden: dependencies is not supported',
      '~properties[e].id: Forbidden: id is not supported',
    ],
  },
  {
    id: 'unique-items',
    rule: 'uniqueItems cannot be set: use the list type set.',
    spec: object({ a: { type: 'array', items: text, uniqueItems: true } }),
    causes: [
      '~properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
  },
  {
    id: 'additional-items',
    rule: 'CRD schemas do not support additionalItems and items as a list of schemas.',
    spec: object({
      a: { type: 'array', items: text, additionalItems: text },
      b: { type: 'array', items: [text, text] },
    }),
    causes: [
      '~properties[a].additionalItems: Forbidden: additionalItems is not supported',
      '~properties[b].items: Forbidden: items must be a schema object and not an array',
    ],
  },
  {
    id: 'array-without-items',
    rule: 'An array schema needs items.',
    spec: object({ a: { type: 'array' } }),
    causes: ['~properties[a].items: Required value: must be specified'],
  },
  {
    id: 'properties-and-additional',
    rule: 'properties and additionalProperties are mutually exclusive.',
    spec: object({ a: text }, { additionalProperties: text }),
    causes: ['~additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
  },
  {
    id: 'structure-in-logic',
    rule: 'Schemas inside allOf, anyOf, oneOf and not cannot declare types or structure.',
    spec: object({
      a: { ...text, allOf: [{ type: 'string' }] },
      b: { ...text, anyOf: [{ default: 'x' }] },
      c: { ...text, oneOf: [{ nullable: true }] },
      d: { ...text, not: { description: 'x' } },
    }),
    causes: [
      '~properties[a].allOf[0].type: Forbidden: must be empty to be structural',
      '~properties[b].anyOf[0].default: Forbidden: must be undefined to be structural',
      '~properties[c].oneOf[0].nullable: Forbidden: must be false to be structural',
      '~properties[d].not.description: Forbidden: must be empty to be structural',
    ],
  },
  {
    id: 'pattern',
    rule: 'A pattern is an RE2 regular expression, without backtracking.',
    spec: object({ a: { ...text, pattern: '(' }, b: { ...text, pattern: '(?=a)b' } }),
    causes: [
      '~properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      '~properties[b].pattern: Invalid value: "(?=a)b": must be a valid regular expression, but isn\'t: error parsing regexp: invalid or unsupported Perl syntax: `(?=`',
    ],
  },
  {
    id: 'int-or-string-false',
    rule: 'An extension is either true or absent.',
    spec: object({
      a: {
        ...text,
        'x-kubernetes-int-or-string': false,
        'x-kubernetes-preserve-unknown-fields': false,
        'x-kubernetes-embedded-resource': false,
      },
    }),
    causes: ['~properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
  },
  {
    id: 'embedded-resource',
    rule: 'An embedded resource is an object with properties or with preserved unknown fields.',
    spec: object({
      a: { ...text, 'x-kubernetes-embedded-resource': true },
      b: { type: 'object', 'x-kubernetes-embedded-resource': true },
    }),
    causes: [
      '~properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      '~properties[a].type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true',
      '~properties[b].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
  },
  {
    id: 'list-type',
    rule: 'A list type must be valid and belong to an array.',
    spec: object({
      a: { type: 'array', items: text, 'x-kubernetes-list-type': 'bag' },
      b: { ...text, 'x-kubernetes-list-type': 'set' },
    }),
    causes: [
      '~properties[a].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
      '~properties[b].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
    ],
  },
  {
    id: 'list-keys',
    rule: 'The keys of a map list name primitive fields of the items that are required or have a default.',
    spec: object({
      a: { type: 'array', 'x-kubernetes-list-type': 'map', items: object({ k: text }) },
      b: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'none', 'k'],
        items: object({ k: object({}) }),
      },
      c: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: object({ k: text }),
      },
    }),
    causes: [
      '~properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
      '~properties[b].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      '~properties[b].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      `~properties[b].items.properties[k].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
      `~properties[b].items.properties[k].type: Invalid value: "object": must be a scalar type if parent array's x-kubernetes-list-type is map`,
      '~properties[b].x-kubernetes-list-map-keys: Invalid value: … : entries must all be names of item properties',
      '~properties[b].x-kubernetes-list-map-keys: Invalid value: … : must not contain duplicate entries',
      '~properties[c].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
  },
  {
    id: 'list-keys-elsewhere',
    rule: 'Only a map list has keys, and its items are objects.',
    spec: object({
      a: { type: 'array', items: text, 'x-kubernetes-list-map-keys': ['k'] },
      b: { type: 'array', items: text, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    }),
    causes: [
      '~properties[a].x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
      `~properties[b].items.type: Invalid value: "string": must be object if parent array's x-kubernetes-list-type is map`,
    ],
  },
  {
    id: 'set-items',
    rule: 'The items of a set are primitives or atomic.',
    spec: object({
      a: { type: 'array', 'x-kubernetes-list-type': 'set', items: object({ k: text }) },
      b: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'array', items: text } },
      c: { type: 'array', 'x-kubernetes-list-type': 'set', items: { ...text, nullable: true } },
    }),
    causes: [
      '~properties[a].items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
      '~properties[c].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set',
    ],
  },
  {
    id: 'map-type',
    rule: 'A map type must be valid and belong to an object.',
    spec: object({
      a: { type: 'object', 'x-kubernetes-map-type': 'loose' },
      b: { ...text, 'x-kubernetes-map-type': 'atomic' },
    }),
    causes: [
      '~properties[a].x-kubernetes-map-type: Unsupported value: "loose": supported values: "atomic", "granular"',
      '~properties[b].type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
    ],
  },
  {
    id: 'default-does-not-fit',
    rule: 'A default must match its own schema and have no fields that would be pruned.',
    spec: object({
      a: { ...text, default: 5 },
      b: { ...text, default: 'long', maxLength: 2 },
      c: object({ d: text }, { default: { d: 'x', e: 'y' } }),
    }),
    causes: [
      '~properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"',
      '~properties[b].default: Too long: may not be more than 2 bytes',
      '~properties[c].default: Invalid value: … : must not have unknown fields',
    ],
  },
]

const rootMistakes: readonly Mistake[] = [
  {
    id: 'logic-beyond-structure',
    rule: 'A field that anyOf constrains must be a property of the enclosing schema.',
    options: { schema: object({ b: text }, { anyOf: [{ properties: { c: { minLength: 1 } } }, { required: ['b'] }] }) },
    causes: [
      'spec.validation.openAPIV3Schema.properties[c]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[c]',
    ],
  },
  {
    id: 'root-type',
    rule: 'The root of a schema is an object.',
    options: { schema: { type: 'string' } },
    causes: ['spec.validation.openAPIV3Schema.type: Invalid value: "string": must be object at the root'],
  },
  {
    id: 'root-nullable',
    rule: 'The root of a schema cannot be nullable.',
    options: { schema: { type: 'object', nullable: true } },
    causes: ['spec.validation.openAPIV3Schema.nullable: Forbidden: nullable cannot be true at the root'],
  },
  {
    id: 'root-metadata',
    rule: 'A schema can restrict only name and generateName of metadata.',
    options: {
      schema: {
        type: 'object',
        properties: {
          metadata: {
            type: 'object',
            properties: {
              labels: { type: 'object', maxProperties: 1, additionalProperties: text },
              name: { type: 'string', maxLength: 5 },
            },
          },
        },
      },
    },
    causes: [
      'spec.validation.openAPIV3Schema.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  },
  {
    id: 'root-known-types',
    rule: 'apiVersion, kind and metadata have fixed types.',
    options: {
      schema: {
        type: 'object',
        properties: { apiVersion: { type: 'integer' }, kind: { type: 'object' }, metadata: { type: 'string' } },
      },
    },
    causes: [
      'spec.validation.openAPIV3Schema.properties[apiVersion].type: Invalid value: "integer": must be string',
      'spec.validation.openAPIV3Schema.properties[kind].type: Invalid value: "object": must be string',
      'spec.validation.openAPIV3Schema.properties[metadata].type: Invalid value: "string": must be object',
    ],
  },
  {
    id: 'root-status',
    rule: 'With a status subresource the root of the schema allows only keywords for objects.',
    options: { schema: { type: 'object', anyOf: [{ required: ['spec'] }] }, version: { subresources: { status: {} } } },
    causes: [
      'spec.validation.openAPIV3Schema: Invalid value: … : only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ],
  },
  {
    id: 'every-violation',
    rule: 'An invalid CRD is rejected with every error.',
    options: {
      names: { listKind: 'Widget' },
      spec: object({ a: {}, b: { ...text, pattern: '(' } }),
      version: { storage: false },
    },
    causes: [
      'spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same',
      '~properties[a].type: Required value: must not be empty for specified object fields',
      '~properties[b].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      'spec.versions: Invalid value: … : must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: null: must have at least one stored version',
    ],
  },
]

/** Similar schemas that are accepted nevertheless. */
const odd: Fields = object({
  none: { type: 'object', additionalProperties: false },
  mixed: { type: 'string', 'x-kubernetes-int-or-string': true },
  nothing: { ...text, default: null },
  size: { ...text, minLength: -1 },
  logic: object({ b: text }, { anyOf: [{ properties: { c: { minLength: 1 } } }, { required: ['b'] }] }),
})

export const schemaMistakeCases: readonly ServerCase[] = [
  ...schemaMistakes.map(({ spec, ...rest }) => mistakeCase({ ...rest, options: { spec } })),
  ...rootMistakes.map(mistakeCase),
  {
    id: 'server/definitions/odd-schemas',
    rule: 'Accepted although unusual: additionalProperties false, a type next to int-or-string, null as a default, a negative size, logic about undeclared fields.',
    async run(place) {
      ok(await place.post('customresourcedefinitions', definitionIn(place, { spec: odd })), 201)
    },
  },
]
