/**
 * Schemas of whole objects, and what kube-apiserver 1.36 says about them; `root` in paths is that schema.
 */
import type { JsonObject } from '@evenkeel/cel/primitives'

interface Root {
  readonly schema: JsonObject
  /** What the version says beside. */
  readonly more?: JsonObject
  readonly errors: readonly string[]
}

export const roots: readonly Root[] = [
  { schema: {}, errors: ['root.type: Required value: must not be empty at the root'] },
  { schema: { type: 'string' }, errors: ['root.type: Invalid value: "string": must be object at the root'] },
  { schema: { type: 'object' }, errors: [] },
  {
    schema: { type: 'object', nullable: true },
    errors: ['root.nullable: Forbidden: nullable cannot be true at the root'],
  },
  {
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    errors: ['root.additionalProperties: Forbidden: must not be used at the root'],
  },
  {
    schema: { type: 'object', additionalProperties: true },
    errors: ['root.additionalProperties: Forbidden: must not be used at the root'],
  },
  {
    schema: { type: 'object', additionalProperties: false },
    errors: ['root.additionalProperties: Forbidden: must not be used at the root'],
  },
  { schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, errors: [] },
  { schema: { 'x-kubernetes-preserve-unknown-fields': true }, errors: [] },
  {
    schema: { type: 'object', default: {} },
    errors: ['root.default.apiVersion: Required value', 'root.default.kind: Required value'],
  },
  {
    schema: { type: 'object', default: { apiVersion: 'a/b/c', kind: 'X_' } },
    errors: [
      'root.default.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      'root.default.kind: Invalid value: "X_": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or \'-\', start with an alphabetic character, and end with an alphanumeric character',
    ],
  },
  {
    schema: { type: 'object', required: ['spec'], properties: { spec: { type: 'object' } } },
    more: { subresources: { status: {} } },
    errors: [],
  },
  {
    schema: { type: 'array', items: { type: 'string' } },
    more: { subresources: { status: {} } },
    errors: [
      'root.type: Invalid value: "array": must be object at the root',
      'root.type: Invalid value: "array": only "object" is allowed as the type at the root of the schema if the status subresource is enabled',
    ],
  },
  {
    schema: { type: 'object', anyOf: [{ required: ['spec'] }] },
    more: { subresources: { status: {} } },
    errors: [
      'root: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ],
  },
  {
    schema: { type: 'object', nullable: true },
    more: { subresources: { status: {} } },
    errors: [
      'root.nullable: Forbidden: nullable cannot be true at the root',
      'root: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ],
  },
  {
    schema: { id: 'x', type: 'string' },
    more: { subresources: { status: {} } },
    errors: [
      'root.id: Forbidden: id is not supported',
      'root: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ],
  },
  {
    schema: { type: 'object', maxProperties: 2 },
    more: { subresources: { status: {} } },
    errors: [
      'root: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ],
  },
  {
    schema: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { a: { type: 'string' } } },
    more: { subresources: { status: {} } },
    errors: [
      'root: Invalid value: …: only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    ],
  },
  {
    schema: { type: 'object', 'x-kubernetes-validations': [{ rule: 'true' }], title: 't', description: 'd' },
    more: { subresources: { status: {} } },
    errors: [],
  },
  { schema: { type: 'object', properties: { metadata: { type: 'object' } } }, errors: [] },
  {
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } } },
    },
    errors: [],
  },
  {
    schema: {
      type: 'object',
      properties: {
        metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
      },
    },
    errors: [],
  },
  {
    schema: {
      type: 'object',
      properties: {
        metadata: {
          type: 'object',
          properties: { labels: { type: 'object', additionalProperties: { type: 'string' } } },
        },
      },
    },
    errors: [
      'root.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  },
  {
    schema: { type: 'object', properties: { metadata: { type: 'object', description: 'x' } } },
    errors: [
      'root.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  },
  {
    schema: { type: 'object', properties: { metadata: { type: 'string' } } },
    errors: ['root.properties[metadata].type: Invalid value: "string": must be object'],
  },
  {
    schema: { type: 'object', properties: { metadata: {} } },
    errors: [
      'root.properties[metadata].type: Invalid value: "": must be object',
      'root.properties[metadata].type: Required value: must not be empty for specified object fields',
    ],
  },
  {
    schema: { type: 'object', properties: { metadata: { type: 'object', required: ['name'] } } },
    errors: [
      'root.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  },
  {
    schema: { type: 'object', properties: { metadata: { type: 'object', default: {} } } },
    errors: ['root.properties[metadata].default: Forbidden: must not be set in top-level metadata'],
  },
  {
    schema: {
      type: 'object',
      properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'x' } } } },
    },
    errors: ['root.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata'],
  },
  {
    schema: {
      type: 'object',
      properties: {
        metadata: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
    },
    errors: [
      'root.properties[metadata].x-kubernetes-embedded-resource: Forbidden: must not be used inside of resource meta',
      'root.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  },
  {
    schema: { type: 'object', properties: { kind: { type: 'integer' }, apiVersion: { type: 'object' } } },
    errors: [
      'root.properties[apiVersion].type: Invalid value: "object": must be string',
      'root.properties[kind].type: Invalid value: "integer": must be string',
    ],
  },
  {
    schema: { type: 'object', properties: { kind: { type: 'string', default: 'x' } } },
    errors: ['root.properties[kind].default: Forbidden: must not be set in top-level kind'],
  },
  {
    schema: {
      type: 'object',
      properties: { spec: { type: 'object' } },
      anyOf: [{ properties: { metadata: { required: ['name'] } } }],
    },
    errors: [
      'root.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context',
      'root.properties[metadata]: Required value: because it is defined in root.anyOf[0].properties[metadata]',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.b' }, { jsonPath: '.spec.c.d' }] },
    errors: [],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '' }] },
    errors: ['spec.selectableFields[0].jsonPath: Required value'],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: 'spec.a' }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.spec.zz' }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.zz": is an invalid path: does not refer to a valid field',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.spec.e' }, { jsonPath: '.spec.f' }, { jsonPath: '.spec.c' }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.e": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[1].jsonPath: Invalid value: ".spec.f": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[2].jsonPath: Invalid value: ".spec.c": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.spec.a' }, { jsonPath: '.spec.a' }] },
    errors: ['spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"'],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.metadata.name' }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name": is an invalid path: does not refer to a valid field',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: ".spec['a']" }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec[\'a\']": is an invalid path: array notation is not allowed',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.spec.f[0]' }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.f[0]": is an invalid path: array notation is not allowed',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.spec.m.x' }] },
    errors: [],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.' }] },
    errors: ['spec.selectableFields[0].jsonPath: Invalid value: ".": is an invalid path: unexpected end of JSON path'],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.spec.' }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.": is an invalid path: unexpected end of JSON path',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'integer' },
            c: { type: 'object', properties: { d: { type: 'boolean' } } },
            e: { type: 'number' },
            f: { type: 'array', items: { type: 'string' } },
            m: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
    more: { selectableFields: [{ jsonPath: '.spec.a.b' }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: ".spec.a.b": is an invalid path: does not refer to a valid field',
    ],
  },
  {
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            a: { type: 'string' },
            b: { type: 'string' },
            c: { type: 'string' },
            d: { type: 'string' },
            e: { type: 'string' },
            f: { type: 'string' },
            g: { type: 'string' },
            h: { type: 'string' },
            i: { type: 'string' },
            j: { type: 'string' },
          },
        },
      },
    },
    more: {
      selectableFields: [
        { jsonPath: '.spec.a' },
        { jsonPath: '.spec.b' },
        { jsonPath: '.spec.c' },
        { jsonPath: '.spec.d' },
        { jsonPath: '.spec.e' },
        { jsonPath: '.spec.f' },
        { jsonPath: '.spec.g' },
        { jsonPath: '.spec.h' },
        { jsonPath: '.spec.i' },
        { jsonPath: '.spec.j' },
      ],
    },
    errors: ['spec.selectableFields: Too many: 10: must have at most 8 items'],
  },
  {
    schema: { type: 'object', properties: { metadata: { type: 'object', properties: { name: { type: 'string' } } } } },
    more: { selectableFields: [{ jsonPath: '.metadata.name' }] },
    errors: [
      'spec.selectableFields[0].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata',
    ],
  },
]
