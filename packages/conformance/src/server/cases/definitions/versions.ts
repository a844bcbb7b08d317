/**
 * Several versions of a kind: served, stored and deprecated versions, and the object in each of them.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { anything, defineCustom, eventually } from '../../custom.ts'
import type { Custom } from '../../custom.ts'
import { brief, expectMatch, expectStatus, ok, warningsOf } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const schemaOf = (properties: Fields): Fields => ({
  schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } },
})
const text = { type: 'string' }
const v1 = { name: 'v1', served: true, storage: true, ...schemaOf({ a: text, old: text }) }
const v2 = { name: 'v2', served: true, storage: false, ...schemaOf({ a: text, fresh: { ...text, default: 'new' } }) }

/** A version with a status, and a field `c` in the spec. */
const withStatus = (c: Fields): Fields => ({
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { a: text, c: { ...text, ...c } } }, status: anything },
    },
  },
})

function twoVersions(place: Place, more: { v1?: Fields; v2?: Fields } = {}): Promise<Custom> {
  return defineCustom(place, {
    versions: [
      { ...v1, ...more.v1 },
      { ...v2, ...more.v2 },
    ],
  })
}

const conversion: readonly ServerCase[] = [
  {
    id: 'server/definition-versions/convert-none',
    rule: 'Without conversion an object in another version gets the other apiVersion and is pruned by its schema; defaults come only from the storage version.',
    async run(place) {
      const widgets = await twoVersions(place)
      const made = ok(await widgets.create('one', { spec: { a: 'x', old: 'y' } }), 201)
      const other = ok(await widgets.get('one', 'v2'), 200)
      expectMatch(other, {
        apiVersion: `${widgets.group}/v2`,
        metadata: { uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion },
      })
      assert.deepEqual(other.spec, { a: 'x' })
      assert.deepEqual(ok(await widgets.get('one')).spec, { a: 'x', old: 'y' })
    },
  },
  {
    id: 'server/definition-versions/write-other',
    rule: 'A write in another version is stored in the storage version: its schema prunes, in the response too.',
    async run(place) {
      const widgets = await twoVersions(place)
      assert.deepEqual(
        ok(await widgets.create('one', { spec: { a: 'x', fresh: 'mine' } }, { version: 'v2' }), 201).spec,
        { a: 'x' },
      )
      assert.deepEqual(ok(await widgets.get('one')).spec, { a: 'x' })
      assert.deepEqual(ok(await widgets.get('one', 'v2')).spec, { a: 'x' })
    },
  },
  {
    id: 'server/definition-versions/status-of-other',
    rule: 'A write of the status in another version changes only the status: defaults of that version do not reach the spec.',
    async run(place) {
      const widgets = await twoVersions(place, { v1: withStatus({}), v2: withStatus({ default: 'C' }) })
      ok(await widgets.create('one', { spec: { a: 'x' } }), 201)
      const put = ok(await widgets.put('one/status', { spec: {}, status: { n: 1 } }, { version: 'v2' }), 200)
      assert.deepEqual([put.spec, put.status, put.metadata.generation], [{ a: 'x' }, { n: 1 }, 1])
      ok(await widgets.patch('one/status', { status: { m: 2 } }, { version: 'v2' }), 200)
      const { spec, status, metadata } = ok(await widgets.get('one'))
      assert.deepEqual([spec, status, metadata.generation], [{ a: 'x' }, { m: 2, n: 1 }, 1])
    },
  },
  {
    id: 'server/definition-versions/status-after-change',
    rule: 'After a change of the definition, too, a write of the status in another version does not bring defaults of that version into the spec.',
    async run(place) {
      const widgets = await twoVersions(place, { v1: withStatus({}), v2: withStatus({}) })
      ok(await widgets.create('one', { spec: { a: 'x' } }), 201)
      await widgets.change((spec) => {
        Object.assign(spec, {
          versions: [
            { ...v1, ...withStatus({}) },
            { ...v2, ...withStatus({ default: 'C' }) },
          ],
        })
      })
      const put = ok(await widgets.put('one/status', { spec: {}, status: { n: 1 } }, { version: 'v2' }), 200)
      assert.deepEqual([put.spec, put.status], [{ a: 'x' }, { n: 1 }])
      assert.deepEqual(ok(await widgets.get('one')).spec, { a: 'x' })
    },
  },
  {
    id: 'server/definition-versions/list-and-watch',
    rule: 'Lists and watches use the requested version.',
    async run(place) {
      const widgets = await twoVersions(place)
      ok(await widgets.create('one', { spec: { a: 'x' } }), 201)
      expectMatch(ok(await widgets.list({}, { version: 'v2' })), {
        apiVersion: `${widgets.group}/v2`,
        kind: 'WidgetList',
        items: [{ apiVersion: `${widgets.group}/v2`, kind: 'Widget', spec: { a: 'x', fresh: undefined } }],
      })
      const stream = await widgets.watch({}, { version: 'v2' })
      expectMatch(await stream.next(), {
        type: 'ADDED',
        object: { apiVersion: `${widgets.group}/v2`, spec: { a: 'x' } },
      })
      ok(await widgets.create('two'), 201)
      expectMatch(await stream.next(), {
        type: 'ADDED',
        object: { apiVersion: `${widgets.group}/v2`, metadata: { name: 'two' } },
      })
    },
  },
  {
    id: 'server/definition-versions/body-in-other-version',
    rule: 'The body must have the version of the URL.',
    async run(place) {
      const widgets = await twoVersions(place)
      expectStatus(await widgets.request('POST', undefined, { body: widgets.object('one', {}, 'v2') }), {
        code: 400,
        reason: 'BadRequest',
        message: /the API version in the data \(.*\/v2\) does not match the expected API version \(.*\/v1\)/,
      })
    },
  },
  {
    id: 'server/definition-versions/generation-across',
    rule: 'A write that changes nothing in the storage version is a no-op.',
    async run(place) {
      const widgets = await twoVersions(place)
      const made = ok(await widgets.create('one', { spec: { a: 'x' } }), 201)
      const next = ok(await widgets.put('one', { spec: { a: 'y' } }, { version: 'v2' }), 200)
      expectMatch(next.metadata, { generation: 2, uid: made.metadata.uid })
    },
  },
]

