/**
 * Schemas with rules: what is wrong with the rules of each, in the words of apiextensions-apiserver 1.36.
 *
 * `…` stands for the path of the schema, and for what is the same everywhere.
 */
import type { JsonValue } from '@evenkeel/cel/primitives'
import type { SchemaNode } from '../schema/schema.ts'

interface DefinitionCase {
  readonly name: string
  /** The schema of `spec`. */
  readonly spec: SchemaNode
  readonly errors?: readonly string[]
}

const string: SchemaNode = { type: 'string' }
const integer: SchemaNode = { type: 'integer' }
const fields: Readonly<Record<string, SchemaNode>> = {
  a: integer,
  b: string,
  c: { type: 'object', properties: { d: string } },
  l: { type: 'array', items: { type: 'object', properties: { k: string }, required: ['k'] } },
}

const held = (rule: JsonValue): SchemaNode => ({
  type: 'object',
  properties: fields,
  'x-kubernetes-validations': [rule],
})

export const definitionCases: readonly DefinitionCase[] = [
  {
    name: 'a rule',
    spec: held({ rule: 'self.a > 5' }),
  },
  {
    name: 'an unknown field',
    spec: held({ rule: 'self.zz > 5' }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:5: undefined field 'zz'\n | self.zz > 5\n | ....^",
    ],
  },
  {
    name: 'a type named by its place',
    spec: held({ rule: 'self.c == self' }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(selfType.c, selfType)'\n | self.c == self\n | .......^",
    ],
  },
  {
    name: 'items named by their place',
    spec: held({ rule: 'self.l[0] == self.c' }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:11: found no matching overload for '_==_' applied to '(selfType.l.@idx, selfType.c)'\n | self.l[0] == self.c\n | ..........^",
    ],
  },
  {
    name: 'metadata of an embedded object',
    spec: {
      type: 'object',
      properties: {
        template: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
          'x-kubernetes-validations': [{ rule: "self.kind == 'Pod' && self.metadata.name != ''" }],
        },
      },
    },
  },
  {
    name: 'metadata of an object that is not embedded',
    spec: {
      type: 'object',
      properties: {
        c: {
          type: 'object',
          properties: { d: string },
          'x-kubernetes-validations': [{ rule: 'has(self.metadata)' }],
        },
      },
    },
    errors: [
      "….properties[c].x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:4: undefined field 'metadata'\n | has(self.metadata)\n | ...^",
    ],
  },
  {
    name: 'no condition',
    spec: held({ rule: 'self.a' }),
    errors: ['….x-kubernetes-validations[0].rule: Invalid value: {…}: cel expression must evaluate to a bool'],
  },
  {
    name: 'half an expression',
    spec: held({ rule: 'self.a >' }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | self.a >\n | ........^",
    ],
  },
  {
    name: 'two lines, with a mistake in the second',
    spec: held({ rule: 'self.a\n> self.b', message: 'm' }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:2:1: found no matching overload for '_>_' applied to '(int, string)'\n | > self.b\n | ^",
    ],
  },
  {
    name: 'what can never run',
    spec: held({ rule: 'int("x") == 1' }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: program instantiation failed: type conversion error from 'string' to 'int'",
    ],
  },
  {
    name: 'lists of several types',
    spec: held({ rule: '[1, "a"] == [2]' }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, \"a\"] == [2]\n | ....^",
    ],
  },
  {
    name: 'a wrong message',
    spec: held({ rule: 'self.a > 5', messageExpression: 'self.zz' }),
    errors: [
      "….x-kubernetes-validations[0].messageExpression: Invalid value: {…}: messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'zz'\n | self.zz\n | ....^",
    ],
  },
  {
    name: 'a message that is no text',
    spec: held({ rule: 'self.a > 5', messageExpression: 'self.a' }),
    errors: [
      '….x-kubernetes-validations[0].messageExpression: Invalid value: {…}: messageExpression must evaluate to a string',
    ],
  },
  {
    name: 'an optional past that nobody asks for',
    spec: held({ rule: 'self.a > 5', optionalOldSelf: false }),
    errors: [
      '….x-kubernetes-validations[0].optionalOldSelf: Invalid value: false: may not be set if oldSelf is not used in rule',
    ],
  },
  {
    name: 'an optional past taken for a plain one',
    spec: held({ rule: 'oldSelf.a == 1 ? oldSelf == self : true', optionalOldSelf: true }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:11: found no matching overload for '_==_' applied to '(optional_type(int), int)'\n | oldSelf.a == 1 ? oldSelf == self : true\n | ..........^\nERROR: <input>:1:26: found no matching overload for '_==_' applied to '(optional_type(selfType), selfType)'\n | oldSelf.a == 1 ? oldSelf == self : true\n | .........................^",
      '….x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
    ],
  },
  {
    name: 'a plain past taken for an optional one',
    spec: held({ rule: 'oldSelf.hasValue()' }),
    errors: [
      "….x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:17: found no matching overload for 'hasValue' applied to 'selfType.()'\n | oldSelf.hasValue()\n | ................^",
    ],
  },
  {
    name: 'the past of items without keys',
    spec: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          m: {
            type: 'object',
            additionalProperties: {
              type: 'integer',
              maximum: 3,
              'x-kubernetes-validations': [{ rule: 'self == oldSelf' }],
            },
          },
        },
      },
      maxItems: 5,
    },
    errors: [
      '….items.properties[m].additionalProperties.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within …',
    ],
  },
  {
    name: 'the past of items with keys',
    spec: {
      type: 'array',
      items: {
        type: 'object',
        properties: { k: string, i: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
        required: ['k'],
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      maxItems: 5,
    },
  },
  {
    name: 'a place without a type',
    spec: {
      type: 'object',
      properties: {
        a: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'self == 3' }] },
      },
    },
    errors: [
      '….properties[a].x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ],
  },
  {
    name: 'items without a type',
    spec: {
      type: 'array',
      items: { 'x-kubernetes-preserve-unknown-fields': true },
      'x-kubernetes-validations': [{ rule: 'size(self) > 3' }],
    },
    errors: [
      '….x-kubernetes-validations: Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
    ],
  },
  {
    name: 'items of a text',
    spec: {
      type: 'object',
      properties: {
        a: { type: 'string', items: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == "x"' }] } },
      },
      'x-kubernetes-validations': [{ rule: 'true' }],
    },
    errors: [
      '….properties[a].items.x-kubernetes-validations: Internal error: failed to convert to declType for CEL validation rules',
    ],
  },
  {
    name: 'rules beside other mistakes',
    spec: {
      type: 'object',
      properties: {
        a: { type: 'integer', uniqueItems: true, 'x-kubernetes-validations': [{ rule: 'self.x > 1' }] },
        b: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self.x > 1' }] },
      },
      'x-kubernetes-validations': [{ rule: 'self.zz' }],
    },
    errors: [
      '….properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      "….properties[b].x-kubernetes-validations[0].rule: Invalid value: {…}: compilation failed: ERROR: <input>:1:5: type 'int' does not support field selection\n | self.x > 1\n | ....^",
    ],
  },
  {
    name: 'a loop over a list without limits',
    spec: { type: 'array', items: string, 'x-kubernetes-validations': [{ rule: 'self.all(x, x == "a")' }] },
  },
  {
    name: 'a loop in a loop',
    spec: {
      type: 'array',
      items: { type: 'string', maxLength: 10 },
      maxItems: 2000,
      'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
    },
    errors: ['….x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 3.6x (…)'],
  },
  {
    name: 'a loop in a loop, with closer limits',
    spec: {
      type: 'array',
      items: { type: 'string', maxLength: 10 },
      maxItems: 100,
      'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
    },
  },
  {
    name: 'a cheap rule very often',
    spec: {
      type: 'array',
      items: { type: 'string', maxLength: 1000, 'x-kubernetes-validations': [{ rule: 'self.contains("abc")' }] },
    },
    errors: [
      '….items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 42.0x (…)',
      '….items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'root: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 4.2x (…)',
    ],
  },
  {
    name: 'a cheap rule often enough',
    spec: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: {
          type: 'string',
          maxLength: 1000,
          'x-kubernetes-validations': [{ rule: 'self.contains("abc")' }],
        },
        maxProperties: 100,
      },
      maxItems: 100,
    },
  },
  {
    name: 'a factor between 1 and 1.5',
    spec: {
      type: 'array',
      items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == 1' }] },
      maxItems: 12345678,
    },
    errors: [
      '….items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.234568x (…)',
    ],
  },
  {
    name: 'a factor exactly between two',
    spec: {
      type: 'array',
      items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == 1' }] },
      maxItems: 22500000,
    },
    errors: [
      '….items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 2.2x (…)',
    ],
  },
  {
    name: 'an expensive message',
    spec: {
      type: 'array',
      items: string,
      'x-kubernetes-validations': [
        { rule: 'size(self) > 1', messageExpression: 'self.all(x, self.all(y, x == y)) ? "a" : "b"' },
      ],
    },
    errors: [
      '….x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x (…)',
      '….x-kubernetes-validations[0].messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'root: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (…)',
    ],
  },
  {
    name: 'many expensive rules',
    spec: {
      type: 'object',
      properties: {
        f1: {
          type: 'array',
          items: { type: 'string', maxLength: 5 },
          maxItems: 1100,
          'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
        },
        f2: {
          type: 'array',
          items: { type: 'string', maxLength: 5 },
          maxItems: 1200,
          'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
        },
        f3: {
          type: 'array',
          items: { type: 'string', maxLength: 5 },
          maxItems: 1300,
          'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
        },
        f4: {
          type: 'array',
          items: { type: 'string', maxLength: 5 },
          maxItems: 1400,
          'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
        },
        f5: {
          type: 'array',
          items: { type: 'string', maxLength: 5 },
          maxItems: 1500,
          'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
        },
        f6: {
          type: 'array',
          items: { type: 'string', maxLength: 5 },
          maxItems: 1600,
          'x-kubernetes-validations': [{ rule: 'self.all(x, self.all(y, x == y))' }],
        },
      },
    },
    errors: [
      '….properties[f2].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.008600x (…)',
      '….properties[f3].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.183650x (…)',
      '….properties[f4].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.372700x (…)',
      '….properties[f5].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.6x (…)',
      '….properties[f6].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 1.8x (…)',
    ],
  },
  {
    name: 'a default that breaks a rule',
    spec: {
      type: 'object',
      properties: {
        a: {
          type: 'integer',
          default: 1,
          'x-kubernetes-validations': [{ rule: 'self > 5' }, { rule: 'self == oldSelf' }],
        },
      },
    },
    errors: ['….properties[a].default: Invalid value: 1: failed rule: self > 5'],
  },
  {
    name: 'a default that may stay but not come',
    spec: {
      type: 'object',
      properties: {
        a: {
          type: 'integer',
          default: 1,
          'x-kubernetes-validations': [
            { rule: 'oldSelf.hasValue() ? self == oldSelf.value() : self > 8', optionalOldSelf: true },
          ],
        },
      },
    },
    errors: [
      '….properties[a].default: Invalid value: 1: failed rule: oldSelf.hasValue() ? self == oldSelf.value() : self > 8',
    ],
  },
  {
    name: 'a default that breaks a rule inside of it',
    spec: {
      type: 'object',
      properties: {
        a: {
          type: 'object',
          properties: {
            b: {
              type: 'integer',
              'x-kubernetes-validations': [{ rule: 'self > 6', message: 'm', reason: 'FieldValueForbidden' }],
            },
          },
          default: { b: 1 },
        },
      },
    },
    errors: ['….properties[a].default.b: Forbidden: m'],
  },
  {
    name: 'a default with a rule that does not compile',
    spec: {
      type: 'object',
      properties: { a: { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self.x' }] } },
    },
    errors: [
      '….properties[a].default: Invalid value: "integer": rule compile error: compilation failed: ERROR: <input>:1:5: type \'int\' does not support field selection\n | self.x\n | ....^',
    ],
  },
]
