/**
 * Pruning, defaulting and null handling of objects on writes and reads.
 */
import assert from 'node:assert/strict'
import { anything, defineCustom, withSpec } from '../../custom.ts'
import { expectMatch, expectStatus, ok, warningsOf } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const text = { type: 'string' }
const object = (properties: Fields, more: Fields = {}): Fields => ({ type: 'object', properties, ...more })

interface Shaping {
  readonly id: string
  readonly rule: string
  readonly spec: Fields
  readonly given: unknown
  readonly becomes: unknown
}

const keep = { 'x-kubernetes-preserve-unknown-fields': true }

const shapings: readonly Shaping[] = [
  {
    id: 'prune',
    rule: 'Unknown fields are dropped at every depth.',
    spec: object({
      a: text,
      o: object({ b: text }),
      l: { type: 'array', items: object({ c: text }) },
      m: { type: 'object', additionalProperties: object({ d: text }) },
    }),
    given: { a: '1', x: 1, o: { b: '2', x: 1 }, l: [{ c: '3', x: 1 }], m: { k: { d: '4', x: 1 } } },
    becomes: { a: '1', o: { b: '2' }, l: [{ c: '3' }], m: { k: { d: '4' } } },
  },
  {
    id: 'prune-empty-object',
    rule: 'An object schema without properties drops every field.',
    spec: object({ o: { type: 'object' } }),
    given: { o: { a: 1 } },
    becomes: { o: {} },
  },
  {
    id: 'preserve',
    rule: 'Preserved unknown fields are kept; declared fields inside them are pruned as usual.',
    spec: object({ o: object({ known: object({ a: text }) }, keep) }),
    given: { o: { known: { a: '1', x: 1 }, any: { deep: [1, { b: null }] } }, x: 1 },
    becomes: { o: { known: { a: '1' }, any: { deep: [1, { b: null }] } } },
  },
  {
    id: 'preserve-any-type',
    rule: 'A field that preserves unknown fields can have any type.',
    spec: object({ a: keep, b: keep }),
    given: { a: [1, 'x', { y: true }], b: 'text' },
    becomes: { a: [1, 'x', { y: true }], b: 'text' },
  },
  {
    id: 'embedded-keeps-metadata',
    rule: 'An embedded resource has apiVersion, kind and metadata next to its properties; unknown metadata is dropped.',
    spec: object({ t: object({ spec: object({ a: text }) }, { 'x-kubernetes-embedded-resource': true }) }),
    given: {
      t: {
        apiVersion: 'v1',
        kind: 'X',
        metadata: { name: 'a', labels: { l: '1' }, colour: 'red' },
        spec: { a: '1', b: '2' },
        other: 1,
      },
    },
    becomes: { t: { apiVersion: 'v1', kind: 'X', metadata: { name: 'a', labels: { l: '1' } }, spec: { a: '1' } } },
  },
  {
    id: 'default',
    rule: 'An omitted field of any type gets its default.',
    spec: object({
      s: { ...text, default: 'x' },
      i: { type: 'integer', default: 5 },
      b: { type: 'boolean', default: false },
      l: { type: 'array', items: text, default: ['a'] },
      o: object({ a: text }, { default: { a: 'b' } }),
    }),
    given: {},
    becomes: { s: 'x', i: 5, b: false, l: ['a'], o: { a: 'b' } },
  },
  {
    id: 'default-given',
    rule: 'A given value is kept, even if it is empty.',
    spec: object({
      s: { ...text, default: 'x' },
      i: { type: 'integer', default: 5 },
      l: { type: 'array', items: text, default: ['a'] },
    }),
    given: { s: '', i: 0, l: [] },
    becomes: { s: '', i: 0, l: [] },
  },
  {
    id: 'default-absent-parent',
    rule: 'A default inside an absent object does not create the object.',
    spec: object({ o: object({ a: { ...text, default: 'x' } }) }),
    given: {},
    becomes: {},
  },
  {
    id: 'default-chain',
    rule: 'Defaults inside an object apply to its own default too.',
    spec: object({ o: object({ a: { ...text, default: 'x' }, b: text }, { default: { b: 'y' } }) }),
    given: {},
    becomes: { o: { a: 'x', b: 'y' } },
  },
  {
    id: 'default-in-items',
    rule: 'List items and map values get their defaults.',
    spec: object({
      l: { type: 'array', items: object({ a: text, d: { ...text, default: 'x' } }) },
      m: { type: 'object', additionalProperties: object({ d: { ...text, default: 'y' } }) },
    }),
    given: { l: [{ a: '1' }, { d: 'mine' }], m: { k: {} } },
    becomes: { l: [{ a: '1', d: 'x' }, { d: 'mine' }], m: { k: { d: 'y' } } },
  },
  {
    id: 'null-with-default',
    rule: 'A null in a field that is not nullable becomes the default.',
    spec: object({ a: { ...text, default: 'x' }, l: { type: 'array', items: text, default: ['y'] } }),
    given: { a: null, l: null },
    becomes: { a: 'x', l: ['y'] },
  },
  {
    id: 'null-without-default',
    rule: 'A null in a field that is not nullable and has no default is dropped.',
    spec: object({ a: text, o: object({ b: text }) }),
    given: { a: null, o: { b: null } },
    becomes: { o: {} },
  },
  {
    id: 'null-allowed',
    rule: 'A null in a nullable field is kept, with or without a default.',
    spec: object({ a: { ...text, nullable: true, default: 'x' }, b: object({ c: text }, { nullable: true }) }),
    given: { a: null, b: null },
    becomes: { a: null, b: null },
  },
  {
    id: 'null-default',
    rule: 'An omitted nullable field without a default stays absent.',
    spec: object({ a: { ...text, nullable: true } }),
    given: {},
    becomes: {},
  },
]