const serving: readonly ServerCase[] = [
  {
    id: 'server/definition-versions/not-served',
    rule: 'A version that is not served is a 404; objects stored in it are served in the other versions.',
    async run(place) {
      const widgets = await defineCustom(place, { versions: [{ ...v1, served: false }, v2] })
      assert.equal((await widgets.get('one')).status, 404)
      ok(await widgets.create('one', { spec: { a: 'x' } }, { version: 'v2' }), 201)
      assert.deepEqual(ok(await widgets.get('one', 'v2')).spec, { a: 'x' })
    },
  },
  {
    id: 'server/definition-versions/stop-serving',
    rule: 'A version that is no longer served disappears from the resource and from discovery; its objects remain.',
    async run(place) {
      const widgets = await twoVersions(place, { v1: {}, v2: {} })
      ok(await widgets.create('one', { spec: { a: 'x' } }, { version: 'v2' }), 201)
      await widgets.change(({ versions }) => {
        for (const one of versions) if (one.name === 'v2') one.served = false
      })
      await eventually(
        () => widgets.get('one', 'v2'),
        ({ status }) => status === 404,
      )
      ok(await widgets.get('one'), 200)
      await eventually(
        () => place.client.request('GET', `/apis/${widgets.group}/v2`),
        ({ status }) => status === 404,
      )
      expectMatch(
        ok(
          await eventually(
            () => place.client.request('GET', `/apis/${widgets.group}`),
            ({ json }) => (json['versions'] as unknown[]).length === 1,
          ),
        ),
        { versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
      )
    },
  },
  {
    id: 'server/definition-versions/preferred',
    rule: 'The versions of a group are ordered by maturity, whatever is stored; the first is preferred.',
    async run(place) {
      const versions = ['v1alpha1', 'v2', 'v1', 'foo1', 'v10beta3', 'v1beta1'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1alpha1',
        schema: { openAPIV3Schema: anything },
      }))
      const widgets = await defineCustom(place, { versions })
      const answer = await eventually(
        () => place.client.request('GET', `/apis/${widgets.group}`),
        ({ status, text: body }) => status === 200 && body.includes('foo1'),
      )
      expectMatch(answer.json, {
        versions: ['v2', 'v1', 'v10beta3', 'v1beta1', 'v1alpha1', 'foo1'].map((version) => ({ version })),
        preferredVersion: { version: 'v2' },
      })
    },
  },
]

