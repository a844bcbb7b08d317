/**
 * managedFields: for every kind of write, per subresource, across versions, and how entries end.
 */
import assert from 'node:assert/strict'
import type { Loose } from '../../answer.ts'
import { anything, defineCustom, withSpec } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { entriesOf, managersOf, ownersOf } from '../../owners.ts'
import { configMap, sample } from '../../samples.ts'
import { applyType, patchTypes } from '../../target.ts'
import type { Place, ServerCase } from '../../target.ts'

const by = (fieldManager: string): { query: { fieldManager: string } } => ({ query: { fieldManager } })

function applyMap(place: Place, fields: Readonly<Record<string, unknown>>, manager = 'm'): Promise<Loose> {
  return place
    .patch('configmaps', 'a', { type: applyType, body: configMap('a', fields), ...by(manager) })
    .then((answer) => ok(answer))
}

const writes: readonly ServerCase[] = [
  {
    id: 'server/managed/every-write',
    rule: 'Create, replace and every patch type each leave an entry.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a', { data: { a: '1', z: '1' } }), by('poster')), 201)
      expectMatch(entriesOf(made), [
        {
          manager: 'poster',
          operation: 'Update',
          apiVersion: 'v1',
          fieldsType: 'FieldsV1',
          time: /^20.*Z$/,
          subresource: undefined,
        },
      ])
      ok(
        await place.put('configmaps', 'a', {
          body: configMap('a', { data: { a: '1', b: '2', z: '1' } }),
          ...by('putter'),
        }),
      )
      ok(await place.patch('configmaps', 'a', { body: { data: { c: '3' } }, ...by('merger') }))
      ok(
        await place.patch('configmaps', 'a', {
          body: [{ op: 'add', path: '/data/d', value: '4' }],
          type: patchTypes.json,
          ...by('jason'),
        }),
      )
      ok(
        await place.patch('configmaps', 'a', {
          body: { data: { e: '5' } },
          type: patchTypes.strategic,
          ...by('strategist'),
        }),
      )
      const end = await applyMap(place, { data: { f: '6' } }, 'applier')
      assert.deepEqual(ownersOf(end), {
        'poster Update': ['.data', '.data.a', '.data.z'],
        'putter Update': ['.data.b'],
        'merger Update': ['.data.c'],
        'jason Update': ['.data.d'],
        'strategist Update': ['.data.e'],
        'applier Apply': ['.data.f'],
      })
    },
  },
  {
    id: 'server/managed/metadata',
    rule: 'Labels, annotations, finalizers and owner references have managers; server-set fields have none.',
    async run(place) {
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u-1' }
      const made = await applyMap(place, {
        metadata: {
          labels: { l: '1' },
          annotations: { n: '1' },
          finalizers: ['example.com/f'],
          ownerReferences: [owner],
        },
      })
      assert.deepEqual(ownersOf(made), {
        'm Apply': [
          '.metadata.annotations.n',
          '.metadata.finalizers["example.com/f"]',
          '.metadata.labels.l',
          '.metadata.ownerReferences[uid="u-1"]',
        ],
      })
      expectMatch(await applyMap(place, {}), {
        metadata: { labels: undefined, annotations: undefined, finalizers: undefined, ownerReferences: undefined },
      })
    },
  },
  {
    id: 'server/managed/time',
    rule: 'The time of an entry is that of the last write that changed it; other entries keep theirs.',
    async run(place) {
      const first = await applyMap(place, { data: { x: '1' } }, 'one')
      const second = await applyMap(place, { data: { y: '1' } }, 'two')
      const timeOf = (object: Loose, manager: string): string | undefined =>
        entriesOf(object).find((entry) => entry.manager === manager)?.time
      assert.equal(timeOf(second, 'one'), timeOf(first, 'one'))
      assert.match(timeOf(second, 'two') ?? '', /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    },
  },
  {
    id: 'server/managed/order',
    rule: 'Appliers come before updaters.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { x: '1' } }), by('aaa')), 201)
      assert.deepEqual(managersOf(await applyMap(place, { data: { y: '1' } }, 'zzz')), ['zzz Apply', 'aaa Update'])
    },
  },
  {
    id: 'server/managed/loses-last-field',
    rule: 'A manager without fields has no entry.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { x: '1' } }), by('u')), 201)
      ok(await place.patch('configmaps', 'a', { body: { data: { x: '2' } }, ...by('v') }))
      const end = ok(await place.patch('configmaps', 'a', { body: { data: null }, ...by('w') }))
      assert.deepEqual(managersOf(end), [])
    },
  },
  {
    id: 'server/managed/many-updaters',
    rule: 'With more than ten updaters the oldest are merged into one entry.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { k0: '0' } }), by('u0')), 201)
      for (let index = 1; index <= 10; index++)
        ok(await place.patch('configmaps', 'a', { body: { data: { [`k${index}`]: '1' } }, ...by(`u${index}`) }))
      const owners = ownersOf(ok(await place.get('configmaps', 'a')))
      assert.equal(Object.keys(owners).length, 10)
      const ancient = owners['ancient-changes Update'] ?? assert.fail(JSON.stringify(owners))
      assert.equal(ancient.filter((path) => path !== '.data').length, 2)
    },
  },
]