function shapingCase({ id, rule, spec, given, becomes }: Shaping): ServerCase {
  return {
    id: `server/custom-shape/${id}`,
    rule,
    async run(place) {
      const widgets = await defineCustom(place, { spec })
      assert.deepEqual(ok(await widgets.create('one', { spec: given }), 201).spec, becomes)
      assert.deepEqual(ok(await widgets.get('one')).spec, becomes)
      ok(await widgets.create('two', {}), 201)
      assert.deepEqual(ok(await widgets.put('two', { spec: given }), 200).spec, becomes)
    },
  }
}

/** One stored widget with `spec.a`, written before the schema of `spec` changed. */
async function storedBefore(
  place: Place,
  before: Fields,
  after: Fields,
): Promise<{ widgets: Awaited<ReturnType<typeof defineCustom>>; version: string }> {
  const widgets = await defineCustom(place, { spec: before })
  const {
    metadata: { resourceVersion },
  } = ok(await widgets.create('old', { spec: { a: 'x', b: 'y', n: null } }), 201)
  await widgets.change(withSpec(after))
  return { widgets, version: resourceVersion }
}

const reading: readonly ServerCase[] = [
  {
    id: 'server/custom-shape/default-on-read',
    rule: 'A default added later appears when an old object is read, listed or watched, without a write.',
    async run(place) {
      const { widgets, version } = await storedBefore(
        place,
        object({ a: text, b: text }),
        object({ a: text, b: text, c: { ...text, default: 'new' } }),
      )
      const becomes = { spec: { a: 'x', b: 'y', c: 'new' }, metadata: { resourceVersion: version } }
      expectMatch(ok(await widgets.get('old')), becomes)
      expectMatch(ok(await widgets.list()), { items: [becomes] })
      expectMatch(await (await widgets.watch()).next(), { type: 'ADDED', object: becomes })
    },
  },
  {
    id: 'server/custom-shape/prune-on-read',
    rule: 'A field removed from the schema disappears from old objects when they are read.',
    async run(place) {
      const { widgets, version } = await storedBefore(place, object({ a: text, b: text }), object({ a: text }))
      const old = ok(await widgets.get('old'))
      assert.deepEqual(old.spec, { a: 'x' })
      assert.equal(old.metadata.resourceVersion, version)
    },
  },
  {
    id: 'server/custom-shape/null-on-read',
    rule: 'A null that is no longer allowed becomes the default when an old object is read.',
    async run(place) {
      const { widgets } = await storedBefore(
        place,
        object({ a: text, n: { ...text, nullable: true } }),
        object({ a: text, n: { ...text, default: 'new' } }),
      )
      assert.deepEqual(ok(await widgets.get('old')).spec, { a: 'x', n: 'new' })
    },
  },
  {
    id: 'server/custom-shape/default-stays',
    rule: 'A stored default stays when the schema changes the default.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: object({ a: { ...text, default: 'one' } }) })
      ok(await widgets.create('old', { spec: {} }), 201)
      await widgets.change(withSpec(object({ a: { ...text, default: 'two' } })))
      assert.deepEqual(ok(await widgets.get('old')).spec, { a: 'one' })
      assert.deepEqual(ok(await widgets.create('new', { spec: {} })).spec, { a: 'two' })
    },
  },
  {
    id: 'server/custom-shape/no-op-after-default',
    rule: 'Writing an old object back unchanged stores the new default without incrementing the generation.',
    async run(place) {
      const { widgets } = await storedBefore(
        place,
        object({ a: text, b: text }),
        object({ a: text, b: text, c: { ...text, default: 'new' } }),
      )
      const read = ok(await widgets.get('old'))
      const written = ok(await widgets.request('PUT', 'old', { body: read }), 200)
      expectMatch(written, { spec: { c: 'new' }, metadata: { generation: 1 } })
    },
  },
]

