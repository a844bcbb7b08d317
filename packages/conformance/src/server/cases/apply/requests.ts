/**
 * Requirements for an apply request, and its responses.
 */
import assert from 'node:assert/strict'
import { causesOf } from '../../causes.ts'
import { defineCustom } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { managersOf, ownersOf } from '../../owners.ts'
import { configMap } from '../../samples.ts'
import { applyType as type } from '../../target.ts'
import type { Answer } from '../../answer.ts'
import type { AskOptions } from '../../client.ts'
import type { Place, ServerCase } from '../../target.ts'

/** Applies a ConfigMap named `a`. */
function apply(
  place: Place,
  body: unknown,
  { query = { fieldManager: 'm' }, ...options }: AskOptions = {},
): Promise<Answer> {
  return place.patch('configmaps', 'a', { type, body, query, ...options })
}

const saying: readonly ServerCase[] = [
  {
    id: 'server/apply-request/manager-needed',
    rule: 'An apply needs a fieldManager.',
    async run(place) {
      const answer = await apply(place, configMap('a'), { query: {} })
      expectStatus(answer, { code: 422, reason: 'Invalid', details: { group: 'meta.k8s.io', kind: 'PatchOptions' } })
      assert.deepEqual(causesOf(answer, place), ['fieldManager: Required value: is required for apply patch'])
    },
  },
  {
    id: 'server/apply-request/manager-name',
    rule: 'A fieldManager is short and printable, for every write.',
    async run(place) {
      expectStatus(await apply(place, configMap('a'), { query: { fieldManager: 'x'.repeat(129) } }), {
        code: 422,
        reason: 'Invalid',
        message: /fieldManager: Too long: may not be more than 128 bytes/,
      })
      expectStatus(await apply(place, configMap('a'), { query: { fieldManager: 'a\tb' } }), {
        code: 422,
        reason: 'Invalid',
        message: /fieldManager: Invalid value: "a\\tb": invalid character U\+0009 \(at position 1\)/,
      })
      expectStatus(await place.post('configmaps', configMap('b'), { query: { fieldManager: 'x'.repeat(129) } }), {
        code: 422,
        reason: 'Invalid',
        details: { kind: 'CreateOptions' },
      })
    },
  },
  {
    id: 'server/apply-request/force-elsewhere',
    rule: 'Only an apply can be forced.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')), 201)
      const answer = await place.patch('configmaps', 'a', { body: { data: { a: '1' } }, query: { force: true } })
      expectStatus(answer, { code: 422, reason: 'Invalid', details: { kind: 'PatchOptions' } })
      assert.deepEqual(causesOf(answer, place), ['force: Forbidden: may not be specified for non-apply patch'])
    },
  },
  {
    id: 'server/apply-request/managed-fields-in-body',
    rule: 'The body of an apply must not contain managedFields.',
    async run(place) {
      const managedFields = [
        { manager: 'm', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} },
      ]
      expectStatus(await apply(place, configMap('a', { metadata: { managedFields } })), {
        code: 400,
        reason: 'BadRequest',
        message: 'metadata.managedFields must be nil',
      })
    },
  },
  {
    id: 'server/apply-request/other-version',
    rule: 'The body must have the version and kind of the URL.',
    async run(place) {
      expectStatus(await apply(place, { ...configMap('a'), apiVersion: 'v2' }), {
        code: 400,
        reason: 'BadRequest',
        message: 'invalid object type: /v2, Kind=ConfigMap',
      })
      expectStatus(await apply(place, { ...configMap('a'), kind: 'Secret' }), {
        code: 400,
        reason: 'BadRequest',
        message: 'invalid object type: /v1, Kind=Secret',
      })
    },
  },
  {
    id: 'server/apply-request/no-type',
    rule: 'A body without apiVersion or kind is rejected.',
    async run(place) {
      for (const gone of ['apiVersion', 'kind']) {
        const answer = await apply(place, { ...configMap('a'), [gone]: undefined })
        assert.ok(answer.status >= 400, String(answer))
        expectMatch(answer.json, { kind: 'Status', message: /[Kk]ind|apiVersion|apply/ })
      }
    },
  },
  {
    id: 'server/apply-request/unreadable',
    rule: 'A body that is not YAML is rejected.',
    async run(place) {
      expectStatus(await apply(place, 'a: b: c'), { code: 400, reason: 'BadRequest', message: /error decoding YAML/ })
    },
  },
  {
    id: 'server/apply-request/names',
    rule: 'The name is required and must match the URL; the namespace can be omitted.',
    async run(place) {
      expectStatus(await apply(place, configMap('b')), {
        code: 400,
        reason: 'BadRequest',
        message: 'the name of the object (b) does not match the name on the URL (a)',
      })
      expectStatus(await apply(place, configMap('a', { metadata: { namespace: 'other' } })), {
        code: 400,
        reason: 'BadRequest',
        message: /namespace/,
      })
      expectStatus(await apply(place, { apiVersion: 'v1', kind: 'ConfigMap', data: { x: '1' } }), {
        code: 400,
        reason: 'BadRequest',
        message: 'the name of the object (a based on URL) was undeterminable: name must be provided',
      })
      expectMatch(ok(await apply(place, configMap('a')), 201), { metadata: { name: 'a', namespace: place.namespace } })
    },
  },
  {
    id: 'server/apply-request/namespace-missing',
    rule: 'An apply in a missing namespace is a 404.',
    async run(place) {
      expectStatus(
        await place.client.request('PATCH', `/api/v1/namespaces/${place.unique('none')}/configmaps/a`, {
          type,
          body: configMap('a'),
          query: { fieldManager: 'm' },
        }),
        { code: 404, reason: 'NotFound', details: { kind: 'namespaces' } },
      )
    },
  },
  {
    id: 'server/apply-request/yaml-and-json',
    rule: 'An apply can be YAML or JSON.',
    async run(place) {
      expectMatch(
        ok(await apply(place, 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n'), 201),
        { data: { x: '1' } },
      )
      expectMatch(ok(await apply(place, configMap('a', { data: { x: '2' } })), 200), { data: { x: '2' } })
    },
  },
  {
    id: 'server/apply-request/duplicates',
    rule: 'An apply with a duplicate list key is rejected.',
    async run(place) {
      const widgets = await defineCustom(place, {
        spec: {
          type: 'object',
          properties: {
            l: {
              type: 'array',
              'x-kubernetes-list-type': 'map',
              'x-kubernetes-list-map-keys': ['name'],
              items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
            },
            s: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
          },
        },
      })
      expectStatus(await widgets.apply('one', { spec: { l: [{ name: 'x' }, { name: 'x' }] } }), {
        code: 500,
        message: /failed to create typed patch object .*: \.spec\.l: duplicate entries for key \[name="x"\]/,
      })
      expectStatus(await widgets.apply('one', { spec: { s: ['x', 'x'] } }), {
        code: 500,
        message: /\.spec\.s: duplicate entries for key \[="x"\]/,
      })
    },
  },
  {
    id: 'server/apply-request/wrong-types',
    rule: 'An apply with a value of the wrong type is rejected.',
    async run(place) {
      const widgets = await defineCustom(place, {
        spec: {
          type: 'object',
          properties: { a: { type: 'string' }, o: { type: 'object', properties: { b: { type: 'string' } } } },
        },
      })
      expectStatus(await widgets.apply('one', { spec: { o: 'text' } }), {
        code: 500,
        message: /\.spec\.o: expected map, got &?\{?.*text/,
      })
      expectStatus(await widgets.apply('one', { spec: { a: 5 } }), {
        code: 500,
        message: /\.spec\.a: expected string, got/,
      })
    },
  },
  {
    id: 'server/apply-request/null',
    rule: 'An apply with a null in a field that is not nullable is rejected; other writes drop the null.',
    async run(place) {
      const widgets = await defineCustom(place, { spec: { type: 'object', properties: { a: { type: 'string' } } } })
      expectStatus(await widgets.apply('one', { spec: { a: null } }), {
        code: 422,
        reason: 'Invalid',
        message: /spec\.a in body must be of type string: "null"/,
      })
      assert.deepEqual(ok(await widgets.create('one', { spec: { a: null } }), 201).spec, {})
    },
  },
]

const preconditions: readonly ServerCase[] = [
  {
    id: 'server/apply-request/uid-to-create',
    rule: 'An apply with a uid does not create.',
    async run(place) {
      expectStatus(await apply(place, configMap('a', { metadata: { uid: 'mine' } })), {
        code: 409,
        reason: 'Conflict',
        message: /uid mismatch: the provided object specified uid mine, and no existing object was found/,
      })
    },
  },
  {
    id: 'server/apply-request/version',
    rule: 'An apply with a resourceVersion applies only to that version.',
    async run(place) {
      const made = ok(await apply(place, configMap('a', { data: { x: '1' } })), 201)
      const { resourceVersion } = made.metadata
      const next = ok(await apply(place, configMap('a', { data: { x: '2' }, metadata: { resourceVersion } })), 200)
      expectStatus(await apply(place, configMap('a', { data: { x: '3' }, metadata: { resourceVersion } })), {
        code: 409,
        reason: 'Conflict',
        message: /the object has been modified/,
      })
      assert.deepEqual(ownersOf(next), { 'm Apply': ['.data.x'] })
    },
  },
  {
    id: 'server/apply-request/uid',
    rule: 'An apply with a uid applies only to that object.',
    async run(place) {
      const {
        metadata: { uid },
      } = ok(await apply(place, configMap('a')), 201)
      ok(await apply(place, configMap('a', { data: { x: '1' }, metadata: { uid } })), 200)
      expectStatus(await apply(place, configMap('a', { metadata: { uid: 'other' } })), {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.uid: Invalid value: "other": field is immutable/,
      })
    },
  },
  {
    id: 'server/apply-request/system-fields',
    rule: 'Server-set metadata in an apply is accepted and not owned.',
    async run(place) {
      const made = ok(
        await apply(
          place,
          configMap('a', { data: { x: '1' }, metadata: { creationTimestamp: null, labels: { l: '1' } } }),
        ),
        201,
      )
      const { managedFields: _, ...metadata } = made.metadata
      const next = ok(await apply(place, { ...made, metadata }), 200)
      assert.deepEqual(ownersOf(next), { 'm Apply': ['.data.x', '.metadata.labels.l'] })
    },
  },
]

const outcome: readonly ServerCase[] = [
  {
    id: 'server/apply-request/no-op',
    rule: 'A repeated apply is a no-op: neither resourceVersion nor time changes.',
    async run(place) {
      const body = configMap('a', { data: { x: '1' }, metadata: { labels: { l: '1' } } })
      const made = ok(await apply(place, body), 201)
      assert.deepEqual(ok(await apply(place, body), 200), made)
      assert.deepEqual(ok(await apply(place, body, { query: { fieldManager: 'm', force: true } }), 200), made)
    },
  },
  {
    id: 'server/apply-request/dry-run',
    rule: 'A dry-run apply shows the result and stores nothing, even if it would create.',
    async run(place) {
      const query = { fieldManager: 'm', dryRun: 'All' }
      expectMatch(ok(await apply(place, configMap('a', { data: { x: '1' } }), { query }), 201), {
        data: { x: '1' },
        metadata: { managedFields: [{ manager: 'm', operation: 'Apply' }] },
      })
      assert.equal((await place.get('configmaps', 'a')).status, 404)
      const made = ok(await apply(place, configMap('a', { data: { x: '1' } })), 201)
      expectMatch(ok(await apply(place, configMap('a', { data: { y: '1' } }), { query }), 200), {
        data: { x: undefined, y: '1' },
      })
      assert.deepEqual(ok(await place.get('configmaps', 'a')), made)
      expectStatus(
        await apply(place, configMap('a', { data: { x: '2' } }), { query: { ...query, fieldManager: 'n' } }),
        { code: 409, reason: 'Conflict' },
      )
    },
  },
  {
    id: 'server/apply-request/conflict-status',
    rule: 'A conflict lists the number of conflicts, the managers and the fields, as text and as causes.',
    async run(place) {
      ok(await apply(place, configMap('a', { data: { x: '1', y: '1' } })), 201)
      expectStatus(await apply(place, configMap('a', { data: { x: '2' } }), { query: { fieldManager: 'n' } }), {
        code: 409,
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "m": .data.x',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "m"', field: '.data.x' }] },
      })
      expectStatus(await apply(place, configMap('a', { data: { x: '2', y: '2' } }), { query: { fieldManager: 'n' } }), {
        code: 409,
        message: 'Apply failed with 2 conflicts: conflicts with "m":\n- .data.x\n- .data.y',
      })
    },
  },
  {
    id: 'server/apply-request/conflict-with-updater',
    rule: 'A conflict with an updater names the version and the time of its write.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { data: { x: '1' } }), { query: { fieldManager: 'u' } }), 201)
      expectStatus(await apply(place, configMap('a', { data: { x: '2' } })), {
        code: 409,
        message: /^Apply failed with 1 conflict: conflict with "u" using v1(?: at 20\S+Z)?: \.data\.x$/,
        details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.x' }] },
      })
    },
  },
  {
    id: 'server/apply-request/deleting',
    rule: 'A terminating object can be applied, but without new finalizers.',
    async run(place) {
      ok(await apply(place, configMap('a', { metadata: { finalizers: ['example.com/hold'] } })), 201)
      ok(await place.delete('configmaps', 'a'), 200)
      ok(await apply(place, configMap('a', { data: { x: '1' }, metadata: { finalizers: ['example.com/hold'] } })), 200)
      expectStatus(
        await apply(place, configMap('a', { metadata: { finalizers: ['example.com/hold', 'example.com/new'] } })),
        { code: 422, reason: 'Invalid', message: /no new finalizers can be added if the object is being deleted/ },
      )
      ok(await apply(place, configMap('a')), 200)
      assert.equal((await place.get('configmaps', 'a')).status, 404)
    },
  },
  {
    id: 'server/apply-request/default-manager',
    rule: 'Without a fieldManager, writes other than apply are recorded under the name of the program in the user agent.',
    async run(place) {
      const headers = { 'user-agent': 'judge/v1.2.3 (linux/amd64)' }
      assert.deepEqual(
        managersOf(ok(await place.post('configmaps', configMap('a', { data: { x: '1' } }), { headers }), 201)),
        ['judge Update'],
      )
      assert.deepEqual(
        managersOf(
          ok(
            await place.patch('configmaps', 'a', {
              body: { data: { y: '1' } },
              query: { fieldManager: 'named' },
              headers,
            }),
          ),
        ).sort(),
        ['judge Update', 'named Update'],
      )
    },
  },
]

export const applyRequestCases: readonly ServerCase[] = [...saying, ...preconditions, ...outcome]
