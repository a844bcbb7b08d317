/**
 * Defaults inside a CustomResourceDefinition: a CRD whose default violates its own schema is rejected. Otherwise
 * every object that relies on the default would be rejected later, when its author is no longer around.
 *
 * The messages are those of kube-apiserver 1.36.0. It accepts lists of type set or map with equal entries, and
 * everything that int-or-string does not check.
 */
import { definitionIn } from '../../custom.ts'
import { ok } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'
import { mistakeCase } from './invalid.ts'

/** Name, schema of one property with its default, and the errors: each text follows the path of the default. */
const refused: readonly (readonly [string, Fields, readonly string[]])[] = [
  [
    'date-time',
    { type: 'string', format: 'date-time', default: 'nonsense' },
    [': Invalid value: "nonsense":  in body must be of type date-time: "nonsense"'],
  ],
  [
    'date',
    { type: 'string', format: 'date', default: '2020-13-45' },
    [': Invalid value: "2020-13-45":  in body must be of type date: "2020-13-45"'],
  ],
  [
    'ipv4',
    { type: 'string', format: 'ipv4', default: 'x' },
    [': Invalid value: "x":  in body must be of type ipv4: "x"'],
  ],
  [
    'ipv6',
    { type: 'string', format: 'ipv6', default: 'x' },
    [': Invalid value: "x":  in body must be of type ipv6: "x"'],
  ],
  [
    'cidr',
    { type: 'string', format: 'cidr', default: 'x' },
    [': Invalid value: "x":  in body must be of type cidr: "x"'],
  ],
  [
    'uuid',
    { type: 'string', format: 'uuid', default: 'x' },
    [': Invalid value: "x":  in body must be of type uuid: "x"'],
  ],
  [
    'duration',
    { type: 'string', format: 'duration', default: '5 parsecs' },
    [': Invalid value: "5 parsecs":  in body must be of type duration: "5 parsecs"'],
  ],
  [
    'byte',
    { type: 'string', format: 'byte', default: '!!!' },
    [': Invalid value: "!!!":  in body must be of type byte: "!!!"'],
  ],
  [
    'uri',
    { type: 'string', format: 'uri', default: '::' },
    [': Invalid value: "::":  in body must be of type uri: "::"'],
  ],
  [
    'email',
    { type: 'string', format: 'email', default: 'nobody' },
    [': Invalid value: "nobody":  in body must be of type email: "nobody"'],
  ],
  [
    'hostname',
    { type: 'string', format: 'hostname', default: '-a-' },
    [': Invalid value: "-a-":  in body must be of type hostname: "-a-"'],
  ],
  ['mac', { type: 'string', format: 'mac', default: 'x' }, [': Invalid value: "x":  in body must be of type mac: "x"']],
  [
    'hexcolor',
    { type: 'string', format: 'hexcolor', default: 'x' },
    [': Invalid value: "x":  in body must be of type hexcolor: "x"'],
  ],
  [
    'int-minimum-fraction',
    { type: 'integer', minimum: 0.5, default: 1 },
    [': Invalid value: "": Minimum boundary value must be of type integer (default format) in '],
  ],
  [
    'int-maximum-fraction',
    { type: 'integer', maximum: 1.5, default: 1 },
    [': Invalid value: "": Maximum boundary value must be of type integer (default format) in '],
  ],
  [
    'int-multiple-fraction',
    { type: 'integer', multipleOf: 0.5, default: 2 },
    [': Invalid value: "": MultipleOf value must be of type integer (default format) in '],
  ],
  [
    'int32-range',
    { type: 'integer', format: 'int32', default: 3000000000 },
    [': Invalid value: "": Checked value must be of type integer with format int32 in '],
  ],
  [
    'number-minimum',
    { type: 'number', minimum: 2, default: 1 },
    [': Invalid value: 1:  in body should be greater than or equal to 2'],
  ],
  [
    'number-exclusive',
    { type: 'number', minimum: 1, exclusiveMinimum: true, default: 1 },
    [': Invalid value: 1:  in body should be greater than 1'],
  ],
  ['string-length', { type: 'string', maxLength: 1, default: 'ab' }, [': Too long: may not be more than 1 byte']],
  [
    'pattern',
    { type: 'string', pattern: '^a$', default: 'b' },
    [': Invalid value: "b":  in body should match \'^a$\''],
  ],
  ['enum', { type: 'string', enum: ['a'], default: 'b' }, [': Unsupported value: "b": supported values: "a"']],
  [
    'map-key-missing',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
      default: [{}],
    },
    ['.[0].k: Required value'],
  ],
  [
    'min-items',
    { type: 'array', minItems: 2, items: { type: 'string' }, default: ['a'] },
    [': Invalid value: 1:  in body should have at least 2 items'],
  ],
  [
    'required-missing',
    { type: 'object', required: ['a'], properties: { a: { type: 'string' } }, default: {} },
    ['.a: Required value'],
  ],
  [
    'nested-format',
    { type: 'object', properties: { a: { type: 'string', format: 'ipv4' } }, default: { a: 'x' } },
    ['.a: Invalid value: "x": a in body must be of type ipv4: "x"'],
  ],
  [
    'unknown-field',
    { type: 'object', properties: { a: { type: 'string' } }, default: { b: 1 } },
    [': Invalid value: … : must not have unknown fields'],
  ],
  [
    'additional',
    { type: 'object', additionalProperties: { type: 'string', format: 'date' }, default: { x: 'y' } },
    ['.x: Invalid value: "y": .x in body must be of type date: "y"'],
  ],
  [
    'not',
    { type: 'string', not: { enum: ['a'] }, default: 'a' },
    [': Invalid value: "": "" must not validate the schema (not)'],
  ],
  [
    'any-of',
    { type: 'string', anyOf: [{ pattern: '^b' }, { pattern: '^c' }], default: 'a' },
    [
      ': Invalid value: "": "" must validate at least one schema (anyOf)',
      ': Invalid value: "a":  in body should match \'^b\'',
    ],
  ],
  [
    'max-properties',
    { type: 'object', maxProperties: 0, additionalProperties: { type: 'string' }, default: { a: 'b' } },
    [': Too many: 1: must have at most 0 items'],
  ],
  [
    'wrong-type',
    { type: 'integer', default: 'a' },
    [': Invalid value: "string":  in body must be of type integer: "string"'],
  ],
  [
    'fraction-for-integer',
    { type: 'integer', default: 1.5 },
    [
      ': Invalid value: "": Checked value must be of type integer (default format) in ',
      ': Invalid value: "number":  in body must be of type integer: "number"',
    ],
  ],
  [
    'cel-rule',
    { type: 'string', 'x-kubernetes-validations': [{ rule: "self == 'a'" }], default: 'b' },
    [': Invalid value: "b": failed rule: self == \'a\''],
  ],
]