const resets: readonly ServerCase[] = [
  {
    id: 'server/managed/kept-when-absent',
    rule: 'A replace without managedFields keeps them.',
    async run(place) {
      const made = await applyMap(place, { data: { x: '1' } })
      const { managedFields: _, ...metadata } = made.metadata
      const next = ok(
        await place.put('configmaps', 'a', { body: { ...made, metadata, data: { x: '1', y: '2' } }, ...by('u') }),
      )
      assert.deepEqual(ownersOf(next), { 'm Apply': ['.data.x'], 'u Update': ['.data.y'] })
    },
  },
  {
    id: 'server/managed/cleared',
    rule: 'A list with one empty entry, or an empty list, clears all managers.',
    async run(place) {
      for (const managedFields of [[{}], []]) {
        await applyMap(place, { data: { x: '1' } })
        const cleared = ok(await place.patch('configmaps', 'a', { body: { metadata: { managedFields } }, ...by('u') }))
        assert.deepEqual(entriesOf(cleared), [])
      }
    },
  },
  {
    id: 'server/managed/before-first-apply',
    rule: 'The first apply assigns existing untracked fields to the manager before-first-apply.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { x: '1' } }), by('u')), 201)
      ok(await place.patch('configmaps', 'a', { body: { metadata: { managedFields: [{}] } } }))
      assert.deepEqual(ownersOf(await applyMap(place, { data: { y: '1' } })), {
        'm Apply': ['.data.y'],
        'before-first-apply Update': ['.data', '.data.x'],
      })
      expectStatus(
        await place.patch('configmaps', 'a', {
          type: applyType,
          body: configMap('a', { data: { x: '2' } }),
          ...by('m'),
        }),
        { code: 409, message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x' },
      )
    },
  },
  {
    id: 'server/managed/untracked-stays-untracked',
    rule: 'After managers are cleared, updates are not tracked until an apply.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { x: '1' } }), by('u')), 201)
      ok(await place.patch('configmaps', 'a', { body: { metadata: { managedFields: [{}] } } }))
      assert.deepEqual(
        managersOf(ok(await place.patch('configmaps', 'a', { body: { data: { y: '1' } }, ...by('v') }))),
        [],
      )
    },
  },
  {
    id: 'server/managed/edited',
    rule: 'A replace can rewrite managedFields.',
    async run(place) {
      const made = await applyMap(place, { data: { x: '1' } })
      const managedFields = entriesOf(made).map((entry) => ({ ...entry, manager: 'heir' }))
      const next = ok(
        await place.put('configmaps', 'a', { body: { ...made, metadata: { ...made.metadata, managedFields } } }),
      )
      assert.deepEqual(managersOf(next), ['heir Apply'])
    },
  },
  {
    id: 'server/managed/invalid',
    rule: 'Invalid managedFields in a write are ignored.',
    async run(place) {
      const made = await applyMap(place, { data: { x: '1' } })
      const entry = { manager: 'm', operation: 'Explode', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} }
      for (const managedFields of [
        [entry],
        [{ ...entry, operation: 'Update', fieldsType: 'FieldsV7' }],
        [{ ...entry, operation: 'Update', fieldsV1: { nonsense: {} } }],
      ]) {
        assert.deepEqual(ok(await place.patch('configmaps', 'a', { body: { metadata: { managedFields } } }), 200), made)
      }
    },
  },
]

