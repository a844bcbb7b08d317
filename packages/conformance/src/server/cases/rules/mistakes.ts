/**
 * Rules that make a CRD invalid: compilation errors and cost limits.
 */
import type { ServerCase } from '../../target.ts'
import { mistakeCase } from '../definitions/invalid.ts'
import type { Mistake } from '../definitions/invalid.ts'
import type { Fields } from '../../samples.ts'
import { checked, ruled } from './judge.ts'

const text = { type: 'string', maxLength: 50 }
const integer = { type: 'integer' }
const anyText = { type: 'string' }

interface RuleMistake {
  readonly id: string
  readonly rule: string
  readonly spec: Fields
  readonly causes: readonly string[]
}

const ruleMistakes: readonly RuleMistake[] = [
  {
    id: 'rule-syntax',
    rule: 'A rule must compile.',
    spec: ruled({ a: integer }, 'self.a >', 'self.a ==== 1'),
    causes: [
      `~x-kubernetes-validations[0].rule: Invalid value: … : compilation failed: ERROR: <input>:1:9: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
      `~x-kubernetes-validations[1].rule: Invalid value: … : compilation failed: ERROR: <input>:1:10: Syntax error: extraneous input '==' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`,
    ],
  },
  {
    id: 'rule-unknown-field',
    rule: 'A rule can use only fields that the schema declares.',
    spec: ruled({ a: integer }, 'self.b == 1', 'other == 1'),
    causes: [
      `~x-kubernetes-validations[0].rule: Invalid value: … : compilation failed: ERROR: <input>:1:5: undefined field 'b'`,
      `~x-kubernetes-validations[1].rule: Invalid value: … : compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container '')`,
    ],
  },
  {
    id: 'rule-types',
    rule: 'A rule compares compatible types and returns a boolean.',
    spec: ruled({ a: integer, b: text }, 'self.a == self.b', 'self.a', 'self.b.noSuch()'),
    causes: [
      `~x-kubernetes-validations[0].rule: Invalid value: … : compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'`,
      '~x-kubernetes-validations[1].rule: Invalid value: … : cel expression must evaluate to a bool',
      `~x-kubernetes-validations[2].rule: Invalid value: … : compilation failed: ERROR: <input>:1:14: undeclared reference to 'noSuch' (in container '')`,
    ],
  },
  {
    id: 'rule-empty',
    rule: 'A rule and its message must not be empty.',
    spec: ruled({ a: integer }, '', '  ', { rule: 'true', message: ' ' }),
    causes: [
      '~x-kubernetes-validations[0].rule: Required value: rule is not specified',
      '~x-kubernetes-validations[1].rule: Required value: rule is not specified',
      '~x-kubernetes-validations[2].message: Invalid value: " ": must be non-empty if specified',
    ],
  },
  {
    id: 'rule-message-lines',
    rule: 'The message of a rule is one line; a rule without a message must be one line itself.',
    spec: ruled({ a: integer }, { rule: 'self.a > 0', message: 'two\nlines' }, 'self.a >\n0'),
    causes: [
      '~x-kubernetes-validations[0].message: Invalid value: "two\\nlines": must not contain line breaks',
      '~x-kubernetes-validations[1].message: Required value: message must be specified if rule contains line breaks',
    ],
  },
  {
    id: 'rule-message-expression',
    rule: 'A messageExpression returns a string.',
    spec: ruled(
      { a: integer },
      { rule: 'self.a > 0', messageExpression: 'self.a' },
      { rule: 'self.a > 0', messageExpression: 'self.none' },
    ),
    causes: [
      '~x-kubernetes-validations[0].messageExpression: Invalid value: … : messageExpression must evaluate to a string',
      `~x-kubernetes-validations[1].messageExpression: Invalid value: … : messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'none'`,
    ],
  },
  {
    id: 'rule-message-expression-empty',
    rule: 'A messageExpression must not be empty.',
    spec: ruled({ a: integer }, { rule: 'self.a > 0', messageExpression: ' ' }),
    causes: [
      '~x-kubernetes-validations[0].messageExpression: Required value: messageExpression must be non-empty if specified',
    ],
  },
  {
    id: 'rule-reason',
    rule: 'The reason of a rule is one of four values.',
    spec: ruled({ a: integer }, { rule: 'self.a > 0', reason: 'BecauseISaySo' }),
    causes: [
      '~x-kubernetes-validations[0].reason: Unsupported value: "BecauseISaySo": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
    ],
  },
  {
    id: 'rule-field-path',
    rule: 'The fieldPath of a rule must exist in the schema below it.',
    spec: ruled(
      { a: integer, l: { type: 'array', maxItems: 5, items: integer } },
      { rule: 'self.a > 0', fieldPath: '.none' },
      { rule: 'self.a > 0', fieldPath: 'a' },
      { rule: 'self.a > 0', fieldPath: '.l[0]' },
    ),
    causes: [
      '~x-kubernetes-validations[0].fieldPath: Invalid value: ".none": must be a valid path',
      '~x-kubernetes-validations[1].fieldPath: Invalid value: "a": must be a valid path',
      '~x-kubernetes-validations[2].fieldPath: Invalid value: ".l[0]": must be a valid path',
    ],
  },
  {
    id: 'rule-old-uncorrelatable',
    rule: 'A rule cannot use oldSelf where old values cannot be correlated.',
    spec: {
      type: 'object',
      properties: {
        l: { type: 'array', maxItems: 5, items: { ...integer, ...checked('self == oldSelf') } },
        s: {
          type: 'array',
          maxItems: 5,
          'x-kubernetes-list-type': 'set',
          items: { ...text, ...checked('self == oldSelf') },
        },
      },
    },
    causes: [
      '~properties[l].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[spec].properties[l]',
      '~properties[s].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within spec.validation.openAPIV3Schema.properties[spec].properties[s]',
    ],
  },
  {
    id: 'rule-optional-old-unused',
    rule: 'optionalOldSelf requires a rule that uses oldSelf.',
    spec: ruled({ a: integer }, { rule: 'self.a > 0', optionalOldSelf: true }),
    causes: [
      '~x-kubernetes-validations[0].optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
    ],
  },
  {
    id: 'rule-unknown-subtree',
    rule: 'Rules cannot access preserved unknown fields.',
    spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, ...checked('self.any == 1') },
    causes: [
      `~x-kubernetes-validations[0].rule: Invalid value: … : compilation failed: ERROR: <input>:1:5: undefined field 'any'`,
    ],
  },
  {
    id: 'rule-pattern',
    rule: 'A pattern in a rule must be a valid regular expression.',
    spec: ruled({ b: text }, 'self.b.matches("(")'),
    causes: [
      '~x-kubernetes-validations[0].rule: Invalid value: … : compilation failed: ERROR: <input>:1:16: invalid matches argument',
    ],
  },
  {
    id: 'rule-cost-nested',
    rule: 'A rule with nested loops over unbounded lists exceeds the cost limit.',
    spec: ruled({ l: { type: 'array', items: anyText } }, 'self.l.all(a, self.l.all(b, a == b))'),
    causes: [
      '~x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      '~x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  },
  {
    id: 'rule-cost-per-item',
    rule: 'A rule on every item of an unbounded list exceeds the cost limit.',
    spec: {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          items: { type: 'array', items: { type: 'array', items: { ...anyText, ...checked('self.contains("x")') } } },
        },
      },
    },
    causes: [
      '~properties[l].items.items.items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      '~properties[l].items.items.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  },
  {
    id: 'rule-cost-total',
    rule: 'All rules of a schema share a total cost limit.',
    spec: {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          maxItems: 3000,
          items: {
            ...anyText,
            maxLength: 7500,
            ...checked(...Array.from({ length: 12 }, () => 'self.contains("xyz")')),
          },
        },
      },
    },
    causes: [
      '~properties[l].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      '~properties[l].items.x-kubernetes-validations[1].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      '~properties[l].items.x-kubernetes-validations[2].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      '~properties[l].items.x-kubernetes-validations[3].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.080360x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  },
  {
    id: 'rule-cost-unknown-size',
    rule: 'A computed string has no length limit, so operations on it exceed the cost limit.',
    spec: ruled({ a: integer }, 'string(self.a) + "x" == "1x"'),
    causes: [
      '~x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      '~x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  },
  {
    id: 'rule-cost-message',
    rule: 'The cost of a messageExpression counts too.',
    spec: ruled(
      { l: { type: 'array', items: anyText } },
      { rule: 'size(self.l) > 0', messageExpression: 'self.l.map(a, self.l.map(b, a + b).join(",")).join(",")' },
    ),
    causes: [
      '~x-kubernetes-validations[0].messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      '~x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
      'spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)',
    ],
  },
]

export const ruleMistakeCases: readonly ServerCase[] = ruleMistakes.map(({ spec, ...rest }): ServerCase =>
  mistakeCase({ ...rest, options: { spec } } satisfies Mistake),
)
