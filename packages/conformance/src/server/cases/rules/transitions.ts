/**
 * Transition rules and ratcheting.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { defineCustom, withSpec } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'
import { checked, ruleCase, ruled } from './judge.ts'
import type { RuleCase } from './judge.ts'

const text = { type: 'string', maxLength: 50 }
const integer = { type: 'integer' }
const many = { maxItems: 20 }

const transitions: readonly RuleCase[] = [
  {
    id: 'immutable',
    rule: 'A transition rule runs only if there is an old value.',
    spec: {
      type: 'object',
      properties: { a: { ...text, ...checked({ rule: 'self == oldSelf', message: 'a stays' }) }, b: text },
    },
    steps: [
      { create: { a: 'x' } },
      { update: { a: 'x', b: 'y' } },
      { update: { a: 'z' }, causes: ['spec.a: Invalid value: "z": a stays'] },
      { update: { b: 'y' } },
      { update: { a: 'new' } },
    ],
  },
  {
    id: 'immutable-once-set',
    rule: 'A rule against removing a field belongs to the parent of the field.',
    spec: ruled({ a: text, b: text }, { rule: '!has(oldSelf.a) || has(self.a)', message: 'a may not be removed' }),
    steps: [
      { create: { b: '1' } },
      { update: { a: 'x' } },
      { update: { b: '2' }, causes: ['spec: Invalid value: a may not be removed'] },
    ],
  },
  {
    id: 'only-grows',
    rule: 'A transition rule compares the old value with the new one.',
    spec: {
      type: 'object',
      properties: {
        n: { ...integer, ...checked('self >= oldSelf') },
        s: {
          type: 'array',
          ...many,
          'x-kubernetes-list-type': 'set',
          items: text,
          ...checked('oldSelf.all(x, x in self)'),
        },
      },
    },
    steps: [
      { create: { n: 1, s: ['a'] } },
      { update: { n: 2, s: ['b', 'a'] } },
      {
        update: { n: 1, s: ['b'] },
        causes: [
          'spec.n: Invalid value: 1: failed rule: self >= oldSelf',
          'spec.s: Invalid value: failed rule: oldSelf.all(x, x in self)',
        ],
      },
    ],
  },
  {
    id: 'by-key',
    rule: 'In a map list the old value of an item is the old item with the same key.',
    spec: {
      type: 'object',
      properties: {
        m: {
          type: 'array',
          ...many,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: {
            type: 'object',
            required: ['k'],
            properties: { k: text, v: { ...integer, ...checked('self == oldSelf') } },
          },
        },
      },
    },
    steps: [
      {
        create: {
          m: [
            { k: 'a', v: 1 },
            { k: 'b', v: 2 },
          ],
        },
      },
      {
        update: {
          m: [
            { k: 'b', v: 2 },
            { k: 'c', v: 9 },
            { k: 'a', v: 1 },
          ],
        },
      },
      { update: { m: [{ k: 'a', v: 5 }] }, causes: ['spec.m[0].v: Invalid value: 5: failed rule: self == oldSelf'] },
    ],
  },
  {
    id: 'by-map-key',
    rule: 'In a map the old value is the one with the same key.',
    spec: {
      type: 'object',
      properties: {
        m: { type: 'object', maxProperties: 20, additionalProperties: { ...integer, ...checked('self >= oldSelf') } },
      },
    },
    steps: [
      { create: { m: { a: 1 } } },
      { update: { m: { a: 2, b: 0 } } },
      { update: { m: { a: 1, b: 0 } }, causes: ['spec.m[a]: Invalid value: 1: failed rule: self >= oldSelf'] },
    ],
  },
  {
    id: 'optional-old',
    rule: 'With optionalOldSelf a rule also runs on create, and oldSelf is optional.',
    spec: {
      type: 'object',
      properties: {
        a: {
          ...text,
          ...checked({
            rule: 'oldSelf.hasValue() ? self == oldSelf.value() : self == "first"',
            optionalOldSelf: true,
            message: 'first, then the same',
          }),
        },
      },
    },
    steps: [
      { create: { a: 'other' }, causes: ['spec.a: Invalid value: "other": first, then the same'] },
      { create: { a: 'first' } },
      { update: { a: 'second' }, causes: ['spec.a: Invalid value: "second": first, then the same'] },
    ],
  },
  {
    id: 'optional-old-or',
    rule: 'An optional oldSelf supports orValue and chaining.',
    spec: ruled({ n: integer }, { rule: 'self.n <= oldSelf.optMap(o, o.n).orValue(0) + 1', optionalOldSelf: true }),
    steps: [
      {
        create: { n: 2 },
        causes: ['spec: Invalid value: failed rule: self.n <= oldSelf.optMap(o, o.n).orValue(0) + 1'],
      },
      { create: { n: 1 } },
      { update: { n: 2 } },
      {
        update: { n: 4 },
        causes: ['spec: Invalid value: failed rule: self.n <= oldSelf.optMap(o, o.n).orValue(0) + 1'],
      },
    ],
  },
]

interface Ratchet {
  readonly id: string
  readonly rule: string
  readonly before: Fields
  readonly after: Fields
  readonly stored: unknown
  /** Accepted replaces, in order. */
  readonly taken: readonly unknown[]
  readonly refused: readonly { readonly spec: unknown; readonly causes: readonly string[] }[]
}