const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
const parts = {
  spec: { type: 'object', properties: { a: { type: 'string' }, replicas: { type: 'integer' } } },
  version: { subresources: { status: {}, scale } },
}

const subresources: readonly ServerCase[] = [
  {
    id: 'server/managed/status',
    rule: 'A manager has one entry for the object and one for its status.',
    async run(place) {
      const widgets = await defineCustom(place, parts)
      ok(await widgets.apply('one', { spec: { a: 'x' } }, { manager: 'm' }), 201)
      const next = ok(await widgets.apply('one', { status: { s: 1 } }, { manager: 'm', part: 'status' }), 200)
      assert.deepEqual(ownersOf(next), { 'm Apply': ['.spec.a'], 'm Apply status': ['.status.s'] })
      const patched = ok(await widgets.patch('one/status', { status: { t: 2 } }, by('u')), 200)
      expectMatch(
        entriesOf(patched).find(({ manager }) => manager === 'u'),
        { operation: 'Update', subresource: 'status' },
      )
    },
  },
  {
    id: 'server/managed/status-ignores-spec',
    rule: 'Spec fields in an apply to the status are neither stored nor owned, and vice versa.',
    async run(place) {
      const widgets = await defineCustom(place, parts)
      const made = ok(await widgets.apply('one', { spec: { a: 'x' }, status: { s: 1 } }, { manager: 'm' }), 201)
      assert.deepEqual([made.status, ownersOf(made)], [undefined, { 'm Apply': ['.spec.a'] }])
      const next = ok(
        await widgets.apply(
          'one',
          { spec: { a: 'y' }, status: { s: 2 }, metadata: { labels: { l: '1' } } },
          { manager: 'n', part: 'status' },
        ),
        200,
      )
      expectMatch(next, { spec: { a: 'x' }, status: { s: 2 } })
      assert.deepEqual(ownersOf(next)['n Apply status'], ['.status.s'])
    },
  },
  {
    id: 'server/managed/status-conflict',
    rule: 'A conflict in the status names the subresource.',
    async run(place) {
      const widgets = await defineCustom(place, parts)
      ok(await widgets.create('one', { spec: { a: 'x' } }), 201)
      ok(await widgets.patch('one/status', { status: { s: 1 } }, by('u')), 200)
      const answer = await widgets.apply('one', { status: { s: 2 } }, { manager: 'm', part: 'status' })
      expectStatus(answer, {
        code: 409,
        message:
          /^Apply failed with 1 conflict: conflict with "u" with subresource "status" using .*\/v1: \.status\.s$/,
      })
    },
  },
  {
    id: 'server/managed/scale',
    rule: 'A scale write owns the replicas, under the subresource scale; an applier that stops applying them keeps the value.',
    async run(place) {
      const widgets = await defineCustom(place, parts)
      ok(await widgets.apply('one', { spec: { a: 'x', replicas: 1 } }, { manager: 'm' }), 201)
      ok(await widgets.patch('one/scale', { spec: { replicas: 5 } }, by('scaler')), 200)
      const scaled = ok(await widgets.get('one'))
      assert.deepEqual(ownersOf(scaled), { 'm Apply': ['.spec.a'], 'scaler Update scale': ['.spec.replicas'] })
      expectStatus(await widgets.apply('one', { spec: { a: 'x', replicas: 1 } }, { manager: 'm' }), {
        code: 409,
        message: /conflict with "scaler" with subresource "scale" using .*: \.spec\.replicas/,
      })
      expectMatch(ok(await widgets.apply('one', { spec: { a: 'x' } }, { manager: 'm' }), 200), {
        spec: { replicas: 5 },
      })
    },
  },
  {
    id: 'server/managed/scale-shows-none',
    rule: 'Scale shows no managers while only appliers of the object have set the replicas.',
    async run(place) {
      const widgets = await defineCustom(place, parts)
      ok(await widgets.apply('one', { spec: { a: 'x', replicas: 1 } }, { manager: 'm' }), 201)
      assert.deepEqual(entriesOf(ok(await widgets.get('one/scale'), 200)), [])
    },
  },
]

