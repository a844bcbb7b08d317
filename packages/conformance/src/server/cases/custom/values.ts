/**
 * Values that a schema accepts and rejects, with the causes that name field and reason.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { defineCustom } from '../../custom.ts'
import { expectStatus, ok } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

interface Judgement {
  readonly id: string
  readonly rule: string
  /** The schema of `spec.x`. */
  readonly x: Fields
  /** Accepted values of `spec.x`. */
  readonly good: readonly unknown[]
  /** Rejected values of `spec.x`. */
  readonly bad: readonly { readonly x: unknown; readonly causes: readonly string[] }[]
}

const text = { type: 'string' }
const label =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const qualified =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

const judgements: readonly Judgement[] = [
  {
    id: 'types',
    rule: 'A value must have the type of its schema.',
    x: {
      type: 'object',
      properties: {
        s: text,
        i: { type: 'integer' },
        n: { type: 'number' },
        b: { type: 'boolean' },
        l: { type: 'array', items: text },
        o: { type: 'object' },
      },
    },
    good: [
      { s: '', i: 1, n: 1.5, b: false, l: ['a'], o: {} },
      { i: 1e3, n: -1 },
    ],
    bad: [
      {
        x: { s: 1, i: 'x', n: '1', b: 'true', l: 'a', o: [] },
        causes: [
          'spec.x.b: Invalid value: "string": spec.x.b in body must be of type boolean: "string"',
          'spec.x.i: Invalid value: "string": spec.x.i in body must be of type integer: "string"',
          'spec.x.l: Invalid value: "string": spec.x.l in body must be of type array: "string"',
          'spec.x.n: Invalid value: "string": spec.x.n in body must be of type number: "string"',
          'spec.x.o: Invalid value: "array": spec.x.o in body must be of type object: "array"',
          'spec.x.s: Invalid value: "integer": spec.x.s in body must be of type string: "integer"',
        ],
      },
      {
        x: { i: 1.5 },
        causes: [
          '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.x.i',
          'spec.x.i: Invalid value: "number": spec.x.i in body must be of type integer: "number"',
        ],
      },
      { x: 'text', causes: ['spec.x: Invalid value: "string": spec.x in body must be of type object: "string"'] },
      {
        x: { l: [1] },
        causes: ['spec.x.l[0]: Invalid value: "integer": spec.x.l[0] in body must be of type string: "integer"'],
      },
    ],
  },
  {
    id: 'required',
    rule: 'Required fields must be present.',
    x: { type: 'object', required: ['a', 'b'], properties: { a: text, b: text } },
    good: [{ a: '', b: '' }],
    bad: [
      { x: {}, causes: ['spec.x.a: Required value', 'spec.x.b: Required value'] },
      { x: { a: null, b: 'x' }, causes: ['spec.x.a: Required value'] },
    ],
  },
  {
    id: 'text-bounds',
    rule: 'String length is counted in characters, and a pattern may match anywhere in the string.',
    x: { type: 'string', minLength: 2, maxLength: 4, pattern: 'b+' },
    good: ['ab', 'äböü'],
    bad: [
      { x: 'b', causes: ['spec.x: Invalid value: "b": spec.x in body should be at least 2 chars long'] },
      { x: 'aabbc', causes: ['spec.x: Too long: may not be more than 4 bytes'] },
      { x: 'aaa', causes: [`spec.x: Invalid value: "aaa": spec.x in body should match 'b+'`] },
    ],
  },
  {
    id: 'number-bounds',
    rule: 'Numbers can have bounds, exclusive ones too, and a multipleOf.',
    x: {
      type: 'object',
      properties: {
        a: { type: 'integer', minimum: 2, maximum: 6, multipleOf: 2 },
        b: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
      },
    },
    good: [{ a: 2, b: 0.5 }, { a: 6 }],
    bad: [
      {
        x: { a: 1, b: 0 },
        causes: [
          'spec.x.a: Invalid value: 1: spec.x.a in body should be a multiple of 2',
          'spec.x.a: Invalid value: 1: spec.x.a in body should be greater than or equal to 2',
          'spec.x.b: Invalid value: 0: spec.x.b in body should be greater than 0',
        ],
      },
      {
        x: { a: 8, b: 1 },
        causes: [
          'spec.x.a: Invalid value: 8: spec.x.a in body should be less than or equal to 6',
          'spec.x.b: Invalid value: 1: spec.x.b in body should be less than 1',
        ],
      },
      { x: { a: 3 }, causes: ['spec.x.a: Invalid value: 3: spec.x.a in body should be a multiple of 2'] },
    ],
  },
  {
    id: 'enum',
    rule: 'An enum lists all allowed values.',
    x: { type: 'string', enum: ['a', 'b'] },
    good: ['a'],
    bad: [
      { x: 'c', causes: ['spec.x: Unsupported value: "c": supported values: "a", "b"'] },
      { x: '', causes: ['spec.x: Unsupported value: "": supported values: "a", "b"'] },
    ],
  },
  {
    id: 'list-bounds',
    rule: 'Lists can have a minimum and maximum length, and every item is validated.',
    x: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', maxLength: 1 } },
    good: [['a'], ['a', 'b']],
    bad: [
      { x: [], causes: ['spec.x: Invalid value: 0: spec.x in body should have at least 1 items'] },
      { x: ['a', 'b', 'c'], causes: ['spec.x: Too many: 3: must have at most 2 items'] },
      {
        x: ['ab', 'cd'],
        causes: [
          'spec.x[0]: Too long: may not be more than 1 byte',
          'spec.x[1]: Too long: may not be more than 1 byte',
        ],
      },
    ],
  },
  {
    id: 'object-bounds',
    rule: 'Maps can have a minimum and maximum size, and every value is validated.',
    x: { type: 'object', minProperties: 1, maxProperties: 2, additionalProperties: { type: 'integer' } },
    good: [{ a: 1 }, { __proto__x: 1, constructor: 2 }],
    bad: [
      { x: {}, causes: ['spec.x: Invalid value: 0: spec.x in body should have at least 1 properties'] },
      { x: { a: 1, b: 2, c: 3 }, causes: ['spec.x: Too many: 3: must have at most 2 items'] },
      {
        x: { 'a.b': 'x' },
        causes: ['spec.x.a.b: Invalid value: "string": spec.x.a.b in body must be of type integer: "string"'],
      },
    ],
  },
  {
    id: 'logic',
    rule: 'allOf, anyOf, oneOf and not are all validated.',
    x: {
      type: 'object',
      properties: {
        a: { type: 'integer', allOf: [{ minimum: 2 }, { maximum: 4 }] },
        b: { type: 'string', anyOf: [{ pattern: '^a' }, { pattern: 'z$' }] },
        c: { type: 'integer', oneOf: [{ minimum: 2 }, { maximum: 4 }] },
        d: { type: 'string', not: { enum: ['no'] } },
      },
    },
    good: [{ a: 3, b: 'az', c: 1, d: 'yes' }],
    bad: [
      {
        x: { a: 1 },
        causes: [
          '<nil>: Invalid value: "": "spec.x.a" must validate all the schemas (allOf)',
          'spec.x.a: Invalid value: 1: spec.x.a in body should be greater than or equal to 2',
        ],
      },
      {
        x: { b: 'mm' },
        causes: [
          '<nil>: Invalid value: "": "spec.x.b" must validate at least one schema (anyOf)',
          `spec.x.b: Invalid value: "mm": spec.x.b in body should match '^a'`,
        ],
      },
      {
        x: { c: 3 },
        causes: [
          '<nil>: Invalid value: "": "spec.x.c" must validate one and only one schema (oneOf). Found 2 valid alternatives',
        ],
      },
      { x: { d: 'no' }, causes: ['<nil>: Invalid value: "": "spec.x.d" must not validate the schema (not)'] },
    ],
  },
  {
    id: 'int-or-string',
    rule: 'An int-or-string is an integer or a string and nothing else.',
    x: { 'x-kubernetes-int-or-string': true },
    good: [1, '50%'],
    bad: [
      { x: 1.5, causes: ['spec.x: Invalid value: "number": spec.x in body must be of type integer,string: "number"'] },
      {
        x: true,
        causes: ['spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"'],
      },
      { x: {}, causes: ['spec.x: Invalid value: "object": spec.x in body must be of type integer,string: "object"'] },
    ],
  },
  {
    id: 'nullable',
    rule: 'Only a nullable field keeps a null.',
    x: {
      type: 'object',
      properties: { a: { type: 'string', nullable: true }, e: { type: 'string', nullable: true, enum: ['x'] } },
    },
    good: [{ a: null }],
    bad: [{ x: { e: null }, causes: ['spec.x.e: Unsupported value: null: supported values: "x"'] }],
  },
  {
    id: 'formats',
    rule: 'Known formats are validated.',
    x: {
      type: 'object',
      properties: Object.fromEntries(
        [
          'date',
          'date-time',
          'duration',
          'email',
          'hostname',
          'ipv4',
          'ipv6',
          'cidr',
          'mac',
          'uri',
          'uuid',
          'uuid4',
          'byte',
          'hexcolor',
          'creditcard',
          'isbn',
        ].map((format) => [format, { type: 'string', format }]),
      ),
    },
    good: [
      {
        date: '2026-01-31',
        'date-time': '2026-01-31T10:00:00.5Z',
        duration: '1h',
        email: 'a@example.com',
        hostname: 'example.com',
        ipv4: '10.0.0.1',
        ipv6: '::1',
        cidr: '10.0.0.0/8',
        mac: '00:11:22:33:44:55',
        uri: 'https://example.com/x',
        uuid: 'a987fbc9-4bed-3078-cf07-9141ba07c9f3',
        uuid4: '57b73598-8764-4ad0-a76a-679bb6640eb1',
        byte: 'YWJj',
        hexcolor: '#fff',
        isbn: '3836221195',
      },
    ],
    bad: [
      {
        x: {
          date: '2026-13-01',
          'date-time': 'now',
          duration: 'long',
          email: 'a',
          hostname: '-a',
          ipv4: '10.0.0.256',
          ipv6: '10.0.0.1',
          cidr: '10.0.0.0',
          mac: '00:11',
          uri: 'example',
          uuid: 'x',
          uuid4: 'a987fbc9-4bed-3078-cf07-9141ba07c9f3',
          byte: 'a',
          hexcolor: '#ggg',
          creditcard: '1',
          isbn: '1',
        },
        causes: [
          'spec.x.byte: Invalid value: "a": spec.x.byte in body must be of type byte: "a"',
          'spec.x.cidr: Invalid value: "10.0.0.0": spec.x.cidr in body must be of type cidr: "10.0.0.0"',
          'spec.x.creditcard: Invalid value: "1": spec.x.creditcard in body must be of type creditcard: "1"',
          'spec.x.date-time: Invalid value: "now": spec.x.date-time in body must be of type date-time: "now"',
          'spec.x.date: Invalid value: "2026-13-01": spec.x.date in body must be of type date: "2026-13-01"',
          'spec.x.duration: Invalid value: "long": spec.x.duration in body must be of type duration: "long"',
          'spec.x.email: Invalid value: "a": spec.x.email in body must be of type email: "a"',
          'spec.x.hexcolor: Invalid value: "#ggg": spec.x.hexcolor in body must be of type hexcolor: "#ggg"',
          'spec.x.hostname: Invalid value: "-a": spec.x.hostname in body must be of type hostname: "-a"',
          'spec.x.ipv4: Invalid value: "10.0.0.256": spec.x.ipv4 in body must be of type ipv4: "10.0.0.256"',
          'spec.x.ipv6: Invalid value: "10.0.0.1": spec.x.ipv6 in body must be of type ipv6: "10.0.0.1"',
          'spec.x.isbn: Invalid value: "1": spec.x.isbn in body must be of type isbn: "1"',
          'spec.x.mac: Invalid value: "00:11": spec.x.mac in body must be of type mac: "00:11"',
          'spec.x.uri: Invalid value: "example": spec.x.uri in body must be of type uri: "example"',
          'spec.x.uuid4: Invalid value: "a987fbc9-4bed-3078-cf07-9141ba07c9f3": spec.x.uuid4 in body must be of type uuid4: "a987fbc9-4bed-3078-cf07-9141ba07c9f3"',
          'spec.x.uuid: Invalid value: "x": spec.x.uuid in body must be of type uuid: "x"',
        ],
      },
    ],
  },
  {
    id: 'unknown-format',
    rule: 'Unknown formats are ignored.',
    x: { type: 'string', format: 'colour-of-the-sea' },
    good: ['anything'],
    bad: [],
  },
  {
    id: 'number-formats',
    rule: 'The formats int32, int64, float and double are validated as types.',
    x: {
      type: 'object',
      properties: {
        a: { type: 'integer', format: 'int32' },
        b: { type: 'integer', format: 'int64' },
        c: { type: 'number', format: 'float' },
      },
    },
    good: [{ a: 2147483647, b: 4294967296, c: 0.5 }],
    bad: [
      {
        x: { a: 2147483648 },
        causes: ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.x.a'],
      },
    ],
  },
  {
    id: 'pattern-engine',
    rule: 'A pattern that is slow with backtracking is evaluated in linear time, over the whole string.',
    x: { type: 'string', pattern: '^(a+)+$' },
    good: ['a'.repeat(5000)],
    bad: [
      {
        x: `${'a'.repeat(60)}!`,
        causes: [
          `spec.x: Invalid value: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!": spec.x in body should match '^(a+)+$'`,
        ],
      },
    ],
  },
  {
    id: 'pattern-dialect',
    rule: 'Patterns support Unicode classes, \\z and the flag i.',
    x: {
      type: 'object',
      properties: { a: { type: 'string', pattern: '^\\p{Greek}+\\z' }, b: { type: 'string', pattern: '(?i)^abc$' } },
    },
    good: [{ a: 'αβ', b: 'aBc' }],
    bad: [
      {
        x: { a: 'ab', b: 'abd' },
        causes: [
          `spec.x.a: Invalid value: "ab": spec.x.a in body should match '^\\p{Greek}+\\z'`,
          `spec.x.b: Invalid value: "abd": spec.x.b in body should match '(?i)^abc$'`,
        ],
      },
    ],
  },
  {
    id: 'set',
    rule: 'A set has no duplicate items.',
    x: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
    good: [['a', 'b'], []],
    bad: [{ x: ['a', 'b', 'a', 'b'], causes: ['spec.x[2]: Duplicate value: "a"', 'spec.x[3]: Duplicate value: "b"'] }],
  },
  {
    id: 'list-of-keys',
    rule: 'A map list has no duplicate keys; a key can consist of several fields.',
    x: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
      items: {
        type: 'object',
        required: ['port'],
        properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: text },
      },
    },
    good: [[{ port: 1 }, { port: 1, protocol: 'UDP' }]],
    bad: [
      {
        x: [{ port: 1 }, { port: 1, protocol: 'TCP' }],
        causes: ['spec.x[1]: Duplicate value: {"port":1,"protocol":"TCP"}'],
      },
      { x: [{ name: 'x' }], causes: ['spec.x[0].port: Required value'] },
    ],
  },
  {
    id: 'embedded',
    rule: 'An embedded resource needs apiVersion, kind and valid metadata.',
    x: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    good: [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', labels: { a: 'b' } }, any: 1 }],
    bad: [
      { x: {}, causes: ['spec.x.apiVersion: Required value', 'spec.x.kind: Required value'] },
      {
        x: { apiVersion: 'a/b/c', kind: 'bad kind', metadata: { name: 'UP' } },
        causes: [
          'spec.x.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
          `spec.x.kind: Invalid value: "bad kind": may have mixed case, but should otherwise match: ${label}`,
        ],
      },
      {
        x: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { 'a b': 'c' }, finalizers: ['a b'] } },
        causes: [
          `spec.x.metadata.finalizers: Invalid value: "a b": ${qualified}`,
          `spec.x.metadata.labels: Invalid value: "a b": ${qualified}`,
        ],
      },
    ],
  },
  {
    id: 'deep',
    rule: 'An error in a nested field reports the full path.',
    x: {
      type: 'object',
      properties: {
        a: {
          type: 'array',
          items: { type: 'object', additionalProperties: { type: 'object', properties: { b: { type: 'integer' } } } },
        },
      },
    },
    good: [{ a: [{ k: { b: 1 } }] }],
    bad: [
      {
        x: { a: [{ k: { b: 1 } }, { 'k.l': { b: 'x' } }] },
        causes: [
          'spec.x.a[1].k.l.b: Invalid value: "string": spec.x.a[1].k.l.b in body must be of type integer: "string"',
        ],
      },
    ],
  },
]

function judgementCase({ id, rule, x, good, bad }: Judgement): ServerCase {
  return {
    id: `server/custom-values/${id}`,
    rule,
    async run(place) {
      const widgets = await defineCustom(place, { spec: { type: 'object', properties: { x } } })
      for (const [index, value] of good.entries())
        ok(await widgets.create(`good-${index}`, { spec: { x: value } }), 201)
      for (const { x: value, causes } of bad) {
        const answer = await widgets.create('bad', { spec: { x: value } })
        expectStatus(answer, {
          code: 422,
          reason: 'Invalid',
          details: { group: widgets.group, kind: 'Widget', name: 'bad' },
        })
        assert.deepEqual(causesOf(answer, place), [...causes].sort())
      }
    },
  }
}

export const customValueCases: readonly ServerCase[] = judgements.map(judgementCase)
