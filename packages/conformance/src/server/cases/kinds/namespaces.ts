/**
 * Namespaces, Leases, and Events, which are served in two groups.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const nameLabel = 'kubernetes.io/metadata.name'

const living: readonly ServerCase[] = [
  {
    id: 'server/namespaces/created',
    rule: 'A new namespace is Active, has the finalizer `kubernetes` in its spec and a label with its name, whatever the client sends.',
    async run(place) {
      const name = place.unique('a')
      const made = ok(
        await place.post(
          'namespaces',
          sample('namespaces', name, {
            metadata: { labels: { [nameLabel]: 'other' } },
            status: { phase: 'Terminating' },
          }),
        ),
        201,
      )
      expectMatch(made, {
        metadata: { labels: { [nameLabel]: name } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      })
    },
  },
  {
    id: 'server/namespaces/label-stays',
    rule: 'The label with the name cannot be removed or changed.',
    async run(place) {
      const name = place.unique('a')
      ok(await place.post('namespaces', sample('namespaces', name)))
      expectMatch(ok(await place.put('namespaces', name, { body: sample('namespaces', name) }), 200).metadata, {
        labels: { [nameLabel]: name },
      })
      expectMatch(ok(await place.patch('namespaces', name, { body: { metadata: { labels: null } } }), 200).metadata, {
        labels: { [nameLabel]: name },
      })
    },
  },
  {
    id: 'server/namespaces/status-without-phase',
    rule: 'A replace of the status without a phase keeps the namespace Active; its phase cannot become another one.',
    async run(place) {
      const name = place.unique('a')
      ok(await place.post('namespaces', sample('namespaces', name)))
      const put = (status: object | undefined): ReturnType<typeof place.put> =>
        place.put('namespaces', `${name}/status`, { body: sample('namespaces', name, { status }) })
      for (const status of [undefined, {}]) expectMatch(ok(await put(status), 200).status, { phase: 'Active' })
      expectStatus(await put({ phase: 'Terminating' }), {
        code: 422,
        message: /status\.Phase: Invalid value: "Terminating": may only be 'Active' if `deletionTimestamp` is empty$/,
      })
    },
  },
  {
    id: 'server/namespaces/finalizers-stay',
    rule: 'A replace does not change the finalizers in the spec; `finalize` does.',
    async run(place) {
      const name = place.unique('a')
      ok(await place.post('namespaces', sample('namespaces', name)))
      expectMatch(ok(await place.put('namespaces', name, { body: sample('namespaces', name) })).spec, {
        finalizers: ['kubernetes'],
      })
      expectMatch(ok(await place.patch('namespaces', name, { body: { spec: { finalizers: [] } } })).spec, {
        finalizers: ['kubernetes'],
      })
      const finalize = (finalizers: string[]): ReturnType<typeof place.put> =>
        place.put('namespaces', `${name}/finalize`, { body: sample('namespaces', name, { spec: { finalizers } }) })
      expectMatch(ok(await finalize(['kubernetes', 'example.com/judge']), 200).spec, {
        finalizers: ['kubernetes', 'example.com/judge'],
      })
      expectMatch(ok(await finalize(['kubernetes']), 200).spec, { finalizers: ['kubernetes'] })
    },
  },
  {
    id: 'server/namespaces/own-finalizer',
    rule: "Finalizers that the client sets are kept next to the server's.",
    async run(place) {
      const name = place.unique('a')
      const made = ok(
        await place.post('namespaces', sample('namespaces', name, { spec: { finalizers: ['example.com/judge'] } })),
        201,
      )
      assert.deepEqual(made.spec['finalizers'], ['example.com/judge', 'kubernetes'])
      ok(
        await place.put('namespaces', `${name}/finalize`, {
          body: sample('namespaces', name, { spec: { finalizers: ['kubernetes'] } }),
        }),
      )
    },
  },
  {
    id: 'server/namespaces/status',
    rule: 'The status of a namespace can be written through its status path.',
    async run(place) {
      const name = place.unique('a')
      ok(await place.post('namespaces', sample('namespaces', name)))
      const next = ok(
        await place.patch('namespaces', `${name}/status`, {
          body: { status: { conditions: [{ type: 'Judged', status: 'True' }] } },
        }),
        200,
      )
      expectMatch(next.status, { phase: 'Active', conditions: [{ type: 'Judged', status: 'True' }] })
    },
  },
  {
    id: 'server/namespaces/there-from-the-start',
    rule: 'default, kube-system, kube-public and kube-node-lease always exist.',
    async run(place) {
      for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease'])
        expectMatch(ok(await place.get('namespaces', name), 200).metadata, { labels: { [nameLabel]: name } })
    },
  },
]

const dying: readonly ServerCase[] = [
  {
    id: 'server/namespaces/delete',
    rule: 'A delete returns the namespace as Terminating, with a deletion timestamp and no grace period; a second delete returns the same.',
    async run(place) {
      const name = place.unique('a')
      ok(
        await place.post('namespaces', sample('namespaces', name, { metadata: { finalizers: ['example.com/judge'] } })),
      )
      const next = ok(await place.delete('namespaces', name), 200)
      expectMatch(next, {
        kind: 'Namespace',
        metadata: { name, deletionTimestamp: /Z$/, deletionGracePeriodSeconds: undefined },
        status: { phase: 'Terminating' },
      })
      expectMatch(ok(await place.delete('namespaces', name), 200), {
        kind: 'Namespace',
        metadata: { deletionTimestamp: next.metadata.deletionTimestamp },
        status: { phase: 'Terminating' },
      })
      ok(await place.patch('namespaces', name, { body: { metadata: { finalizers: null } } }))
    },
  },
  {
    id: 'server/namespaces/terminating',
    rule: 'Creates in a terminating namespace are rejected with the reason; existing objects can be changed and deleted.',
    needs: ['still'],
    async run(place) {
      const name = place.unique('a')
      const path = `/api/v1/namespaces/${name}/configmaps`
      ok(await place.post('namespaces', sample('namespaces', name)))
      ok(await place.client.request('POST', path, { body: configMap('old') }), 201)
      ok(await place.delete('namespaces', name), 200)
      expectStatus(await place.client.request('POST', path, { body: configMap('new') }), {
        code: 403,
        reason: 'Forbidden',
        message: `configmaps "new" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
        details: {
          name: 'new',
          kind: 'configmaps',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: `namespace ${name} is being terminated`,
              field: 'metadata.namespace',
            },
          ],
        },
      })
      ok(await place.client.request('PUT', `${path}/old`, { body: configMap('old', { data: { k: '1' } }) }), 200)
      ok(
        await place.client.request('PATCH', `${path}/old`, {
          body: { data: { k: '2' } },
          type: 'application/merge-patch+json',
        }),
        200,
      )
      ok(await place.client.request('DELETE', `${path}/old`), 200)
    },
  },
  {
    id: 'server/namespaces/finalized',
    rule: 'A terminating namespace is removed with its last finalizer.',
    needs: ['still'],
    async run(place) {
      const name = place.unique('a')
      ok(await place.post('namespaces', sample('namespaces', name)))
      ok(await place.delete('namespaces', name), 200)
      ok(
        await place.put('namespaces', `${name}/finalize`, {
          body: sample('namespaces', name, { spec: { finalizers: [] } }),
        }),
        200,
      )
      expectStatus(await place.get('namespaces', name), {
        code: 404,
        reason: 'NotFound',
        message: `namespaces "${name}" not found`,
      })
    },
  },
  {
    id: 'server/namespaces/immortal',
    rule: 'default, kube-system and kube-public cannot be deleted.',
    async run(place) {
      for (const name of ['default', 'kube-system', 'kube-public']) {
        expectStatus(await place.delete('namespaces', name), {
          code: 403,
          reason: 'Forbidden',
          message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
          details: { name, kind: 'namespaces' },
        })
      }
    },
  },
  {
    id: 'server/namespaces/uid-precondition',
    rule: 'A delete of a namespace with another uid is a conflict.',
    async run(place) {
      const {
        metadata: { uid },
      } = ok(await place.get('namespaces', place.namespace))
      expectStatus(await place.delete('namespaces', place.namespace, { body: { preconditions: { uid: 'other' } } }), {
        code: 409,
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on namespaces "${place.namespace}": Precondition failed: UID in precondition: other, UID in object meta: ${uid}`,
      })
      expectMatch(ok(await place.get('namespaces', place.namespace)).status, { phase: 'Active' })
    },
  },
  {
    id: 'server/namespaces/no-collection',
    rule: 'Namespaces cannot be deleted as a collection.',
    async run(place) {
      expectStatus(await place.delete('namespaces', undefined, { query: { labelSelector: 'judge=never' } }), {
        code: 405,
        reason: 'MethodNotAllowed',
      })
    },
  },
  {
    id: 'server/namespaces/writes-to-missing',
    rule: 'In a missing namespace, a replace, a patch and a delete are a 404 about the object or the namespace.',
    async run(place) {
      const path = '/api/v1/namespaces/judge-nowhere/configmaps/a'
      for (const answer of [
        await place.client.request('PUT', path, { body: configMap('a') }),
        await place.client.request('DELETE', path),
        await place.client.request('PATCH', path, { body: {}, type: 'application/merge-patch+json' }),
        await place.client.request('GET', path),
      ])
        expectStatus(answer, {
          code: 404,
          reason: 'NotFound',
          message: /^(?:configmaps "a"|namespaces "judge-nowhere") not found$/,
        })
    },
  },
]

const events: readonly ServerCase[] = [
  {
    id: 'server/events/two-groups',
    rule: 'An Event created in the core group is readable in events.k8s.io, with its fields under the new names.',
    async run(place) {
      const path = `/apis/events.k8s.io/v1/namespaces/${place.namespace}/events`
      const made = ok(
        await place.post(
          'events',
          sample('events', 'a', {
            involvedObject: { namespace: place.namespace },
            count: 3,
            firstTimestamp: '2020-01-01T00:00:00Z',
            lastTimestamp: '2020-01-02T00:00:00Z',
          }),
        ),
        201,
      )
      expectMatch(ok(await place.client.request('GET', `${path}/a`), 200), {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion },
        regarding: { kind: 'ConfigMap', name: 'a', namespace: place.namespace },
        note: 'm',
        reason: 'Judged',
        type: 'Normal',
        deprecatedCount: 3,
        deprecatedSource: { component: 'judge' },
        deprecatedFirstTimestamp: '2020-01-01T00:00:00Z',
        involvedObject: undefined,
        message: undefined,
      })
    },
  },
  {
    id: 'server/events/two-groups-back',
    rule: 'An Event created in events.k8s.io is readable in the core group.',
    async run(place) {
      const path = `/apis/events.k8s.io/v1/namespaces/${place.namespace}/events`
      const body = {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: 'a' },
        eventTime: '2020-01-01T00:00:00.123456Z',
        reportingController: 'example.com/judge',
        reportingInstance: 'j-1',
        action: 'Judge',
        reason: 'Judged',
        note: 'n',
        type: 'Normal',
        regarding: { kind: 'ConfigMap', name: 'a', namespace: place.namespace },
      }
      ok(await place.client.request('POST', path, { body }), 201)
      expectMatch(ok(await place.get('events', 'a'), 200), {
        apiVersion: 'v1',
        kind: 'Event',
        involvedObject: { name: 'a' },
        message: 'n',
        eventTime: '2020-01-01T00:00:00.123456Z',
        reportingComponent: 'example.com/judge',
        reportingInstance: 'j-1',
        action: 'Judge',
      })
      ok(await place.delete('events', 'a'), 200)
      expectStatus(await place.client.request('GET', `${path}/a`), {
        code: 404,
        reason: 'NotFound',
        message: 'events.events.k8s.io "a" not found',
      })
    },
  },
  {
    id: 'server/events/watch-other-group',
    rule: 'A watch in one group sends the events of objects created through the other.',
    async run(place) {
      const stream = await place.client.watch(`/apis/events.k8s.io/v1/namespaces/${place.namespace}/events`)
      ok(await place.post('events', sample('events', 'a', { involvedObject: { namespace: place.namespace } })))
      expectMatch(await stream.next(), {
        type: 'ADDED',
        object: { apiVersion: 'events.k8s.io/v1', regarding: { name: 'a' } },
      })
    },
  },
  {
    id: 'server/events/new-group-is-strict',
    rule: 'events.k8s.io requires fields that the core group does not: eventTime and type, then controller, instance, action and reason.',
    async run(place) {
      const path = `/apis/events.k8s.io/v1/namespaces/${place.namespace}/events`
      const missing = async (rest: object): Promise<string[]> => {
        const { details } = expectStatus(
          await place.client.request('POST', path, {
            body: {
              metadata: { name: 'a' },
              ...rest,
              regarding: { kind: 'ConfigMap', name: 'a', namespace: place.namespace },
            },
          }),
          { code: 422, reason: 'Invalid' },
        ) as unknown as { details: { causes: { field: string }[] } }
        return [...new Set(details.causes.map(({ field }) => field))].sort()
      }
      assert.deepEqual(await missing({}), ['eventTime', 'type'])
      assert.deepEqual(await missing({ eventTime: '2020-01-01T00:00:00.000000Z', type: 'Normal' }), [
        'action',
        'reason',
        'reportingController',
        'reportingInstance',
      ])
    },
  },
  {
    id: 'server/leases/election',
    rule: 'A Lease can be acquired and renewed: times keep their microseconds, and a late writer gets a conflict.',
    async run(place) {
      const renewTime = '2020-01-01T00:00:00.000001Z'
      const made = ok(
        await place.post(
          'leases',
          sample('leases', 'a', {
            spec: {
              holderIdentity: 'one',
              leaseDurationSeconds: 15,
              acquireTime: renewTime,
              renewTime,
              leaseTransitions: 0,
            },
          }),
        ),
        201,
      )
      expectMatch(made.spec, { holderIdentity: 'one', renewTime, leaseTransitions: 0 })
      expectMatch(
        ok(
          await place.put('leases', 'a', {
            body: { ...made, spec: { ...made.spec, renewTime: '2020-01-01T00:00:05.500000Z' } },
          }),
          200,
        ).spec,
        { renewTime: '2020-01-01T00:00:05.500000Z' },
      )
      expectStatus(
        await place.put('leases', 'a', { body: { ...made, spec: { ...made.spec, holderIdentity: 'two' } } }),
        { code: 409, reason: 'Conflict' },
      )
      expectStatus(await place.patch('leases', 'a', { body: { spec: { renewTime: '2020-01-01T00:00:05.5Z' } } }), {
        code: 422,
        message: /parsing time "2020-01-01T00:00:05\.5Z"/,
      })
    },
  },
]

export const namespaceCases: readonly ServerCase[] = [...living, ...dying, ...events]