const atomicSpec = {
  type: 'object',
  properties: {
    l: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'object', properties: { name: { type: 'string' }, v: { type: 'string' } } },
    },
    k: { type: 'string' },
  },
}
const keyedSpec = {
  type: 'object',
  properties: {
    l: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, v: { type: 'string' } } },
    },
    k: { type: 'string' },
  },
}

const changes: readonly ServerCase[] = [
  {
    id: 'server/managed/becomes-atomic',
    rule: 'When a list becomes atomic, the owners of items own the list.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: keyedSpec })
      ok(await widgets.apply('one', { spec: { l: [{ name: 'x', v: '1' }] } }, { manager: 'm' }), 201)
      await widgets.change(withSpec(atomicSpec))
      const next = ok(await widgets.apply('one', { spec: { k: '1' } }, { manager: 'n' }), 200)
      assert.deepEqual(ownersOf(next), { 'm Apply': ['.spec.l'], 'n Apply': ['.spec.k'] })
    },
  },
  {
    id: 'server/managed/becomes-granular',
    rule: 'When an atomic list becomes a map list, its owner still owns it, and others can add items.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: atomicSpec })
      ok(await widgets.apply('one', { spec: { l: [{ name: 'x', v: '1' }] } }, { manager: 'm' }), 201)
      await widgets.change(withSpec(keyedSpec))
      const next = ok(await widgets.apply('one', { spec: { l: [{ name: 'y', v: '2' }] } }, { manager: 'n' }), 200)
      expectMatch(next, { spec: { l: [{ name: 'x' }, { name: 'y' }] } })
    },
  },
  {
    id: 'server/managed/other-version',
    rule: 'A manager that applies in another version has one entry, in the new version.',
    async run(place) {
      const versions = ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything } } },
      }))
      const widgets = await defineCustom(place, { versions })
      ok(await widgets.apply('one', { spec: { a: '1', b: '1' } }, { manager: 'm' }), 201)
      const next = ok(await widgets.apply('one', { spec: { a: '1' } }, { manager: 'm', version: 'v2' }), 200)
      assert.deepEqual(next.spec, { a: '1' })
      expectMatch(entriesOf(next), [{ manager: 'm', apiVersion: `${widgets.group}/v2` }])
      ok(await widgets.patch('one', { spec: { c: '1' } }, { ...by('u'), version: 'v1' }))
      const both = ok(await widgets.patch('one', { spec: { d: '1' } }, { ...by('u'), version: 'v2' }))
      assert.deepEqual(
        entriesOf(both)
          .filter(({ manager }) => manager === 'u')
          .map(({ apiVersion }) => apiVersion)
          .sort(),
        [`${widgets.group}/v1`, `${widgets.group}/v2`],
      )
    },
  },
  {
    id: 'server/managed/version-not-served',
    rule: 'An entry in a version that is no longer served stays, and its manager keeps its fields.',
    async run(place) {
      const versions = ['v1', 'v2'].map((name) => ({
        name,
        served: true,
        storage: name === 'v1',
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: anything } } },
      }))
      const widgets = await defineCustom(place, { versions })
      ok(await widgets.apply('one', { spec: { a: '1' } }, { manager: 'old', version: 'v2' }), 201)
      await widgets.change((spec) => {
        for (const one of spec.versions) one.served = one.name === 'v1'
      })
      const next = ok(await widgets.apply('one', { spec: { b: '1' } }, { manager: 'new' }), 200)
      assert.deepEqual(managersOf(next).sort(), ['new Apply', 'old Apply'])
      expectStatus(await widgets.apply('one', { spec: { a: '2' } }, { manager: 'new' }), {
        code: 409,
        message: /conflict with "old": \.spec\.a/,
      })
    },
  },
  {
    id: 'server/managed/last-applied',
    rule: 'After client-side apply, kubectl owns the fields of its last-applied annotation: no conflict with itself.',
    async run(place) {
      const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
      const applied = configMap('a', { data: { x: '1', gone: '1' } })
      ok(
        await place.post(
          'configmaps',
          configMap('a', {
            data: { x: '1', gone: '1' },
            metadata: { annotations: { [annotation]: JSON.stringify(applied) } },
          }),
          by('kubectl-client-side-apply'),
        ),
        201,
      )
      const next = await applyMap(place, { data: { x: '2' } }, 'kubectl')
      expectMatch(next, { data: { x: '2' } })
      assert.match(next.metadata.annotations[annotation] ?? '', /"x":"2"/)
      expectStatus(
        await place.patch('configmaps', 'a', {
          type: applyType,
          body: configMap('a', { data: { x: '3' } }),
          ...by('other'),
        }),
        { code: 409, reason: 'Conflict' },
      )
    },
  },
]

