/**
 * Validation rules: their inputs, when they run, and their errors.
 */
import type { ServerCase } from '../../target.ts'
import { checked, ruleCase, ruled } from './judge.ts'
import type { RuleCase } from './judge.ts'

const text = { type: 'string', maxLength: 50 }
const integer = { type: 'integer' }
const many = { maxItems: 20 }

const saying: readonly RuleCase[] = [
  {
    id: 'failed',
    rule: 'A failed rule is reported with its text, at its field.',
    spec: ruled({ a: integer, b: integer }, 'self.a < self.b', 'self.b < 10'),
    steps: [
      { create: { a: 1, b: 2 } },
      { create: { a: 2, b: 1 }, causes: ['spec: Invalid value: failed rule: self.a < self.b'] },
      {
        create: { a: 20, b: 20 },
        causes: ['spec: Invalid value: failed rule: self.a < self.b', 'spec: Invalid value: failed rule: self.b < 10'],
      },
    ],
  },
  {
    id: 'message',
    rule: 'A rule with a message reports the message.',
    spec: ruled({ a: integer }, { rule: 'self.a > 0', message: 'a must be positive' }),
    steps: [{ create: { a: 1 } }, { create: { a: 0 }, causes: ['spec: Invalid value: a must be positive'] }],
  },
  {
    id: 'message-expression',
    rule: 'A message can be computed; if that fails, the static message or the rule is reported.',
    spec: ruled(
      { a: integer, m: text },
      { rule: 'self.a > 0', messageExpression: '"a is not " + self.m' },
      { rule: 'self.a > -5', message: 'plain', messageExpression: 'self.m' },
      { rule: 'self.a > -9', messageExpression: 'self.m' },
    ),
    steps: [
      { create: { a: 0, m: 'x' }, causes: ['spec: Invalid value: a is not x'] },
      { create: { a: -5, m: '  ' }, causes: ['spec: Invalid value: a is not', 'spec: Invalid value: plain'] },
      {
        create: { a: -10 },
        causes: [
          'spec: Invalid value: failed rule: self.a > -9',
          'spec: Invalid value: failed rule: self.a > 0',
          'spec: Invalid value: plain',
        ],
      },
      {
        create: { a: -10, m: 'two\nlines' },
        causes: [
          'spec: Invalid value: failed rule: self.a > -9',
          'spec: Invalid value: failed rule: self.a > 0',
          'spec: Invalid value: plain',
        ],
      },
      {
        create: { a: -10, m: 'computed' },
        causes: [
          'spec: Invalid value: a is not computed',
          'spec: Invalid value: computed',
          'spec: Invalid value: computed',
        ],
      },
    ],
  },
  {
    id: 'field-path',
    rule: 'A rule can set the field that it reports.',
    spec: ruled(
      {
        a: integer,
        o: { type: 'object', properties: { 'x-y': integer } },
        l: { type: 'array', ...many, items: integer },
      },
      { rule: 'self.a > 0', fieldPath: '.a' },
      { rule: 'self.a > 1', fieldPath: ".o['x-y']", message: 'deep' },
    ),
    steps: [
      {
        create: { a: 0 },
        causes: ['spec.a: Invalid value: failed rule: self.a > 0', 'spec.o.x-y: Invalid value: deep'],
      },
    ],
  },
  {
    id: 'reason',
    rule: 'A rule can set the reason of its error.',
    spec: ruled(
      { a: integer },
      { rule: 'self.a > 0', reason: 'FieldValueForbidden' },
      { rule: 'self.a > 0', reason: 'FieldValueRequired', message: 'needed' },
      { rule: 'self.a > 0', reason: 'FieldValueDuplicate' },
      { rule: 'self.a > 0', reason: 'FieldValueInvalid' },
    ),
    steps: [
      {
        create: { a: 0 },
        causes: [
          'spec: Duplicate value',
          'spec: Forbidden: failed rule: self.a > 0',
          'spec: Invalid value: failed rule: self.a > 0',
          'spec: Required value: needed',
        ],
      },
    ],
  },
  {
    id: 'places',
    rule: 'Rules on list items, map values and primitive fields report the path of each.',
    spec: {
      type: 'object',
      properties: {
        a: { ...integer, ...checked('self > 0') },
        l: { type: 'array', ...many, items: { ...integer, ...checked('self > 0') } },
        m: { type: 'object', maxProperties: 20, additionalProperties: { ...text, ...checked('self != "bad"') } },
        o: { type: 'array', ...many, items: ruled({ x: integer }, 'self.x > 0') },
      },
    },
    steps: [
      { create: { a: 1, l: [1], m: { k: 'good' }, o: [{ x: 1 }] } },
      {
        create: { a: 0, l: [1, 0, 0], m: { 'a.b': 'bad', k: 'good' }, o: [{ x: 1 }, { x: 0 }] },
        causes: [
          'spec.a: Invalid value: 0: failed rule: self > 0',
          'spec.l[1]: Invalid value: 0: failed rule: self > 0',
          'spec.l[2]: Invalid value: 0: failed rule: self > 0',
          'spec.m[a.b]: Invalid value: "bad": failed rule: self != "bad"',
          'spec.o[1]: Invalid value: failed rule: self.x > 0',
        ],
      },
    ],
  },
  {
    id: 'runtime-error',
    rule: 'A rule that cannot be evaluated is an error with the reason.',
    spec: ruled({ a: integer, l: { type: 'array', ...many, items: integer } }, 'self.l[3] == 1', '10 / self.a > 0'),
    steps: [
      {
        create: { a: 0, l: [1] },
        causes: [
          'spec: Invalid value: "object": division by zero evaluating rule: 10 / self.a > 0',
          'spec: Invalid value: "object": index out of bounds: 3 evaluating rule: self.l[3] == 1',
        ],
      },
      { create: { a: 1 }, causes: ['spec: Invalid value: "object": no such key: l evaluating rule: self.l[3] == 1'] },
    ],
  },
  {
    id: 'after-schema',
    rule: 'If an object violates its schema, rules are not evaluated, and the response reports that.',
    spec: ruled({ a: integer, b: text }, 'self.a > 0'),
    steps: [
      {
        create: { a: 'x', b: 'y' },
        causes: [
          '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
          'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
        ],
      },
      {
        create: { a: 0, b: 7 },
        causes: [
          '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
          'spec.b: Invalid value: "integer": spec.b in body must be of type string: "integer"',
        ],
      },
    ],
  },
  {
    id: 'after-required',
    rule: 'If a required field is missing, rules are not evaluated, and the response reports that.',
    spec: { ...ruled({ a: integer, b: text }, 'self.a > 0'), required: ['b'] },
    steps: [
      {
        create: { a: 0 },
        causes: [
          '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
          'spec.b: Required value',
        ],
      },
    ],
  },
]

