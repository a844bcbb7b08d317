/**
 * status, scale and the other subresources.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, isNewer, ok } from '../../expect.ts'
import { laidOver, sample } from '../../samples.ts'
import { patchTypes } from '../../target.ts'
import type { ServerCase } from '../../target.ts'

const status: readonly ServerCase[] = [
  {
    id: 'server/status/put',
    rule: 'A replace of the status changes only the status: not the spec, the labels or the generation.',
    async run(place) {
      const made = ok(await place.post('deployments', sample('deployments', 'a')))
      const body = laidOver(made, {
        spec: { replicas: 9 },
        metadata: { labels: { l: '1' }, finalizers: ['example.com/judge'] },
        status: { replicas: 4, observedGeneration: 1 },
      })
      const next = ok(await place.put('deployments', 'a/status', { body }), 200)
      expectMatch(next, {
        spec: { replicas: 1 },
        metadata: { generation: 1, labels: undefined },
        status: { replicas: 4, observedGeneration: 1 },
      })
      assert.ok(isNewer(next, made))
      assert.deepEqual(ok(await place.get('deployments', 'a')), next)
    },
  },
  {
    id: 'server/status/get',
    rule: 'A read of the status returns the whole object.',
    async run(place) {
      const made = ok(await place.post('deployments', sample('deployments', 'a')))
      assert.deepEqual(ok(await place.get('deployments', 'a/status')), made)
    },
  },
  ...Object.entries(patchTypes).map(([name, type]): ServerCase => ({
    id: `server/status/patch-${name}`,
    rule: `A patch of the status (${name}) changes only the status.`,
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      const body =
        name === 'json'
          ? [
              { op: 'add', path: '/status/replicas', value: 2 },
              { op: 'replace', path: '/spec/replicas', value: 7 },
            ]
          : { status: { replicas: 2 }, spec: { replicas: 7 } }
      expectMatch(ok(await place.patch('deployments', 'a/status', { body, type }), 200), {
        status: { replicas: 2 },
        spec: { replicas: 1 },
        metadata: { generation: 1 },
      })
    },
  })),
  {
    id: 'server/status/stale',
    rule: 'A replace of the status with an old resourceVersion is a conflict.',
    async run(place) {
      const made = ok(await place.post('deployments', sample('deployments', 'a')))
      ok(await place.patch('deployments', 'a/status', { body: { status: { replicas: 1 } } }))
      expectStatus(await place.put('deployments', 'a/status', { body: made }), { code: 409, reason: 'Conflict' })
    },
  },
  {
    id: 'server/status/missing',
    rule: 'The status of a missing object is a 404 for every verb: a status write never creates.',
    async run(place) {
      const missing = { code: 404, reason: 'NotFound', message: 'ingresses.networking.k8s.io "a" not found' }
      expectStatus(await place.get('ingresses', 'a/status'), missing)
      expectStatus(await place.put('ingresses', 'a/status', { body: sample('ingresses', 'a') }), missing)
      expectStatus(await place.patch('ingresses', 'a/status', { body: {} }), missing)
    },
  },
  {
    id: 'server/status/no-change',
    rule: 'An identical status is not written.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      const next = ok(await place.patch('deployments', 'a/status', { body: { status: { replicas: 1 } } }))
      assert.deepEqual(ok(await place.patch('deployments', 'a/status', { body: { status: { replicas: 1 } } })), next)
    },
  },
  {
    id: 'server/status/deletion-timestamp',
    rule: 'The status of a pod ignores a deletionTimestamp; the status of other kinds rejects one.',
    async run(place) {
      const body = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' }, status: { message: 'm' } }
      ok(await place.post('pods', sample('pods', 'a')))
      expectMatch(ok(await place.patch('pods', 'a/status', { body }), 200), {
        metadata: { deletionTimestamp: undefined },
        status: { message: 'm' },
      })
      ok(await place.post('deployments', sample('deployments', 'a')))
      expectStatus(await place.patch('deployments', 'a/status', { body: { metadata: body.metadata } }), {
        code: 422,
        reason: 'Invalid',
        message: /metadata\.deletionTimestamp: Invalid value: "2026-01-01T00:00:00Z": field is immutable$/,
      })
    },
  },
  {
    id: 'server/status/merge-conditions',
    rule: 'A strategic merge patch matches a condition by type.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      const patch = (type: string, value: string): object => ({
        body: { status: { conditions: [{ type, status: value }] } },
        type: patchTypes.strategic,
      })
      ok(await place.patch('deployments', 'a/status', patch('One', 'True')))
      ok(await place.patch('deployments', 'a/status', patch('Two', 'True')))
      const { conditions } = ok(await place.patch('deployments', 'a/status', patch('One', 'False')))
        .status as unknown as { conditions: { type: string; status: string }[] }
      assert.deepEqual(conditions.map(({ type, status: value }) => `${type}=${value}`).sort(), [
        'One=False',
        'Two=True',
      ])
    },
  },
  {
    id: 'server/status/none',
    rule: 'A kind without a status has no status path.',
    async run(place) {
      ok(await place.post('configmaps', sample('configmaps', 'a')))
      assert.equal((await place.get('configmaps', 'a/status')).status, 404)
    },
  },
]

const scale: readonly ServerCase[] = [
  ...(['deployments', 'replicasets', 'statefulsets', 'replicationcontrollers'] as const).map(
    (resource): ServerCase => ({
      id: `server/scale/get-${resource}`,
      rule: `The scale of ${resource} shows the desired and current replicas and the selector.`,
      async run(place) {
        const made = ok(await place.post(resource, sample(resource, 'a', { spec: { replicas: 3 } })))
        const { uid, resourceVersion, creationTimestamp } = made.metadata
        expectMatch(ok(await place.get(resource, 'a/scale')), {
          apiVersion: 'autoscaling/v1',
          kind: 'Scale',
          metadata: { name: 'a', namespace: place.namespace, uid, resourceVersion, creationTimestamp },
          spec: { replicas: 3 },
          status: { replicas: 0, selector: 'app=judge' },
        })
      },
    }),
  ),
  {
    id: 'server/scale/put',
    rule: 'A replace of the scale sets the number of replicas and increments the generation.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      const current = ok(await place.get('deployments', 'a/scale'))
      expectMatch(
        ok(await place.put('deployments', 'a/scale', { body: laidOver(current, { spec: { replicas: 5 } }) }), 200),
        { kind: 'Scale', spec: { replicas: 5 } },
      )
      expectMatch(ok(await place.get('deployments', 'a')), { spec: { replicas: 5 }, metadata: { generation: 2 } })
      expectStatus(await place.put('deployments', 'a/scale', { body: current }), { code: 409, reason: 'Conflict' })
    },
  },
  {
    id: 'server/scale/put-without-version',
    rule: 'A replace of the scale without a resourceVersion is accepted.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      expectMatch(
        ok(await place.put('deployments', 'a/scale', { body: { metadata: { name: 'a' }, spec: { replicas: 2 } } }), 200)
          .spec,
        { replicas: 2 },
      )
    },
  },
  {
    id: 'server/scale/patch',
    rule: 'The scale can be patched.',
    async run(place) {
      ok(await place.post('statefulsets', sample('statefulsets', 'a')))
      expectMatch(ok(await place.patch('statefulsets', 'a/scale', { body: { spec: { replicas: 4 } } }), 200), {
        kind: 'Scale',
        spec: { replicas: 4 },
      })
      expectMatch(
        ok(
          await place.patch('statefulsets', 'a/scale', {
            body: [{ op: 'replace', path: '/spec/replicas', value: 6 }],
            type: patchTypes.json,
          }),
          200,
        ).spec,
        { replicas: 6 },
      )
      expectMatch(ok(await place.get('statefulsets', 'a')).spec, { replicas: 6 })
    },
  },
  {
    id: 'server/scale/negative',
    rule: 'A negative number of replicas is rejected with an error about Scale.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a')))
      expectStatus(await place.patch('deployments', 'a/scale', { body: { spec: { replicas: -1 } } }), {
        code: 422,
        reason: 'Invalid',
        message:
          'Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
        details: { name: 'a', group: 'autoscaling', kind: 'Scale', causes: [{ field: 'spec.replicas' }] },
      })
    },
  },
  {
    id: 'server/scale/missing',
    rule: 'The scale of a missing object is a 404 that names the resource.',
    async run(place) {
      expectStatus(await place.get('deployments', 'a/scale'), {
        code: 404,
        reason: 'NotFound',
        message: 'deployments.apps "a" not found',
        details: { name: 'a', group: 'apps', kind: 'deployments' },
      })
    },
  },
]

export const subresourceCases: readonly ServerCase[] = [...status, ...scale]
