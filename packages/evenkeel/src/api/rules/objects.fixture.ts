/**
 * Objects and the rules they are held to: what is wrong with each, in the words of apiextensions-apiserver 1.36.
 */
import type { JsonValue } from '@evenkeel/cel/primitives'
import type { SchemaNode } from '../schema/schema.ts'

interface RuleCase {
  readonly name: string
  /** The schema of `spec`. */
  readonly spec: SchemaNode
  readonly value: JsonValue
  readonly old?: JsonValue
  readonly errors?: readonly string[]
  readonly warnings?: readonly string[]
}

const string: SchemaNode = { type: 'string' }
const integer: SchemaNode = { type: 'integer' }
const fields: Readonly<Record<string, SchemaNode>> = {
  a: integer,
  b: string,
  m: { type: 'object', additionalProperties: string },
  c: { type: 'object', properties: { d: string } },
  l: { type: 'array', items: integer },
  z: integer,
  e: { 'x-kubernetes-int-or-string': true },
}
const plain: JsonValue = { a: 1, l: [], m: {}, z: 0, e: 3 }

const held = (rule: JsonValue): SchemaNode => ({
  type: 'object',
  properties: fields,
  'x-kubernetes-validations': [rule],
})

export const ruleCases: readonly RuleCase[] = [
  {
    name: 'a rule that holds',
    spec: held({ rule: 'self.a == 1' }),
    value: plain,
  },
  {
    name: 'a rule without words',
    spec: held({ rule: ' self.a > 5 ' }),
    value: plain,
    errors: ['spec: Invalid value: failed rule: self.a > 5'],
  },
  {
    name: 'a message',
    spec: held({ rule: 'self.a > 5', message: ' too small ' }),
    value: plain,
    errors: ['spec: Invalid value: too small'],
  },
  {
    name: 'an expression for the message',
    spec: held({ rule: 'self.a > 5', messageExpression: '" got " + string(self.a)' }),
    value: plain,
    errors: ['spec: Invalid value: got 1'],
  },
  {
    name: 'a message that fails, with another to fall back to',
    spec: held({ rule: 'self.a > 5', message: 'm', messageExpression: '"got " + self.b' }),
    value: plain,
    errors: ['spec: Invalid value: m'],
  },
  {
    name: 'a message that fails, without another',
    spec: held({ rule: 'self.a > 5', messageExpression: '"got " + self.b' }),
    value: plain,
    errors: ['spec: Invalid value: failed rule: self.a > 5'],
  },
  {
    name: 'an empty message',
    spec: held({ rule: 'self.a > 5', message: 'm', messageExpression: '"  "' }),
    value: plain,
    errors: ['spec: Invalid value: m'],
  },
  {
    name: 'a message of two lines',
    spec: held({ rule: 'self.a > 5', messageExpression: '"a\\nb"' }),
    value: plain,
    errors: ['spec: Invalid value: failed rule: self.a > 5'],
  },
  {
    name: 'a message that does not compile, which loses the field',
    spec: held({ rule: 'self.a > 5', messageExpression: 'self.', fieldPath: '.a' }),
    value: plain,
    errors: ['spec: Invalid value: failed rule: self.a > 5'],
  },
  {
    name: 'a message that is too long',
    spec: held({
      rule: 'self.a > 5',
      message: 'm',
      messageExpression:
        '"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx".replace("x", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")',
    }),
    value: plain,
    errors: ['spec: Invalid value: m'],
  },
  {
    name: 'a field',
    spec: held({ rule: 'self.a > 5', fieldPath: '.c.d' }),
    value: plain,
    errors: ['spec.c.d: Invalid value: failed rule: self.a > 5'],
  },
  {
    name: 'a field in brackets',
    spec: held({ rule: 'self.a > 5', fieldPath: "['c']['d']", reason: 'FieldValueForbidden' }),
    value: plain,
    errors: ['spec.c.d: Forbidden: failed rule: self.a > 5'],
  },
  {
    name: 'a field of a map',
    spec: held({ rule: 'self.a > 5', fieldPath: ".m['x y']", reason: 'FieldValueRequired' }),
    value: plain,
    errors: ['spec.m[x y]: Required value: failed rule: self.a > 5'],
  },
  {
    name: 'a field that is not there',
    spec: held({ rule: 'self.a > 5', fieldPath: '.nope' }),
    value: plain,
    errors: ['spec: Invalid value: failed rule: self.a > 5'],
  },
  {
    name: 'a reason without words',
    spec: held({ rule: 'self.a > 5', reason: 'FieldValueDuplicate', message: 'unheard' }),
    value: plain,
    errors: ['spec: Duplicate value'],
  },
  {
    name: 'a wrong expression',
    spec: held({ rule: 'self.zz > 1' }),
    value: plain,
    errors: [
      'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:5: undefined field \'zz\'\n | self.zz > 1\n | ....^',
    ],
  },
  {
    name: 'something else than a condition',
    spec: held({ rule: 'self.a' }),
    value: plain,
    errors: ['spec: Invalid value: "object": rule compile error: cel expression must evaluate to a bool'],
  },
  {
    name: 'an empty rule',
    spec: held({ rule: ' ' }),
    value: plain,
  },
  {
    name: 'what cannot be made ready to run',
    spec: held({ rule: "int('x') == 1" }),
    value: plain,
    errors: [
      "spec: Invalid value: \"object\": rule compile error: program instantiation failed: type conversion error from 'string' to 'int'",
    ],
  },
  {
    name: 'a missing field',
    spec: held({ rule: 'self.b == ""', message: 'b is empty' }),
    value: plain,
    errors: ['spec: Invalid value: "object": no such key: b evaluating rule: b is empty'],
  },
  {
    name: 'a division by zero',
    spec: held({ rule: '1 / self.z == 1' }),
    value: plain,
    errors: ['spec: Invalid value: "object": division by zero evaluating rule: 1 / self.z == 1'],
  },
  {
    name: 'a value of the wrong type',
    spec: held({ rule: 'self.e.size() > 5' }),
    value: plain,
    errors: [
      'spec: Invalid value: "object": \'no such overload: size\': call arguments did not match a supported operator, function or macro signature for rule: self.e.size() > 5',
    ],
  },
  {
    name: 'scalars, which are repeated',
    spec: {
      type: 'object',
      properties: {
        s: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == "x"' }] },
        i: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 3', reason: 'FieldValueDuplicate' }] },
        e: {
          'x-kubernetes-int-or-string': true,
          'x-kubernetes-validations': [{ rule: 'self == "x"' }, { rule: 'self > "x"' }],
        },
      },
    },
    value: { s: 'abc', i: 3, e: 5 },
    errors: [
      'spec.e: Invalid value: 5: failed rule: self == "x"',
      'spec.e: Invalid value: "": \'no such overload\': call arguments did not match a supported operator, function or macro signature for rule: self > "x"',
      'spec.s: Invalid value: "abc": failed rule: self == "x"',
      'spec.i: Duplicate value: 3',
    ],
  },
  {
    name: "null, which is nobody's business but its parent's",
    spec: {
      type: 'object',
      properties: {
        f: { type: 'string', nullable: true, 'x-kubernetes-validations': [{ rule: 'self == "x"' }] },
        l: {
          type: 'array',
          items: { type: 'string', nullable: true, 'x-kubernetes-validations': [{ rule: 'self == "x"' }] },
        },
      },
      'x-kubernetes-validations': [{ rule: '!has(self.f)' }],
    },
    value: { f: null, l: ['a', null] },
    errors: ['spec.l[0]: Invalid value: "a": failed rule: self == "x"'],
  },
  {
    name: 'places at any depth',
    spec: {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              m: {
                type: 'object',
                additionalProperties: {
                  type: 'array',
                  items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 2' }] },
                },
                'x-kubernetes-validations': [{ rule: 'size(self) > 3' }],
              },
            },
          },
        },
      },
    },
    value: { l: [{ m: { 'a.b': [1, 3], c: [5] } }, {}] },
    errors: [
      'spec.l[0].m: Invalid value: failed rule: size(self) > 3',
      'spec.l[0].m[a.b][0]: Invalid value: 1: failed rule: self > 2',
    ],
  },
  {
    name: 'items of a list that is a map, by their keys',
    spec: {
      type: 'array',
      items: {
        type: 'object',
        properties: { k: string, v: integer },
        required: ['k'],
        'x-kubernetes-validations': [{ rule: 'self.v >= oldSelf.v' }],
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    value: [
      { k: 'a', v: 1 },
      { k: 'b', v: 5 },
      { k: 'c', v: 0 },
    ],
    old: [
      { k: 'b', v: 6 },
      { k: 'a', v: 1 },
    ],
    errors: ['spec[1]: Invalid value: failed rule: self.v >= oldSelf.v'],
  },
  {
    name: 'items of any other list, which have no past',
    spec: {
      type: 'array',
      items: {
        type: 'object',
        properties: { k: string, v: integer },
        required: ['k'],
        'x-kubernetes-validations': [{ rule: 'self.v >= oldSelf.v' }],
      },
    },
    value: [{ k: 'a', v: 1 }],
    old: [{ k: 'a', v: 5 }],
  },
  {
    name: 'entries of a map, by their names',
    spec: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { k: string, v: integer },
        required: ['k'],
        'x-kubernetes-validations': [{ rule: 'self.v >= oldSelf.v' }],
      },
    },
    value: { x: { k: 'a', v: 1 }, y: { k: 'b', v: 1 } },
    old: { x: { k: 'q', v: 5 } },
    errors: ['spec[x]: Invalid value: failed rule: self.v >= oldSelf.v'],
  },
  {
    name: 'the past of what is new',
    spec: {
      type: 'object',
      properties: { a: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
    },
    value: { a: 1 },
    old: {},
  },
  {
    name: 'the past of what was null',
    spec: {
      type: 'object',
      properties: { a: { type: 'integer', nullable: true, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
    },
    value: { a: 1 },
    old: { a: null },
  },
  {
    name: 'an optional past, when there is none',
    spec: {
      type: 'object',
      properties: { a: integer },
      'x-kubernetes-validations': [{ optionalOldSelf: true, rule: 'oldSelf.hasValue()' }],
    },
    value: { a: 1 },
    errors: ['spec: Invalid value: failed rule: oldSelf.hasValue()'],
  },
  {
    name: 'an optional past, when there is one',
    spec: {
      type: 'object',
      properties: { a: integer },
      'x-kubernetes-validations': [{ optionalOldSelf: true, rule: 'oldSelf.optMap(o, o.a <= self.a).orValue(true)' }],
    },
    value: { a: 1 },
    old: { a: 2 },
    errors: ['spec: Invalid value: failed rule: oldSelf.optMap(o, o.a <= self.a).orValue(true)'],
  },
  {
    name: 'an optional past in a message, where it is none',
    spec: {
      type: 'object',
      properties: { a: integer },
      'x-kubernetes-validations': [
        {
          optionalOldSelf: true,
          rule: '!oldSelf.hasValue()',
          message: 'm',
          messageExpression: '"was " + string(oldSelf.value().a)',
        },
      ],
    },
    value: { a: 1 },
    old: { a: 1 },
    errors: ['spec: Invalid value: m'],
  },
  {
    name: 'an optional past without its schema',
    spec: {
      type: 'object',
      properties: { d: { type: 'string', format: 'date' } },
      'x-kubernetes-validations': [{ rule: 'oldSelf.value().d.getFullYear() > 1', optionalOldSelf: true }],
    },
    value: { d: '2020-01-01' },
    old: { d: '2020-01-01' },
    errors: [
      'spec: Invalid value: "object": \'no such overload: getFullYear(string)\': call arguments did not match a supported operator, function or macro signature for rule: oldSelf.value().d.getFullYear() > 1',
    ],
  },
  {
    name: 'the past in a message, where the rule does not ask for it',
    spec: {
      type: 'object',
      properties: { a: integer },
      'x-kubernetes-validations': [{ rule: 'self.a > 5', messageExpression: '"was " + string(oldSelf.a)' }],
    },
    value: { a: 1 },
    old: { a: 2 },
    errors: ['spec: Invalid value: failed rule: self.a > 5'],
  },
  {
    name: 'the past in a message, where another rule asks for it',
    spec: {
      type: 'object',
      properties: { a: integer },
      'x-kubernetes-validations': [
        { rule: 'self.a > 5', messageExpression: '"was " + string(oldSelf.a)' },
        { rule: 'self.a == oldSelf.a || true' },
      ],
    },
    value: { a: 1 },
    old: { a: 2 },
    errors: ['spec: Invalid value: was 2'],
  },
  {
    name: 'what has not changed',
    spec: {
      type: 'object',
      properties: {
        a: {
          type: 'object',
          properties: { c: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 4' }] } },
          'x-kubernetes-validations': [{ rule: 'self.c > 5' }],
        },
        d: integer,
      },
      'x-kubernetes-validations': [{ rule: 'self.a.c > 7' }, { rule: 'self.d == oldSelf.d' }],
    },
    value: { a: { c: 1 }, d: 1 },
    old: { a: { c: 1 }, d: 2 },
    errors: ['spec: Invalid value: failed rule: self.a.c > 7', 'spec: Invalid value: failed rule: self.d == oldSelf.d'],
    warnings: ['spec.a: Invalid value: failed rule: self.c > 5', 'spec.a.c: Invalid value: 1: failed rule: self > 4'],
  },
  {
    name: 'items that have not changed, in another order',
    spec: {
      type: 'array',
      items: {
        type: 'object',
        properties: { k: string, v: integer },
        required: ['k'],
        'x-kubernetes-validations': [{ rule: 'self.v > 10' }],
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    },
    value: [
      { k: 'a', v: 1 },
      { k: 'b', v: 2 },
    ],
    old: [
      { k: 'b', v: 2 },
      { k: 'a', v: 3 },
    ],
    errors: ['spec[0]: Invalid value: failed rule: self.v > 10'],
    warnings: ['spec[1]: Invalid value: failed rule: self.v > 10'],
  },
  {
    name: 'items of any list, all of them the same',
    spec: {
      type: 'array',
      items: {
        type: 'object',
        properties: { k: string, v: integer },
        required: ['k'],
        'x-kubernetes-validations': [{ rule: 'self.v > 10' }],
      },
    },
    value: [{ k: 'a', v: 1 }],
    old: [{ k: 'a', v: 1 }],
    warnings: ['spec[0]: Invalid value: failed rule: self.v > 10'],
  },
  {
    name: 'items of any list, one of them changed',
    spec: {
      type: 'array',
      items: {
        type: 'object',
        properties: { k: string, v: integer },
        required: ['k'],
        'x-kubernetes-validations': [{ rule: 'self.v > 10' }],
      },
    },
    value: [
      { k: 'a', v: 1 },
      { k: 'b', v: 2 },
    ],
    old: [
      { k: 'a', v: 1 },
      { k: 'b', v: 3 },
    ],
    errors: ['spec[0]: Invalid value: failed rule: self.v > 10', 'spec[1]: Invalid value: failed rule: self.v > 10'],
  },
  {
    name: 'an embedded object',
    spec: {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-validations': [
        { rule: 'self.kind == "X"' },
        { rule: 'self.metadata.name == "x"' },
        { rule: 'has(self.metadata.generateName)' },
        { rule: 'self.metadata.labels.a == "b"' },
      ],
    },
    value: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { a: 'b' } } },
    errors: [
      'spec: Invalid value: failed rule: self.kind == "X"',
      'spec: Invalid value: failed rule: self.metadata.name == "x"',
      'spec: Invalid value: failed rule: has(self.metadata.generateName)',
      'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:14: undefined field \'labels\'\n | self.metadata.labels.a == "b"\n | .............^',
    ],
  },
  {
    name: 'fields that no schema knows',
    spec: {
      type: 'object',
      properties: {
        a: integer,
        free: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'false' }] },
      },
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-validations': [{ rule: 'self.a > 3' }, { rule: 'has(self.b)' }, { rule: 'has(self.free)' }],
    },
    value: { a: 1, b: 2, free: 3 },
    errors: [
      'spec: Invalid value: failed rule: self.a > 3',
      'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:4: undefined field \'b\'\n | has(self.b)\n | ...^',
      'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:4: undefined field \'free\'\n | has(self.free)\n | ...^',
    ],
  },
  {
    name: 'names that expressions write differently, or not at all',
    spec: {
      type: 'object',
      properties: {
        'a-b': integer,
        'c.d': integer,
        'e/f': integer,
        __g: integer,
        in: integer,
        'x y': { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 4' }] },
        constructor: integer,
      },
      'x-kubernetes-validations': [
        {
          rule: 'self.a__dash__b + self.c__dot__d + self.e__slash__f + self.__underscores__g + self.__in__ + self.constructor > 6',
        },
        { rule: 'has(self.toString)' },
      ],
    },
    value: { 'a-b': 1, 'c.d': 1, 'e/f': 1, __g: 1, in: 1, 'x y': 1, constructor: 1 },
    errors: [
      'spec: Invalid value: failed rule: self.a__dash__b + self.c__dot__d + self.e__slash__f + self.__underscores__g + self.__in__ + self.constructor > 6',
      'spec: Invalid value: "object": rule compile error: compilation failed: ERROR: <input>:1:4: undefined field \'toString\'\n | has(self.toString)\n | ...^',
      'spec.x y: Invalid value: 1: failed rule: self > 4',
    ],
  },
  {
    name: 'values that break the schema softly',
    spec: {
      type: 'object',
      properties: { a: { type: 'integer', minimum: 5 } },
      'x-kubernetes-validations': [{ rule: 'self.a > 7' }],
    },
    value: { a: 1 },
    errors: [
      'spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 5',
      'spec: Invalid value: failed rule: self.a > 7',
    ],
  },
  {
    name: 'a value that is too long',
    spec: {
      type: 'object',
      properties: { a: { type: 'string', maxLength: 2 } },
      'x-kubernetes-validations': [{ rule: 'self.a == ""' }],
    },
    value: { a: 'abc' },
    errors: [
      'spec.a: Too long: may not be more than 2 bytes',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ],
  },
  {
    name: 'a value that is not listed',
    spec: {
      type: 'object',
      properties: { a: { type: 'string', enum: ['x'] } },
      'x-kubernetes-validations': [{ rule: 'self.a == ""' }],
    },
    value: { a: 'abc' },
    errors: [
      'spec.a: Unsupported value: "abc": supported values: "x"',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ],
  },
]