const lists: readonly ServerCase[] = [
  {
    id: 'server/managed/in-lists-and-watches',
    rule: 'Lists, watches and deletions include managedFields.',
    async run(place) {
      const stream = await place.watch('configmaps', { fieldSelector: 'metadata.name=a' })
      await applyMap(place, { data: { x: '1' } })
      const { object } = await stream.next()
      assert.deepEqual(managersOf(object), ['m Apply'])
      const [first] = ok(await place.list('configmaps', { fieldSelector: 'metadata.name=a' })).items
      assert.deepEqual(first && managersOf(first), ['m Apply'])
    },
  },
  {
    id: 'server/managed/daemon-set-annotation',
    rule: 'The writer of a DaemonSet owns the annotation with the count of its templates; who applies one does not.',
    async run(place) {
      const annotation = '.metadata.annotations.deprecated.daemonset.template.generation'
      const made = ok(await place.post('daemonsets', sample('daemonsets', 'a'), by('m')), 201)
      assert.ok(ownersOf(made)['m Update']?.includes(annotation), JSON.stringify(ownersOf(made)))
      const body = sample('daemonsets', 'b')
      const applied = ok(await place.patch('daemonsets', 'b', { type: applyType, body, ...by('m') }), 201)
      assert.ok(!ownersOf(applied)['m Apply']?.includes(annotation))
    },
  },
  {
    id: 'server/managed/namespaces-and-definitions',
    rule: 'Cluster-scoped kinds and CRDs are applied like any other.',
    async run(place) {
      const name = place.unique('role')
      const role = sample('clusterroles', name)
      const made = ok(await place.patch('clusterroles', name, { type: applyType, body: role, ...by('m') }), 201)
      assert.deepEqual(ownersOf(made), { 'm Apply': ['.rules'] })
      ok(await place.delete('clusterroles', name))
    },
  },
]

export const managedCases: readonly ServerCase[] = [...writes, ...resets, ...subresources, ...changes, ...lists]