const strictness: readonly ServerCase[] = [
  {
    id: 'server/custom-shape/strict',
    rule: 'Unknown fields are rejected with their paths under Strict, reported as warnings under Warn and dropped silently under Ignore.',
    async run(place) {
      const widgets = await defineCustom(place, {
        spec: object({ a: text, l: { type: 'array', items: object({ c: text }) } }),
      })
      const given = { spec: { a: '1', x: 1, l: [{ c: '1', y: 1 }] } }
      const unknown = ['unknown field "spec.l[0].y"', 'unknown field "spec.x"']
      expectStatus(await widgets.create('one', given, { query: { fieldValidation: 'Strict' } }), {
        code: 400,
        reason: 'BadRequest',
        message: new RegExp(unknown.join(', ').replace(/[[\].]/g, '\\$&')),
      })
      assert.deepEqual(warningsOf(await widgets.create('two', given)).sort(), unknown)
      assert.deepEqual(warningsOf(await widgets.create('three', given, { query: { fieldValidation: 'Ignore' } })), [])
      assert.deepEqual(warningsOf(await widgets.patch('two', { spec: { z: 1 } })), ['unknown field "spec.z"'])
      expectStatus(await widgets.patch('two', { spec: { z: 1 } }, { query: { fieldValidation: 'Strict' } }), {
        code: 422,
        reason: 'Invalid',
        message: /unknown field "spec\.z"/,
      })
    },
  },
  {
    id: 'server/custom-shape/strict-root',
    rule: 'Unknown fields next to spec and in metadata are reported too.',
    async run(place) {
      const widgets = await defineCustom(place)
      const given = { spec: {}, colour: 'red', metadata: { taste: 'sweet' } }
      assert.deepEqual(warningsOf(await widgets.create('one', given)).sort(), [
        'unknown field "colour"',
        'unknown field "metadata.taste"',
      ])
      expectMatch(ok(await widgets.get('one')), { colour: undefined, metadata: { taste: undefined } })
    },
  },
  {
    id: 'server/custom-shape/strict-apply',
    rule: 'An apply with an unknown field fails, whatever fieldValidation says.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: object({ a: text }) })
      for (const fieldValidation of ['Strict', 'Warn', 'Ignore']) {
        expectStatus(await widgets.apply('one', { spec: { a: '1', x: 1 } }, { query: { fieldValidation } }), {
          code: 500,
          message:
            /failed to create typed patch object \(.*\/one; .*\/v1, Kind=Widget\): \.spec\.x: field not declared in schema/,
        })
      }
    },
  },
  {
    id: 'server/custom-shape/duplicate-field',
    rule: 'A duplicate field is rejected under Strict.',
    async run(place) {
      const widgets = await defineCustom(place)
      const body = JSON.stringify(widgets.object('one', { spec: { a: 1 } })).replace('"a":1', '"a":1,"a":2')
      expectStatus(await widgets.request('POST', undefined, { body, query: { fieldValidation: 'Strict' } }), {
        code: 400,
        reason: 'BadRequest',
        message: /duplicate field "spec\.a"/,
      })
    },
  },
  {
    id: 'server/custom-shape/special-keys',
    rule: 'Keys with a special meaning elsewhere are ordinary keys.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: { type: 'object', additionalProperties: anything } })
      const spec = '{"__proto__":{"a":1},"constructor":{"b":2},"a.b/c":{"d":3},"":{}}'
      const body = JSON.stringify(widgets.object('one', { spec: 'HERE' })).replace('"HERE"', spec)
      ok(await widgets.request('POST', undefined, { body }), 201)
      const got = await widgets.get('one')
      for (const part of ['"__proto__":{"a":1}', '"constructor":{"b":2}', '"a.b/c":{"d":3}', '"":{}'])
        assert.ok(got.text.includes(part), part)
    },
  },
]

export const customShapeCases: readonly ServerCase[] = [...shapings.map(shapingCase), ...reading, ...strictness]