const object = (properties: Fields): Fields => ({ type: 'object', properties })

const ratchets: readonly Ratchet[] = [
  {
    id: 'value',
    rule: 'An unchanged invalid value is accepted; a new one is not.',
    before: object({ a: text, b: text }),
    after: object({ a: { ...text, maxLength: 2 }, b: text }),
    stored: { a: 'long', b: '1' },
    taken: [{ a: 'long', b: '2' }],
    refused: [{ spec: { a: 'longer', b: '2' }, causes: ['spec.a: Too long: may not be more than 2 bytes'] }],
  },
  {
    id: 'enum-and-pattern',
    rule: 'Enum, pattern, bounds, format and type ratchet too.',
    before: object({ e: text, p: text, n: integer, f: text, k: text }),
    after: object({
      e: { ...text, enum: ['x'] },
      p: { ...text, pattern: '^x' },
      n: { ...integer, minimum: 10 },
      f: { ...text, format: 'ipv4' },
      k: text,
    }),
    stored: { e: 'y', p: 'y', n: 1, f: 'y', k: '1' },
    taken: [{ e: 'y', p: 'y', n: 1, f: 'y', k: '2' }],
    refused: [
      {
        spec: { e: 'z', p: 'z', n: 2, f: 'z' },
        causes: [
          'spec.e: Unsupported value: "z": supported values: "x"',
          'spec.f: Invalid value: "z": spec.f in body must be of type ipv4: "z"',
          'spec.n: Invalid value: 2: spec.n in body should be greater than or equal to 10',
          `spec.p: Invalid value: "z": spec.p in body should match '^x'`,
        ],
      },
    ],
  },
  {
    id: 'required',
    rule: 'A new required field is required in every write of its object.',
    before: object({ o: object({ a: text, b: text }), k: text }),
    after: object({ o: { ...object({ a: text, b: text }), required: ['b'] }, k: text }),
    stored: { o: { a: 'x' }, k: '1' },
    taken: [{ o: { a: 'x' }, k: '2' }],
    refused: [{ spec: { o: { a: 'y' }, k: '2' }, causes: ['spec.o.b: Required value'] }],
  },
  {
    id: 'rule',
    rule: 'A rule that fails on an unchanged value is ignored, unless it uses oldSelf.',
    before: object({ a: integer, b: integer }),
    after: object({ a: { ...integer, ...checked('self > 10') }, b: integer }),
    stored: { a: 1, b: 1 },
    taken: [{ a: 1, b: 2 }],
    refused: [{ spec: { a: 2, b: 2 }, causes: ['spec.a: Invalid value: 2: failed rule: self > 10'] }],
  },
  {
    id: 'rule-above',
    rule: 'A rule on an object runs when any part of it changes.',
    before: object({ o: object({ a: integer, b: integer }), k: text }),
    after: object({ o: ruled({ a: integer, b: integer }, 'self.a > 10'), k: text }),
    stored: { o: { a: 1, b: 1 }, k: '1' },
    taken: [{ o: { a: 1, b: 1 }, k: '2' }],
    refused: [{ spec: { o: { a: 1, b: 2 } }, causes: ['spec.o: Invalid value: failed rule: self.a > 10'] }],
  },
  {
    id: 'list-with-keys',
    rule: 'Items of a map list ratchet by key; other lists ratchet only as a whole.',
    before: object({
      m: {
        type: 'array',
        ...many,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { ...object({ k: text, v: text }), required: ['k'] },
      },
      l: { type: 'array', ...many, items: text },
    }),
    after: object({
      m: {
        type: 'array',
        ...many,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { ...object({ k: text, v: { ...text, maxLength: 1 } }), required: ['k'] },
      },
      l: { type: 'array', ...many, items: { ...text, maxLength: 1 } },
    }),
    stored: { m: [{ k: 'a', v: 'long' }], l: ['long'] },
    taken: [
      {
        m: [
          { k: 'b', v: 'x' },
          { k: 'a', v: 'long' },
        ],
        l: ['long'],
      },
    ],
    refused: [
      {
        spec: { m: [{ k: 'a', v: 'other' }], l: ['long', 'x'] },
        causes: [
          'spec.l[0]: Too long: may not be more than 1 byte',
          'spec.m[0].v: Too long: may not be more than 1 byte',
        ],
      },
    ],
  },
  {
    id: 'duplicates',
    rule: 'An object with duplicates from before a list became a set can keep duplicates until all are removed.',
    before: object({ s: { type: 'array', ...many, items: text }, k: text }),
    after: object({ s: { type: 'array', ...many, items: text, 'x-kubernetes-list-type': 'set' }, k: text }),
    stored: { s: ['a', 'a'], k: '1' },
    taken: [{ s: ['a', 'a'], k: '2' }, { s: ['a', 'b', 'b'] }, { s: ['a', 'b'] }],
    refused: [{ spec: { s: ['a', 'a'] }, causes: ['spec.s[1]: Duplicate value: "a"'] }],
  },
]

