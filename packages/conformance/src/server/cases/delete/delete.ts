/**
 * Deleting one object: responses, preconditions and deletion finalizers.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, isNewer, ok, warningsOf } from '../../expect.ts'
import { configMap, laidOver, sample } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const held = configMap('a', { metadata: { finalizers: ['example.com/judge'] } })
const free = { body: { metadata: { finalizers: null } } }
const options = { kind: 'DeleteOptions', apiVersion: 'v1' }

const answers: readonly ServerCase[] = [
  {
    id: 'server/delete/status',
    rule: 'A delete returns a Status of Success whose details contain the resource, the name and the uid.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      assert.deepEqual(ok(await place.delete('configmaps', 'a'), 200), {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'a', kind: 'configmaps', uid: made.metadata.uid },
      })
      expectStatus(await place.get('configmaps', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/delete/status-in-a-group',
    rule: 'The details of a delete contain the group.',
    async run(place) {
      ok(await place.post('leases', sample('leases', 'a')))
      expectMatch(ok(await place.delete('leases', 'a'), 200), {
        status: 'Success',
        details: { name: 'a', group: 'coordination.k8s.io', kind: 'leases', uid: /./ },
      })
    },
  },
  ...(['pods', 'serviceaccounts', 'services', 'persistentvolumeclaims'] as const).map((resource): ServerCase => ({
    id: `server/delete/object-${resource}`,
    rule: `A delete of ${resource} returns the deleted object.`,
    async run(place) {
      const made = ok(await place.post(resource, sample(resource, 'a')))
      expectMatch(ok(await place.delete(resource, 'a'), 200), {
        kind: made.kind,
        metadata: { name: 'a', uid: made.metadata.uid },
      })
    },
  })),
  {
    id: 'server/delete/missing',
    rule: 'A delete of a missing object is a 404.',
    async run(place) {
      expectStatus(await place.delete('configmaps', 'a'), {
        code: 404,
        reason: 'NotFound',
        message: 'configmaps "a" not found',
        details: { name: 'a', kind: 'configmaps' },
      })
    },
  },
  {
    id: 'server/delete/again-new-uid',
    rule: 'An object created again under the same name has a new uid and a newer resourceVersion.',
    async run(place) {
      const made = ok(await place.post('configmaps', configMap('a')))
      ok(await place.delete('configmaps', 'a'))
      const again = ok(await place.post('configmaps', configMap('a')), 201)
      assert.notEqual(again.metadata.uid, made.metadata.uid)
      assert.ok(isNewer(again, made))
    },
  },
]

const conditions: readonly ServerCase[] = [
  {
    id: 'server/delete/uid-precondition',
    rule: 'A delete with another uid is a conflict and deletes nothing; the right uid deletes.',
    async run(place) {
      const {
        metadata: { uid },
      } = ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.delete('configmaps', 'a', { body: { ...options, preconditions: { uid: 'other' } } }), {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
        details: { name: 'a', kind: 'ConfigMap' },
      })
      ok(await place.delete('configmaps', 'a', { body: { ...options, preconditions: { uid } } }), 200)
    },
  },
  {
    id: 'server/delete/version-precondition',
    rule: 'A delete with an old resourceVersion is a conflict and deletes nothing; the newest deletes.',
    async run(place) {
      const {
        metadata: { resourceVersion: old },
      } = ok(await place.post('configmaps', configMap('a')))
      const {
        metadata: { resourceVersion },
      } = ok(await place.patch('configmaps', 'a', { body: { data: { k: '1' } } }))
      expectStatus(
        await place.delete('configmaps', 'a', { body: { ...options, preconditions: { resourceVersion: old } } }),
        {
          code: 409,
          reason: 'Conflict',
          message: `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (${old}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
        },
      )
      ok(await place.delete('configmaps', 'a', { body: { ...options, preconditions: { resourceVersion } } }), 200)
    },
  },
  {
    id: 'server/delete/policy-and-orphan',
    rule: 'propagationPolicy and orphanDependents are mutually exclusive.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(
        await place.delete('configmaps', 'a', {
          body: { ...options, propagationPolicy: 'Orphan', orphanDependents: true },
        }),
        {
          code: 422,
          reason: 'Invalid',
          message:
            'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
          details: {
            group: 'meta.k8s.io',
            kind: 'DeleteOptions',
            causes: [{ field: 'propagationPolicy', reason: 'FieldValueInvalid' }],
          },
        },
      )
    },
  },
  {
    id: 'server/delete/unknown-policy',
    rule: 'An unknown propagationPolicy is rejected.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.delete('configmaps', 'a', { query: { propagationPolicy: 'Later' } }), {
        code: 422,
        reason: 'Invalid',
        details: { kind: 'DeleteOptions', causes: [{ field: 'propagationPolicy', reason: 'FieldValueNotSupported' }] },
      })
    },
  },
  {
    id: 'server/delete/body-wins',
    rule: 'Options in the body override options in the query.',
    async run(place) {
      ok(await place.post('configmaps', held))
      const next = ok(
        await place.delete('configmaps', 'a', {
          query: { propagationPolicy: 'Orphan' },
          body: { ...options, propagationPolicy: 'Foreground' },
        }),
      )
      assert.deepEqual([...next.metadata.finalizers].sort(), ['example.com/judge', 'foregroundDeletion'])
      ok(await place.patch('configmaps', 'a', free))
    },
  },
  {
    id: 'server/delete/options-types',
    rule: "DeleteOptions may be of the core group, of meta.k8s.io or of the resource's own group, or carry no type.",
    async run(place) {
      for (const apiVersion of ['v1', 'meta.k8s.io/v1', 'coordination.k8s.io/v1', undefined]) {
        ok(await place.post('leases', sample('leases', 'a')), 201)
        ok(
          await place.delete('leases', 'a', {
            body: apiVersion === undefined ? {} : { kind: 'DeleteOptions', apiVersion },
          }),
          200,
        )
      }
    },
  },
  {
    id: 'server/delete/bad-options',
    rule: 'A body that is not DeleteOptions is a bad request and deletes nothing.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectStatus(await place.delete('configmaps', 'a', { body: '{"kind"' }), { code: 400, reason: 'BadRequest' })
      expectStatus(await place.delete('configmaps', 'a', { body: { kind: 'Pod', apiVersion: 'v1' } }), {
        code: 400,
        reason: 'BadRequest',
      })
      ok(await place.get('configmaps', 'a'), 200)
    },
  },
]

const finalizers: readonly ServerCase[] = [
  {
    id: 'server/delete/finalizer',
    rule: 'An object with a finalizer stays: the delete returns it with a deletion timestamp and a grace period of 0.',
    async run(place) {
      const made = ok(await place.post('configmaps', held))
      const next = ok(await place.delete('configmaps', 'a'), 200)
      expectMatch(next, {
        kind: 'ConfigMap',
        metadata: {
          deletionTimestamp: /Z$/,
          deletionGracePeriodSeconds: 0,
          finalizers: ['example.com/judge'],
          uid: made.metadata.uid,
        },
      })
      assert.ok(isNewer(next, made))
      assert.deepEqual(ok(await place.get('configmaps', 'a')), next)
      ok(await place.patch('configmaps', 'a', free))
    },
  },
  {
    id: 'server/delete/twice',
    rule: 'A second delete of a terminating object changes nothing.',
    async run(place) {
      ok(await place.post('configmaps', held))
      const first = ok(await place.delete('configmaps', 'a'), 200)
      assert.deepEqual(ok(await place.delete('configmaps', 'a'), 200), first)
      ok(await place.patch('configmaps', 'a', free))
    },
  },
  {
    id: 'server/delete/last-finalizer-put',
    rule: 'A replace that removes the last finalizer of a terminating object returns the object and deletes it.',
    async run(place) {
      ok(await place.post('configmaps', held))
      const next = ok(await place.delete('configmaps', 'a'), 200)
      const stream = await place.watch('configmaps', { resourceVersion: next.metadata.resourceVersion })
      expectMatch(
        ok(await place.put('configmaps', 'a', { body: laidOver(next, { metadata: { finalizers: [] } }) }), 200),
        { kind: 'ConfigMap', metadata: { name: 'a', finalizers: undefined } },
      )
      expectStatus(await place.get('configmaps', 'a'), { code: 404 })
      expectMatch(await stream.next(), { type: 'DELETED', object: { metadata: { name: 'a' } } })
    },
  },
  {
    id: 'server/delete/last-finalizer-patch',
    rule: 'A terminating object with several finalizers goes away with the patch that removes the last one, not earlier.',
    async run(place) {
      ok(
        await place.post(
          'configmaps',
          configMap('a', { metadata: { finalizers: ['example.com/a', 'example.com/b'] } }),
        ),
      )
      ok(await place.delete('configmaps', 'a'))
      ok(await place.patch('configmaps', 'a', { body: { metadata: { finalizers: ['example.com/b'] } } }), 200)
      ok(await place.get('configmaps', 'a'), 200)
      ok(await place.patch('configmaps', 'a', free), 200)
      expectStatus(await place.get('configmaps', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/delete/no-new-finalizer',
    rule: 'A terminating object accepts no new finalizers.',
    async run(place) {
      ok(await place.post('configmaps', held))
      ok(await place.delete('configmaps', 'a'))
      expectStatus(
        await place.patch('configmaps', 'a', {
          body: { metadata: { finalizers: ['example.com/judge', 'example.com/more'] } },
        }),
        {
          code: 422,
          reason: 'Invalid',
          message:
            /^ConfigMap "a" is invalid: metadata\.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[?\]?string\{"example\.com\/more"\}$/,
          details: {
            causes: (causes: { reason: string; field: string }[]) =>
              causes[0]?.reason === 'FieldValueForbidden' && causes[0].field === 'metadata.finalizers',
          },
        },
      )
      ok(await place.patch('configmaps', 'a', free))
    },
  },
  {
    id: 'server/delete/cannot-be-undone',
    rule: 'A replace without the deletion timestamp does not undo a deletion.',
    async run(place) {
      ok(await place.post('configmaps', held))
      const next = ok(await place.delete('configmaps', 'a'))
      const body = laidOver(next, { metadata: { deletionTimestamp: undefined, deletionGracePeriodSeconds: undefined } })
      assert.deepEqual(ok(await place.put('configmaps', 'a', { body }), 200), next)
      ok(await place.patch('configmaps', 'a', free))
    },
  },
  {
    id: 'server/delete/still-changes',
    rule: 'A terminating object can still be changed.',
    async run(place) {
      ok(await place.post('configmaps', held))
      ok(await place.delete('configmaps', 'a'))
      expectMatch(ok(await place.patch('configmaps', 'a', { body: { data: { k: '1' } } }), 200), {
        data: { k: '1' },
        metadata: { deletionTimestamp: /Z$/ },
      })
      ok(await place.patch('configmaps', 'a', free))
    },
  },
]

const policies: readonly ServerCase[] = [
  ...(
    [
      ['Foreground', ['foregroundDeletion']],
      ['Orphan', ['orphan']],
      ['Background', undefined],
    ] as const
  ).map(([policy, left]): ServerCase => ({
    id: `server/delete/policy-${policy.toLowerCase()}`,
    rule: left
      ? `${policy} deletion is stored as the finalizer \`${left[0]}\`.`
      : 'Background deletion adds no finalizer: the object is deleted immediately.',
    async run(place) {
      for (const how of [
        { query: { propagationPolicy: policy } },
        { body: { ...options, propagationPolicy: policy } },
      ]) {
        ok(await place.post('configmaps', configMap('a')), 201)
        const answer = ok(await place.delete('configmaps', 'a', how), 200)
        if (left) expectMatch(answer, { kind: 'ConfigMap', metadata: { finalizers: left, deletionTimestamp: /Z$/ } })
        else expectMatch(answer, { kind: 'Status', status: 'Success' })
        if (left) ok(await place.patch('configmaps', 'a', free), 200)
      }
    },
  })),
  {
    id: 'server/delete/orphan-dependents',
    rule: 'orphanDependents=true is the deprecated form of Orphan; orphanDependents=false on an object with a finalizer returns 202.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      expectMatch(
        ok(await place.delete('configmaps', 'a', { body: { ...options, orphanDependents: true } }), 200).metadata,
        { finalizers: ['orphan'] },
      )
      ok(await place.patch('configmaps', 'a', free))
      ok(await place.post('configmaps', held))
      ok(await place.delete('configmaps', 'a', { body: { ...options, orphanDependents: false } }), 202)
      ok(await place.patch('configmaps', 'a', free))
    },
  },
  {
    id: 'server/delete/policy-changes',
    rule: 'A later delete with another policy replaces the finalizer of the earlier one.',
    needs: ['still'],
    async run(place) {
      ok(await place.post('configmaps', held))
      expectMatch(ok(await place.delete('configmaps', 'a', { query: { propagationPolicy: 'Foreground' } })).metadata, {
        finalizers: (all: string[]) => all.includes('foregroundDeletion'),
      })
      assert.deepEqual(
        [
          ...ok(await place.delete('configmaps', 'a', { query: { propagationPolicy: 'Orphan' } })).metadata.finalizers,
        ].sort(),
        ['example.com/judge', 'orphan'],
      )
      assert.deepEqual(
        ok(await place.delete('configmaps', 'a', { query: { propagationPolicy: 'Background' } })).metadata.finalizers,
        ['example.com/judge'],
      )
      ok(await place.patch('configmaps', 'a', free))
    },
  },
  {
    id: 'server/delete/foreground-then-background',
    rule: 'A Background delete of an object that waits for Foreground deletion removes it.',
    needs: ['still'],
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      ok(await place.delete('configmaps', 'a', { query: { propagationPolicy: 'Foreground' } }))
      ok(await place.get('configmaps', 'a'), 200)
      ok(await place.delete('configmaps', 'a', { query: { propagationPolicy: 'Background' } }), 200)
      expectStatus(await place.get('configmaps', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/delete/policy-kept',
    rule: 'A delete without a policy keeps the deletion finalizer that the object already has.',
    needs: ['still'],
    async run(place) {
      ok(await place.post('configmaps', configMap('a', { metadata: { finalizers: ['orphan'] } })))
      expectMatch(ok(await place.delete('configmaps', 'a'), 200).metadata, {
        finalizers: ['orphan'],
        deletionTimestamp: /Z$/,
      })
      ok(await place.patch('configmaps', 'a', free))
    },
  },
  {
    id: 'server/delete/event-has-no-dependents',
    rule: 'An Event is deleted immediately, whatever the policy.',
    async run(place) {
      ok(await place.post('events', sample('events', 'a', { involvedObject: { namespace: place.namespace } })))
      expectMatch(ok(await place.delete('events', 'a', { query: { propagationPolicy: 'Foreground' } }), 200), {
        kind: 'Status',
        status: 'Success',
      })
      expectStatus(await place.get('events', 'a'), { code: 404 })
    },
  },
  {
    id: 'server/delete/job-orphans',
    rule: 'A Job deleted without a policy orphans its Pods, with a warning.',
    async run(place) {
      ok(await place.post('jobs', sample('jobs', 'a')))
      const answer = await place.delete('jobs', 'a')
      assert.ok(ok(answer, 200).metadata.finalizers.includes('orphan'))
      assert.deepEqual(warningsOf(answer), [
        'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
      ])
      ok(await place.patch('jobs', 'a', free))
    },
  },
]

export const deleteCases: readonly ServerCase[] = [...answers, ...conditions, ...finalizers, ...policies]