const accepted: readonly (readonly [string, Fields])[] = [
  ['unknown-format', { type: 'string', format: 'colour', default: 'x' }],
  ['set-twice', { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' }, default: ['a', 'a'] }],
  [
    'map-keys-twice',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: { type: 'string' } } },
      default: [{ k: 'a' }, { k: 'a' }],
    },
  ],
  ['int-or-string-bool', { 'x-kubernetes-int-or-string': true, default: true }],
  ['nullable-null', { type: 'string', nullable: true, default: null }],
  ['not-nullable-null', { type: 'string', default: null }],
]

const specOf = (f: Fields): Fields => ({ type: 'object', properties: { f } })

export const crdDefaultCases: readonly ServerCase[] = [
  ...refused.map(([id, schema, causes]) =>
    mistakeCase({
      id: `default-refused-${id}`,
      rule: 'A CRD whose default violates its own schema is rejected.',
      options: { spec: specOf(schema) },
      causes: causes.map((cause) => `~properties[f].default${cause}`),
    }),
  ),
  ...accepted.map(([id, schema]): ServerCase => ({
    id: `server/definitions/default-accepted-${id}`,
    rule: 'A CRD is accepted if its default violates only what kube-apiserver does not check.',
    async run(place) {
      ok(await place.post('customresourcedefinitions', definitionIn(place, { spec: specOf(schema) })), 201)
    },
  })),
]