const deprecation: readonly ServerCase[] = [
  {
    id: 'server/definition-versions/deprecated',
    rule: 'Every request in a deprecated version returns a warning that names the version to use instead.',
    async run(place) {
      const widgets = await twoVersions(place, { v1: { deprecated: true } })
      const warning = `${widgets.group}/v1 Widget is deprecated; use ${widgets.group}/v2 Widget`
      for (const answer of [
        await widgets.create('one'),
        await widgets.get('one'),
        await widgets.list(),
        await widgets.patch('one', { metadata: { labels: { a: 'b' } } }),
        await widgets.delete('one'),
      ])
        assert.deepEqual(warningsOf(answer), [warning])
      assert.deepEqual(warningsOf(await widgets.get('one', 'v2')), [])
    },
  },
  {
    id: 'server/definition-versions/deprecated-alone',
    rule: 'Without a newer version the warning names none; a custom warning is returned unchanged.',
    async run(place) {
      const widgets = await twoVersions(place, {
        v1: { deprecated: true },
        v2: { deprecated: true, deprecationWarning: 'please, no' },
      })
      assert.deepEqual(warningsOf(await widgets.list()), [`${widgets.group}/v1 Widget is deprecated`])
      assert.deepEqual(warningsOf(await widgets.list({}, { version: 'v2' })), ['please, no'])
    },
  },
]

const storing: readonly ServerCase[] = [
  {
    id: 'server/definition-versions/stored-versions',
    rule: 'storedVersions lists every version that was ever stored, until a client removes it from the status.',
    async run(place) {
      const widgets = await twoVersions(place)
      await widgets.change(({ versions }) => {
        for (const one of versions) one.storage = one.name === 'v2'
      })
      const changed = await widgets.definition()
      expectMatch(changed.status, { storedVersions: ['v1', 'v2'] })
      const without = await widgets.tryChange((spec) => {
        spec.versions = spec.versions.filter(({ name }) => name === 'v2')
      })
      expectStatus(without, { code: 422, reason: 'Invalid' })
      assert.deepEqual(causesOf(without, place), [
        'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
      ])
      ok(
        await place.patch('customresourcedefinitions', `${widgets.name}/status`, {
          body: { status: { storedVersions: ['v2'] } },
        }),
        200,
      )
      ok(
        await widgets.tryChange((spec) => {
          spec.versions = spec.versions.filter(({ name }) => name === 'v2')
        }),
        200,
      )
    },
  },
  {
    id: 'server/definition-versions/status-says-stored',
    rule: 'A writer of the status can set storedVersions freely, but not to an empty list.',
    async run(place) {
      const widgets = await twoVersions(place)
      const say = async (storedVersions: readonly string[]): Promise<unknown> =>
        ok(
          await place.patch('customresourcedefinitions', `${widgets.name}/status`, {
            body: { status: { storedVersions } },
          }),
          200,
        ).status['storedVersions']
      assert.deepEqual(await say(['v1', 'v2']), ['v1', 'v2'])
      assert.deepEqual(await say([]), ['v1'])
    },
  },
  {
    id: 'server/definition-versions/move-storage',
    rule: 'Objects in the old storage version stay readable; any write, even without a change, stores them in the new one.',
    async run(place) {
      const widgets = await twoVersions(place, { v2: schemaOf({ a: text }) })
      const made = ok(await widgets.create('one', { spec: { a: 'x' } }), 201)
      await widgets.change(({ versions }) => {
        for (const one of versions) one.storage = one.name === 'v2'
      })
      const read = ok(await widgets.get('one', 'v2'), 200)
      assert.equal(read.metadata.resourceVersion, made.metadata.resourceVersion)
      const written = ok(await widgets.put('one', { spec: { a: 'x' } }, { version: 'v2' }), 200)
      expectMatch(written, { metadata: { generation: 1, uid: made.metadata.uid }, spec: { a: 'x' } })
      assert.notEqual(written.metadata.resourceVersion, made.metadata.resourceVersion)
    },
  },
  {
    id: 'server/definition-versions/add',
    rule: 'An added version immediately serves existing objects.',
    async run(place) {
      const widgets = await defineCustom(place, { versions: [v1] })
      ok(await widgets.create('one', { spec: { a: 'x' } }), 201)
      await widgets.change((spec) => {
        spec.versions.push({ ...structuredClone(v2) } as never)
      })
      assert.deepEqual(
        ok(
          await eventually(
            () => widgets.get('one', 'v2'),
            ({ status }) => status === 200,
          ),
        ).spec,
        { a: 'x' },
      )
    },
  },
  {
    id: 'server/definition-versions/owned-in-both',
    rule: 'A watch in one version sends events for writes in another.',
    async run(place) {
      const widgets = await twoVersions(place)
      const stream = await widgets.watch()
      ok(await widgets.create('one', {}, { version: 'v2' }), 201)
      ok(await widgets.patch('one', { spec: { a: 'b' } }, { version: 'v2' }), 200)
      assert.deepEqual(brief(await stream.take(2)), ['ADDED one', 'MODIFIED one'])
    },
  },
]

export const definitionVersionCases: readonly ServerCase[] = [...conversion, ...serving, ...deprecation, ...storing]