const seeing: readonly RuleCase[] = [
  {
    id: 'has',
    rule: 'has() tests whether a field is present.',
    spec: ruled({ a: integer, b: text }, '!has(self.a) || has(self.b)'),
    steps: [
      { create: {} },
      { create: { b: '' } },
      { create: { a: 1, b: '' } },
      { create: { a: 1 }, causes: ['spec: Invalid value: failed rule: !has(self.a) || has(self.b)'] },
    ],
  },
  {
    id: 'defaults-first',
    rule: 'Rules see defaulted values.',
    spec: ruled({ a: { ...integer, default: 5 } }, 'self.a == 5'),
    steps: [{ create: {} }, { create: { a: 4 }, causes: ['spec: Invalid value: failed rule: self.a == 5'] }],
  },
  {
    id: 'pruned-first',
    rule: 'Rules do not see pruned fields.',
    spec: {
      type: 'object',
      properties: { m: { type: 'object', properties: { a: integer }, ...checked('has(self.a) && self.a == 1') } },
    },
    steps: [{ create: { m: { a: 1, x: 2 } } }],
  },
  {
    id: 'names',
    rule: 'Field names that are CEL keywords or contain special characters are escaped.',
    spec: ruled(
      { 'x-y': integer, 'a.b': integer, 'c/d': integer, namespace: integer, if: integer, e__f: integer },
      'self.x__dash__y == 1',
      'self.a__dot__b == 2',
      'self.c__slash__d == 3',
      'self.__namespace__ == 4',
      'self.__if__ == 5',
      'self.e__underscores__f == 6',
    ),
    steps: [
      { create: { 'x-y': 1, 'a.b': 2, 'c/d': 3, namespace: 4, if: 5, e__f: 6 } },
      {
        create: { 'x-y': 0, 'a.b': 0, 'c/d': 0, namespace: 0, if: 0, e__f: 0 },
        causes: [
          'spec: Invalid value: failed rule: self.__if__ == 5',
          'spec: Invalid value: failed rule: self.__namespace__ == 4',
          'spec: Invalid value: failed rule: self.a__dot__b == 2',
          'spec: Invalid value: failed rule: self.c__slash__d == 3',
          'spec: Invalid value: failed rule: self.e__underscores__f == 6',
          'spec: Invalid value: failed rule: self.x__dash__y == 1',
        ],
      },
    ],
  },
  {
    id: 'names-after-a-dot',
    rule: 'After a dot, CEL keywords need no escape.',
    spec: ruled(
      { namespace: integer, if: integer, var: integer },
      '!has(self.namespace) || self.namespace == 4',
      'self.if == 5',
      'self.?var.orValue(6) == 6',
    ),
    steps: [
      { create: { namespace: 4, if: 5, var: 6 } },
      { create: { if: 5 } },
      {
        create: { namespace: 0, if: 0, var: 0 },
        causes: [
          'spec: Invalid value: failed rule: !has(self.namespace) || self.namespace == 4',
          'spec: Invalid value: failed rule: self.?var.orValue(6) == 6',
          'spec: Invalid value: failed rule: self.if == 5',
        ],
      },
    ],
  },
  {
    id: 'int-or-string',
    rule: 'An int-or-string is either type in a rule.',
    spec: ruled({ a: { 'x-kubernetes-int-or-string': true } }, 'type(self.a) == int ? self.a < 5 : self.a == "many"'),
    steps: [
      { create: { a: 3 } },
      { create: { a: 'many' } },
      {
        create: { a: 7 },
        causes: ['spec: Invalid value: failed rule: type(self.a) == int ? self.a < 5 : self.a == "many"'],
      },
      {
        create: { a: 'few' },
        causes: ['spec: Invalid value: failed rule: type(self.a) == int ? self.a < 5 : self.a == "many"'],
      },
    ],
  },
  {
    id: 'nullable',
    rule: 'A null field is absent in a rule.',
    spec: ruled({ a: { ...text, nullable: true } }, '!has(self.a) || self.a != "no"'),
    steps: [
      { create: { a: null } },
      { create: { a: 'yes' } },
      { create: { a: 'no' }, causes: ['spec: Invalid value: failed rule: !has(self.a) || self.a != "no"'] },
    ],
  },
  {
    id: 'numbers',
    rule: 'Numbers compare across types; a number is a double even when it is integral.',
    spec: ruled({ i: integer, n: { type: 'number' } }, 'self.i < self.n', 'self.n > 1', 'type(self.n) == double'),
    steps: [
      { create: { i: 1, n: 2 } },
      { create: { i: 3, n: 2.5 }, causes: ['spec: Invalid value: failed rule: self.i < self.n'] },
    ],
  },
  {
    id: 'times',
    rule: 'Strings with the formats date, date-time, duration and byte have the matching CEL type.',
    spec: ruled(
      {
        d: { type: 'string', format: 'date' },
        t: { type: 'string', format: 'date-time' },
        u: { type: 'string', format: 'duration' },
        b: { type: 'string', format: 'byte', maxLength: 20 },
      },
      'self.d.getFullYear() == 2026',
      'self.t > timestamp("2026-01-01T00:00:00Z")',
      'self.u <= duration("1h")',
      'self.b == b"abc"',
      'self.t - timestamp("2026-01-01T00:00:00Z") < duration("8760h")',
    ),
    steps: [
      { create: { d: '2026-05-01', t: '2026-05-01T00:00:00Z', u: '30m', b: 'YWJj' } },
      {
        create: { d: '2025-05-01', t: '2025-05-01T00:00:00Z', u: '90m', b: 'YWI=' },
        causes: [
          'spec: Invalid value: failed rule: self.b == b"abc"',
          'spec: Invalid value: failed rule: self.d.getFullYear() == 2026',
          'spec: Invalid value: failed rule: self.t > timestamp("2026-01-01T00:00:00Z")',
          'spec: Invalid value: failed rule: self.u <= duration("1h")',
        ],
      },
    ],
  },
  {
    id: 'maps',
    rule: 'Objects with additionalProperties are maps.',
    spec: ruled(
      { m: { type: 'object', maxProperties: 10, additionalProperties: integer } },
      'self.m.all(k, k.startsWith("x") && self.m[k] > 0)',
      '"xa" in self.m',
      'size(self.m) <= 3',
    ),
    steps: [
      { create: { m: { xa: 1, xb: 2 } } },
      {
        create: { m: { ya: 0 } },
        causes: [
          'spec: Invalid value: failed rule: "xa" in self.m',
          'spec: Invalid value: failed rule: self.m.all(k, k.startsWith("x") && self.m[k] > 0)',
        ],
      },
    ],
  },
  {
    id: 'list-types',
    rule: 'Sets are equal in any order, and adding to a map list replaces items by key.',
    spec: ruled(
      {
        s: { type: 'array', ...many, 'x-kubernetes-list-type': 'set', items: text },
        m: {
          type: 'array',
          ...many,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', required: ['k'], properties: { k: text, v: integer } },
        },
        a: { type: 'array', ...many, items: text },
      },
      'self.s == ["b", "a"]',
      'self.a == ["a", "b"]',
      'size(self.m + self.m) == size(self.m)',
      'size(self.s + ["a", "c"]) == 3',
    ),
    steps: [
      { create: { s: ['a', 'b'], a: ['a', 'b'], m: [{ k: 'x', v: 1 }] } },
      {
        create: { s: ['a'], a: ['b', 'a'], m: [] },
        causes: [
          'spec: Invalid value: failed rule: self.a == ["a", "b"]',
          'spec: Invalid value: failed rule: self.s == ["b", "a"]',
          'spec: Invalid value: failed rule: size(self.s + ["a", "c"]) == 3',
        ],
      },
    ],
  },
  {
    id: 'embedded',
    rule: 'An embedded resource exposes its apiVersion, kind and name.',
    spec: ruled(
      {
        t: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          properties: { spec: { type: 'object', properties: { a: integer } } },
        },
      },
      'self.t.kind == "Pod" && self.t.apiVersion == "v1" && self.t.metadata.name.startsWith("x") && self.t.spec.a == 1',
    ),
    steps: [
      { create: { t: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x1' }, spec: { a: 1 } } } },
      {
        create: { t: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'y' }, spec: { a: 1 } } },
        causes: [
          'spec: Invalid value: failed rule: self.t.kind == "Pod" && self.t.apiVersion == "v1" && self.t.metadata.name.startsWith("x") && self.t.spec.a == 1',
        ],
      },
    ],
  },
]

export const ruleCases: readonly ServerCase[] = [...saying, ...seeing].map(ruleCase)
