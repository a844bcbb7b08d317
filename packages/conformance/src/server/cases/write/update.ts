/**
 * Replacing an object: conflicts, restored fields, no-op updates.
 */
import assert from 'node:assert/strict'
import { brief, expectMatch, expectStatus, isNewer, ok } from '../../expect.ts'
import { configMap, laidOver, sample } from '../../samples.ts'
import type { ResourceName } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const modified = 'the object has been modified; please apply your changes to the latest version and try again'

const versions: readonly ServerCase[] = [
  {
    id: 'server/update/replaces',
    rule: 'A replace returns 200 with the stored object: new content, newer resourceVersion, same uid.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a', { data: { k: '1', gone: 'x' } })))
      const next = ok(
        await place.put('configmaps', 'a', { body: laidOver(made, { data: { k: '2', gone: undefined } }) }),
        200,
      )
      expectMatch(next, {
        data: { k: '2', gone: undefined },
        metadata: { uid: made.metadata.uid, creationTimestamp: made.metadata.creationTimestamp },
      })
      assert.ok(isNewer(next, made))
      assert.deepEqual(ok(await place.get('configmaps', 'a')), next)
    },
  },
  {
    id: 'server/update/stale',
    rule: 'A replace with an old resourceVersion is a conflict and changes nothing.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      const next = ok(await place.patch('configmaps', 'a', { body: { data: { k: '1' } } }))
      expectStatus(await place.put('configmaps', 'a', { body: made }), {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
        details: { name: 'a', kind: 'configmaps', group: undefined },
      })
      assert.deepEqual(ok(await place.get('configmaps', 'a')), next)
    },
  },
  {
    id: 'server/update/stale-in-a-group',
    rule: 'The message about a conflict qualifies the resource with its group.',
    async run(place) {
      const made = ok(await place.post('leases', sample('leases', 'a')))
      ok(await place.patch('leases', 'a', { body: { spec: { holderIdentity: 'x' } } }))
      expectStatus(await place.put('leases', 'a', { body: made }), {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on leases.coordination.k8s.io "a": ${modified}`,
        details: { name: 'a', group: 'coordination.k8s.io', kind: 'leases' },
      })
    },
  },
  {
    id: 'server/update/bad-version',
    rule: 'A replace with a resourceVersion that is not a number is rejected.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      const answer = await place.put('configmaps', 'a', {
        body: configMap('a', { metadata: { resourceVersion: 'abc' }, data: { k: '1' } }),
      })
      assert.ok(answer.status >= 400, String(answer))
      expectMatch(ok(await place.get('configmaps', 'a')), { data: undefined })
    },
  },
  {
    id: 'server/update/zero-version',
    rule: 'In a replace, resourceVersion 0 has the same effect as no resourceVersion.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectMatch(
        ok(
          await place.put('configmaps', 'a', {
            body: configMap('a', { metadata: { resourceVersion: '0' }, data: { k: '1' } }),
          }),
          200,
        ).data,
        { k: '1' },
      )
    },
  },
  {
    id: 'server/update/other-uid',
    rule: 'A replace with the uid of another object is a conflict.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.put('configmaps', 'a', { body: configMap('a', { metadata: { uid: 'other' } }) }), {
        code: 409,
        reason: 'Conflict',
        message: new RegExp(
          `^Operation cannot be fulfilled on configmaps "a": .*Precondition failed: UID in precondition: other, UID in object meta: ${made.metadata.uid}$`,
        ),
      })
    },
  },
]

/** Resources that accept a replace without a resourceVersion. */
const unconditional: readonly ServerCase[] = [
  ...(['configmaps', 'secrets', 'serviceaccounts', 'roles', 'deployments', 'namespaces'] as const).map(
    (resource): ServerCase => ({
      id: `server/update/without-version-${resource}`,
      rule: `A replace of ${resource} without resourceVersion overwrites the current object.`,
      async run(place) {
        const name = place.unique('a')
        const made = ok(await place.post(resource, sample(resource, name)))
        const next = ok(
          await place.put(resource, name, { body: sample(resource, name, { metadata: { labels: { l: '1' } } }) }),
          200,
        )
        expectMatch(next.metadata, { uid: made.metadata.uid, labels: { l: '1' } })
      },
    }),
  ),
  ...(['leases', 'poddisruptionbudgets'] as const satisfies readonly ResourceName[]).map((resource): ServerCase => ({
    id: `server/update/needs-version-${resource}`,
    rule: `A replace of ${resource} without resourceVersion is rejected.`,
    async run(place) {
      ok(await place.post(resource, sample(resource, 'a')))
      expectStatus(
        await place.put(resource, 'a', { body: sample(resource, 'a', { metadata: { labels: { l: '1' } } }) }),
        {
          code: 422,
          reason: 'Invalid',
          message: /metadata\.resourceVersion: Invalid value: (?:0x0|0|""): must be specified for an update$/,
          details: { causes: [{ field: 'metadata.resourceVersion', reason: 'FieldValueInvalid' }] },
        },
      )
    },
  })),
]

const creating: readonly ServerCase[] = [
  {
    id: 'server/update/missing',
    rule: 'A replace of a missing object is a 404.',
    async run(place) {
      expectStatus(await place.put('configmaps', 'a', { body: configMap('a') }), {
        code: 404,
        reason: 'NotFound',
        message: 'configmaps "a" not found',
        details: { name: 'a', kind: 'configmaps' },
      })
    },
  },
  ...(['leases', 'roles', 'rolebindings', 'events', 'services', 'endpoints', 'limitranges'] as const).map(
    (resource): ServerCase => ({
      id: `server/update/creates-${resource}`,
      rule: `A replace of missing ${resource} creates them.`,
      async run(place) {
        const body = sample(
          resource,
          'a',
          resource === 'events' ? { involvedObject: { namespace: place.namespace } } : {},
        )
        expectMatch(ok(await place.put(resource, 'a', { body }), 201).metadata, { uid: /./, name: 'a' })
        ok(await place.get(resource, 'a'), 200)
      },
    }),
  ),
  {
    id: 'server/update/no-create-with-uid',
    rule: 'A replace with a uid never creates a missing object, even for kinds where a replace can create.',
    async run(place) {
      expectStatus(await place.put('leases', 'a', { body: sample('leases', 'a', { metadata: { uid: 'u' } }) }), {
        code: 409,
        reason: 'Conflict',
        message: /Precondition failed: UID in precondition: u, UID in object meta: $/,
      })
      expectStatus(await place.get('leases', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/update/create-drops-version',
    rule: 'A replace that creates an object ignores the resourceVersion: the new object gets its own.',
    async run(place) {
      const made = ok(
        await place.put('leases', 'a', { body: sample('leases', 'a', { metadata: { resourceVersion: '1' } }) }),
        201,
      )
      assert.notEqual(made.metadata.resourceVersion, '1')
    },
  },
]

const unchanged: readonly ServerCase[] = [
  {
    id: 'server/update/no-change',
    rule: 'A replace that changes nothing returns 200 with the same resourceVersion and sends no event.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a', { data: { k: '1' } })))
      const stream = await place.watch('configmaps', { resourceVersion: made.metadata.resourceVersion })
      assert.deepEqual(ok(await place.put('configmaps', 'a', { body: made }), 200), made)
      ok(await place.patch('configmaps', 'a', { body: { data: { k: '1' } } }), 200)
      const next = ok(await place.patch('configmaps', 'a', { body: { data: { k: '2' } } }))
      assert.deepEqual((await stream.next()).object.metadata.resourceVersion, next.metadata.resourceVersion)
    },
  },
  {
    id: 'server/update/restores-system-fields',
    rule: 'The creation timestamp and the generation cannot be changed: the server silently keeps the stored values.',
    async run(place) {
      const made = ok(await place.post('deployments', sample('deployments', 'a')))
      const body = laidOver(made, { metadata: { creationTimestamp: '2001-01-01T00:00:00Z', generation: 77 } })
      assert.deepEqual(ok(await place.put('deployments', 'a', { body }), 200), made)
    },
  },
  {
    id: 'server/update/no-deletion-by-hand',
    rule: 'A replace cannot make an object terminating: a new deletionTimestamp is rejected.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(
        await place.put('configmaps', 'a', {
          body: configMap('a', { metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' } }),
        }),
        {
          code: 422,
          reason: 'Invalid',
          message:
            'ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
        },
      )
    },
  },
  {
    id: 'server/update/keeps-status',
    rule: 'A replace of an object with a status subresource does not change the status.',
    async run(place) {
      const made = ok(await place.post('deployments', sample('deployments', 'a')))
      assert.deepEqual(
        ok(await place.put('deployments', 'a', { body: laidOver(made, { status: { replicas: 5 } }) }), 200),
        made,
      )
    },
  },
  {
    id: 'server/update/other-name',
    rule: 'A name in the body that differs from the path is a bad request.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.put('configmaps', 'a', { body: configMap('b') }), {
        code: 400,
        reason: 'BadRequest',
        message: 'the name of the object (b) does not match the name on the URL (a)',
      })
    },
  },
  {
    id: 'server/update/no-name',
    rule: 'A replace without a name in the body is rejected.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.put('configmaps', 'a', { body: { data: { k: '1' } } }), {
        code: 400,
        reason: 'BadRequest',
        message: 'the name of the object (a based on URL) was undeterminable: name must be provided',
      })
    },
  },
  {
    id: 'server/update/other-namespace',
    rule: 'A namespace in the body that differs from the path is a bad request.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(
        await place.put('configmaps', 'a', { body: configMap('a', { metadata: { namespace: 'default' } }) }),
        {
          code: 400,
          reason: 'BadRequest',
          message: 'the namespace of the provided object does not match the namespace sent on the request',
        },
      )
    },
  },
]

const generations: readonly ServerCase[] = [
  ...(['deployments', 'ingresses', 'poddisruptionbudgets', 'statefulsets'] as const).map((resource): ServerCase => ({
    id: `server/generation/${resource}`,
    rule: `The generation of ${resource} increases by one when the spec changes, and not for labels.`,
    async run(place) {
      const made = ok(await place.post(resource, sample(resource, 'a')))
      const marked = ok(await place.patch(resource, 'a', { body: { metadata: { labels: { l: '1' } } } }))
      assert.equal(marked.metadata.generation, 1)
      assert.ok(isNewer(marked, made))
      const spec = {
        deployments: { replicas: 3 },
        ingresses: { ingressClassName: 'x' },
        poddisruptionbudgets: { minAvailable: 2 },
        statefulsets: { replicas: 3 },
      }[resource]
      assert.equal(ok(await place.patch(resource, 'a', { body: { spec } })).metadata.generation, 2)
      assert.equal(ok(await place.patch(resource, 'a', { body: { spec } })).metadata.generation, 2)
    },
  })),
  {
    id: 'server/generation/deployment-annotations',
    rule: 'A change to the annotations of a Deployment increments the generation, because its controller reads them.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      assert.equal(
        ok(await place.patch('deployments', 'a', { body: { metadata: { annotations: { n: '1' } } } })).metadata
          .generation,
        2,
      )
    },
  },
  {
    id: 'server/generation/delete',
    rule: 'A delete that makes an object terminating increments the generation; the next delete does not.',
    async run(place) {
      ok(await place.post('ingresses', sample('ingresses', 'a', { metadata: { finalizers: ['example.com/judge'] } })))
      assert.equal(ok(await place.delete('ingresses', 'a')).metadata.generation, 2)
      assert.equal(ok(await place.delete('ingresses', 'a')).metadata.generation, 2)
      ok(await place.patch('ingresses', 'a', { body: { metadata: { finalizers: null } } }))
    },
  },
]

const races: readonly ServerCase[] = [
  {
    id: 'server/update/one-winner',
    rule: 'Of many concurrent replaces with the same resourceVersion exactly one wins; the others are conflicts.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          place.put('configmaps', 'a', { body: laidOver(made, { data: { k: String(index) } }) }),
        ),
      )
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array<number>(9).fill(409)])
    },
  },
  {
    id: 'server/update/events-in-order',
    rule: 'Every update sends one event, with increasing resourceVersions.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      const stream = await place.watch('configmaps', { resourceVersion: made.metadata.resourceVersion })
      for (const k of ['1', '2', '3']) ok(await place.put('configmaps', 'a', { body: configMap('a', { data: { k } }) }))
      const events = await stream.take(3)
      assert.deepEqual(brief(events), ['MODIFIED a', 'MODIFIED a', 'MODIFIED a'])
      assert.deepEqual(
        events.map(({ object }) => object.data['k']),
        ['1', '2', '3'],
      )
      const versions = [made, ...events.map(({ object }) => object)]
      assert.ok(versions.every((one, index) => index === 0 || isNewer(one, versions[index - 1] ?? made)))
    },
  },
]

export const updateCases: readonly ServerCase[] = [
  ...versions,
  ...unconditional,
  ...creating,
  ...unchanged,
  ...generations,
  ...races,
]
