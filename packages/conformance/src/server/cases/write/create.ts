/**
 * Fields that a create sets, keeps, ignores and rejects.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok, warningsOf } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const systemFields: readonly ServerCase[] = [
  {
    id: 'server/create/answers-what-was-stored',
    rule: 'A create returns 201 with the stored object: kind, uid, resourceVersion and creation timestamp.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a', { data: { k: 'v' } })), 201)
      expectMatch(made, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        data: { k: 'v' },
        metadata: {
          name: 'a',
          namespace: place.namespace,
          uid: uuid,
          resourceVersion: /^[1-9]\d*$/,
          creationTimestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
          generation: undefined,
          selfLink: undefined,
        },
      })
      assert.deepEqual(ok(await place.get('configmaps', 'a')), made)
    },
  },
  {
    id: 'server/create/ignores-system-fields',
    rule: 'The server ignores a uid, creation and deletion timestamps and a generation sent by the client.',
    async run(place) {
      const made = ok(
        await place.post(
          'configmaps',
          configMap('a', {
            metadata: {
              uid: 'mine',
              creationTimestamp: '2001-01-01T00:00:00Z',
              deletionTimestamp: '2001-01-01T00:00:00Z',
              deletionGracePeriodSeconds: 5,
              generation: 9,
              selfLink: '/x',
            },
          }),
        ),
        201,
      )
      expectMatch(made.metadata, { uid: uuid, deletionTimestamp: undefined, deletionGracePeriodSeconds: undefined })
      assert.notEqual(made.metadata.creationTimestamp, '2001-01-01T00:00:00Z')
      assert.equal(made.metadata['selfLink'], undefined)
    },
  },
  {
    id: 'server/create/refuses-resource-version',
    rule: 'A create with a resourceVersion is rejected and stores nothing.',
    async run(place) {
      const answer = await place.post('configmaps', configMap('a', { metadata: { resourceVersion: '1' } }))
      assert.ok(answer.status >= 400, String(answer))
      expectMatch(answer.json, {
        kind: 'Status',
        message: 'resourceVersion should not be set on objects to be created',
      })
      expectStatus(await place.get('configmaps', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/create/resource-version-is-refused-last',
    rule: 'Other errors are reported before a resourceVersion is; a dry run accepts a resourceVersion because it stores nothing.',
    async run(place) {
      const metadata = { resourceVersion: '1' }
      expectStatus(await place.post('configmaps', configMap('-', { metadata })), { code: 422, reason: 'Invalid' })
      ok(await place.post('configmaps', configMap('a', { metadata }), { query: { dryRun: 'All' } }), 201)
      expectStatus(await place.get('configmaps', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/create/drops-status',
    rule: 'A create drops the status that the client sends.',
    async run(place) {
      const made = ok(
        await place.post('deployments', sample('deployments', 'a', { status: { replicas: 7, observedGeneration: 9 } })),
        201,
      )
      assert.deepEqual(made.status, {})
    },
  },
  {
    id: 'server/create/generation-starts-at-one',
    rule: 'A kind with generations starts at 1, whatever the client sends.',
    async run(place) {
      for (const resource of [
        'deployments',
        'ingresses',
        'poddisruptionbudgets',
        'networkpolicies',
        'jobs',
        'statefulsets',
      ] as const) {
        expectMatch(
          ok(await place.post(resource, sample(resource, 'a', { metadata: { generation: 9 } })), 201).metadata,
          { generation: 1 },
          `${resource} `,
        )
      }
    },
  },
  {
    id: 'server/create/no-generation-without-spec',
    rule: 'ConfigMaps, Secrets, ServiceAccounts, Leases and RBAC kinds have no generation.',
    async run(place) {
      for (const resource of ['configmaps', 'secrets', 'serviceaccounts', 'leases', 'roles', 'rolebindings'] as const) {
        expectMatch(
          ok(await place.post(resource, sample(resource, 'a')), 201).metadata,
          { generation: undefined },
          `${resource} `,
        )
      }
    },
  },
]

const identity: readonly ServerCase[] = [
  {
    id: 'server/create/other-namespace',
    rule: 'A namespace in the body that differs from the path is a bad request.',
    async run(place) {
      expectStatus(await place.post('configmaps', configMap('a', { metadata: { namespace: 'default' } })), {
        code: 400,
        reason: 'BadRequest',
        message: `the namespace of the provided object does not match the namespace sent on the request`,
      })
    },
  },
  {
    id: 'server/create/namespace-from-path',
    rule: 'A body without a namespace gets the namespace of the path.',
    async run(place) {
      expectMatch(ok(await place.post('configmaps', configMap('a', { metadata: { namespace: '' } })), 201).metadata, {
        namespace: place.namespace,
      })
    },
  },
  {
    id: 'server/create/cluster-wide-with-namespace',
    rule: 'A namespace in the body of a cluster-scoped object is cleared.',
    async run(place) {
      const made = ok(
        await place.post(
          'clusterroles',
          sample('clusterroles', place.unique('a'), { metadata: { namespace: 'default' } }),
        ),
        201,
      )
      assert.equal(made.metadata.namespace, undefined)
    },
  },
  {
    id: 'server/create/exists',
    rule: 'A create of an existing object is rejected with AlreadyExists and changes nothing.',
    async run(place) {
      const first = ok(await place.post('configmaps', configMap('a', { data: { k: '1' } })))
      expectStatus(await place.post('configmaps', configMap('a', { data: { k: '2' } })), {
        code: 409,
        reason: 'AlreadyExists',
        message: 'configmaps "a" already exists',
        details: { name: 'a', kind: 'configmaps', group: undefined },
      })
      assert.deepEqual(ok(await place.get('configmaps', 'a')), first)
    },
  },
  {
    id: 'server/create/exists-in-a-group',
    rule: 'An error message about an object in a named group qualifies the resource with the group.',
    async run(place) {
      ok(await place.post('leases', sample('leases', 'a')))
      expectStatus(await place.post('leases', sample('leases', 'a')), {
        code: 409,
        reason: 'AlreadyExists',
        message: 'leases.coordination.k8s.io "a" already exists',
        details: { name: 'a', group: 'coordination.k8s.io', kind: 'leases' },
      })
    },
  },
  {
    id: 'server/create/exists-terminating',
    rule: 'If the existing object is being deleted, the message reports the deletion.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { metadata: { finalizers: ['example.com/judge'] } })))
      ok(await place.delete('configmaps', 'a'))
      expectStatus(await place.post('configmaps', configMap('a')), {
        code: 409,
        reason: 'AlreadyExists',
        message: 'object is being deleted: configmaps "a" already exists',
      })
      ok(await place.patch('configmaps', 'a', { body: { metadata: { finalizers: null } } }))
    },
  },
  {
    id: 'server/create/other-version',
    rule: 'A body with a version other than that of the path is a bad request.',
    async run(place) {
      expectStatus(await place.post('deployments', sample('deployments', 'a', { apiVersion: 'apps/v1beta1' })), {
        code: 400,
        reason: 'BadRequest',
        message: 'the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)',
      })
    },
  },
  {
    id: 'server/create/other-kind',
    rule: 'A body with a kind other than that of the path is a bad request.',
    async run(place) {
      expectStatus(await place.post('configmaps', sample('secrets', 'a')), {
        code: 400,
        reason: 'BadRequest',
        message: /^Secret in version "v1" cannot be handled as a ConfigMap: /,
      })
    },
  },
  {
    id: 'server/create/without-kind',
    rule: 'The body of a built-in kind may omit apiVersion and kind: the path implies them.',
    async run(place) {
      expectMatch(ok(await place.post('configmaps', { metadata: { name: 'a' } }), 201), {
        apiVersion: 'v1',
        kind: 'ConfigMap',
      })
      expectMatch(ok(await place.post('configmaps', { kind: 'ConfigMap', metadata: { name: 'b' } }), 201), {
        apiVersion: 'v1',
        kind: 'ConfigMap',
      })
    },
  },
  {
    id: 'server/create/missing-namespace',
    rule: 'A create in a namespace that does not exist is a 404 about the namespace.',
    async run(place) {
      expectStatus(
        await place.client.request('POST', '/api/v1/namespaces/judge-nowhere/configmaps', { body: configMap('a') }),
        {
          code: 404,
          reason: 'NotFound',
          message: 'namespaces "judge-nowhere" not found',
          details: { name: 'judge-nowhere', kind: 'namespaces' },
        },
      )
    },
  },
]

const relations: readonly ServerCase[] = [
  {
    id: 'server/create/duplicate-owners',
    rule: 'Of two identical owner references the server keeps one and returns a warning.',
    async run(place) {
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u1' }
      const answer = await place.post('configmaps', configMap('a', { metadata: { ownerReferences: [owner, owner] } }))
      expectMatch(ok(answer, 201).metadata, { ownerReferences: [owner] })
      assert.deepEqual(warningsOf(answer), [
        '.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u1',
      ])
    },
  },
  {
    id: 'server/create/two-controllers',
    rule: 'Only one owner reference may be the controller.',
    async run(place) {
      const owner = (name: string): object => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name,
        uid: name,
        controller: true,
      })
      expectStatus(
        await place.post('configmaps', configMap('a', { metadata: { ownerReferences: [owner('x'), owner('y')] } })),
        {
          code: 422,
          reason: 'Invalid',
          message:
            /^ConfigMap "a" is invalid: metadata\.ownerReferences: Invalid value: .*Only one reference can have Controller set to true/s,
          details: {
            name: 'a',
            kind: 'ConfigMap',
            causes: [{ reason: 'FieldValueInvalid', field: 'metadata.ownerReferences' }],
          },
        },
      )
    },
  },
  {
    id: 'server/create/owner-event',
    rule: 'An Event cannot own anything.',
    async run(place) {
      expectStatus(
        await place.post(
          'configmaps',
          configMap('a', { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'x', uid: 'x' }] } }),
        ),
        {
          code: 422,
          reason: 'Invalid',
          message: /\/v1, Kind=Event is disallowed from being an owner/,
        },
      )
    },
  },
  {
    id: 'server/create/owner-incomplete',
    rule: 'An owner reference needs apiVersion, kind, name and uid; one error reports all missing fields.',
    async run(place) {
      expectStatus(
        await place.post(
          'configmaps',
          configMap('a', { metadata: { ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] } }),
        ),
        {
          code: 422,
          reason: 'Invalid',
          details: {
            causes: [
              {
                reason: 'FieldValueInvalid',
                field: 'metadata.ownerReferences.apiVersion',
                message: 'Invalid value: "": version must not be empty',
              },
              {
                reason: 'FieldValueInvalid',
                field: 'metadata.ownerReferences.kind',
                message: 'Invalid value: "": must not be empty',
              },
              {
                reason: 'FieldValueInvalid',
                field: 'metadata.ownerReferences.name',
                message: 'Invalid value: "": must not be empty',
              },
              {
                reason: 'FieldValueInvalid',
                field: 'metadata.ownerReferences.uid',
                message: 'Invalid value: "": must not be empty',
              },
            ],
          },
        },
      )
    },
  },
  {
    id: 'server/create/both-deletion-finalizers',
    rule: 'An object cannot have both the `orphan` and the `foregroundDeletion` finalizer.',
    async run(place) {
      expectStatus(
        await place.post('configmaps', configMap('a', { metadata: { finalizers: ['orphan', 'foregroundDeletion'] } })),
        {
          code: 422,
          reason: 'Invalid',
          message: /finalizer orphan and foregroundDeletion cannot be both set/,
        },
      )
    },
  },
  {
    id: 'server/create/metadata-type',
    rule: 'Metadata that is no object is a 400.',
    async run(place) {
      expectStatus(await place.post('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata: 'x' }), {
        code: 400,
        reason: 'BadRequest',
        message:
          'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal string into Go struct field ConfigMap.metadata of type v1.ObjectMeta',
      })
    },
  },
  {
    id: 'server/create/finalizer-name',
    rule: 'A finalizer name must be qualified or one of the standard names.',
    async run(place) {
      expectStatus(await place.post('configmaps', configMap('a', { metadata: { finalizers: ['a b'] } })), {
        code: 422,
        reason: 'Invalid',
        details: {
          causes: [
            { reason: 'FieldValueInvalid', field: 'metadata.finalizers' },
            {
              field: 'metadata.finalizers[0]',
              message: /name is neither a standard finalizer name nor is it fully qualified/,
            },
          ],
        },
      })
    },
  },
]

export const createCases: readonly ServerCase[] = [...systemFields, ...identity, ...relations]