function ratchetCase({ id, rule, before, after, stored, taken, refused }: Ratchet): ServerCase {
  return {
    id: `server/rules/ratchet-${id}`,
    rule,
    async run(place) {
      const widgets = await defineCustom(place, { spec: before })
      ok(await widgets.create('one', { spec: stored }), 201)
      await widgets.change(withSpec(after))
      for (const spec of taken) assert.deepEqual(ok(await widgets.put('one', { spec }), 200).spec, spec)
      for (const { spec, causes } of refused) {
        const answer = await widgets.put('one', { spec })
        expectStatus(answer, { code: 422, reason: 'Invalid' })
        assert.deepEqual(causesOf(answer, place), [...causes].sort())
      }
    },
  }
}

const elsewhere: readonly ServerCase[] = [
  {
    id: 'server/rules/every-write',
    rule: 'Rules run on every kind of write, including dry runs.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: ruled({ a: integer }, 'self.a > 0') })
      ok(await widgets.create('one', { spec: { a: 1 } }), 201)
      const refused = { code: 422, reason: 'Invalid', message: /failed rule: self\.a > 0/ }
      expectStatus(await widgets.patch('one', { spec: { a: 0 } }), refused)
      expectStatus(
        await widgets.patch('one', [{ op: 'replace', path: '/spec/a', value: 0 }], {
          type: 'application/json-patch+json',
        }),
        refused,
      )
      expectStatus(await widgets.apply('one', { spec: { a: 0 } }, { force: true }), refused)
      expectStatus(await widgets.apply('two', { spec: { a: 0 } }), refused)
      expectStatus(await widgets.create('two', { spec: { a: 0 } }, { query: { dryRun: 'All' } }), refused)
    },
  },
  {
    id: 'server/rules/status',
    rule: 'A write to the status runs the rules of the status and of the root, not those of the spec.',
    async run(place) {
      const schema = {
        type: 'object',
        properties: { spec: ruled({ max: integer }, 'self.max > 0'), status: ruled({ n: integer }, 'self.n >= 0') },
        ...checked('!has(self.status) || self.status.n <= self.spec.max'),
      }
      const widgets = await defineCustom(place, { schema, version: { subresources: { status: {} } } })
      ok(await widgets.create('one', { spec: { max: 3 } }), 201)
      const tooMuch = await widgets.patch('one/status', { status: { n: 4 } })
      expectStatus(tooMuch, { code: 422, reason: 'Invalid' })
      assert.deepEqual(causesOf(tooMuch, place), [
        '<nil>: Invalid value: failed rule: !has(self.status) || self.status.n <= self.spec.max',
      ])
      expectStatus(await widgets.patch('one/status', { status: { n: -1 } }), {
        code: 422,
        message: /failed rule: self\.n >= 0/,
      })
      ok(await widgets.patch('one/status', { status: { n: 3 } }), 200)
      expectStatus(await widgets.patch('one', { spec: { max: 2 } }), {
        code: 422,
        message: /failed rule: !has\(self\.status\)/,
      })
    },
  },
  {
    id: 'server/rules/root',
    rule: 'A rule at the root sees apiVersion, kind and name, and nothing else of metadata.',
    async run(place) {
      const schema = {
        type: 'object',
        properties: { metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 10 } } } },
        ...checked('self.metadata.name.startsWith("a") && self.kind == "Widget" && self.apiVersion.endsWith("/v1")'),
      }
      const widgets = await defineCustom(place, { schema })
      ok(await widgets.create('abc'), 201)
      expectStatus(await widgets.create('xyz'), { code: 422, reason: 'Invalid', message: /failed rule/ })
      expectStatus(await widgets.create('a-name-that-is-long'), {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.name: Too long: may not be more than 10 bytes/,
      })
    },
  },
  {
    id: 'server/rules/budget',
    rule: 'A rule that exceeds its budget on a large object is stopped, and the write is rejected.',
    async run(place) {
      const widgets = await defineCustom(place, {
        spec: ruled(
          { l: { type: 'array', maxItems: 1100, items: { type: 'integer' } } },
          'self.l.all(a, self.l.all(b, a == b || a != b))',
        ),
      })
      ok(await widgets.create('small', { spec: { l: [1, 2, 3] } }), 201)
      const answer = await widgets.create('big', { spec: { l: Array.from({ length: 1000 }, (_, index) => index) } })
      expectStatus(answer, { code: 422, reason: 'Invalid' })
      expectMatch(causesOf(answer, place), [/spec: (?:Invalid value|Forbidden).*call cost exceeds limit/])
    },
  },
]

export const transitionCases: readonly ServerCase[] = [
  ...transitions.map(ruleCase),
  ...ratchets.map(ratchetCase),
  ...elsewhere,
]
