/**
 * Reading one object and lists: structure, order, label and field selectors.
 */
import assert from 'node:assert/strict'
import { expectMatch, expectStatus, namesOf, ok, warningsOf } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

/** Objects a to d with different labels; d has none. */
async function four(place: Place): Promise<void> {
  const labels: Readonly<Record<string, object>> = {
    a: { app: 'x', size: '1' },
    b: { app: 'y', size: '5' },
    c: { app: 'z', extra: '' },
    d: {},
  }
  for (const [name, some] of Object.entries(labels))
    ok(await place.post('leases', sample('leases', name, { metadata: { labels: some } })))
}

const shape: readonly ServerCase[] = [
  {
    id: 'server/get/export',
    rule: 'The query parameter export is rejected.',
    async run(place) {
      ok(await place.post('configmaps', configMap('a')))
      for (const value of ['true', '1'])
        expectStatus(await place.get('configmaps', 'a', { query: { export: value } }), {
          code: 400,
          reason: 'BadRequest',
          message: 'the export parameter, deprecated since v1.14, is no longer supported',
        })
      ok(await place.get('configmaps', 'a', { query: { export: 'false' } }), 200)
      ok(await place.list('configmaps', { export: 'true' }), 200)
    },
  },
  {
    id: 'server/get/missing',
    rule: 'A missing object is a 404 that names it.',
    async run(place) {
      assert.deepEqual(expectStatus(await place.get('configmaps', 'none'), { code: 404 }), {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'configmaps "none" not found',
        reason: 'NotFound',
        details: { name: 'none', kind: 'configmaps' },
        code: 404,
      })
      expectStatus(await place.get('deployments', 'none'), {
        code: 404,
        reason: 'NotFound',
        message: 'deployments.apps "none" not found',
        details: { name: 'none', group: 'apps', kind: 'deployments' },
      })
    },
  },
  {
    id: 'server/list/empty',
    rule: 'An empty list has an empty `items`, a kind and a resourceVersion.',
    async run(place) {
      const list = ok(await place.list('leases'), 200)
      expectMatch(list, {
        kind: 'LeaseList',
        apiVersion: 'coordination.k8s.io/v1',
        metadata: { resourceVersion: /^[1-9]\d*$/, continue: undefined, remainingItemCount: undefined },
      })
      assert.deepEqual(list.items, [])
    },
  },
  {
    id: 'server/list/items-without-kind',
    rule: 'The items of a list of a built-in kind do not repeat apiVersion and kind.',
    async run(place) {
      ok(await place.post('leases', sample('leases', 'a')))
      expectMatch(ok(await place.list('leases')), {
        items: [{ apiVersion: undefined, kind: undefined, metadata: { name: 'a', namespace: place.namespace } }],
      })
    },
  },
  {
    id: 'server/list/order',
    rule: 'A list is ordered by name.',
    async run(place) {
      for (const name of ['b', 'a-1', 'a', 'a.1', 'c0', 'c']) ok(await place.post('leases', sample('leases', name)))
      assert.deepEqual(namesOf(ok(await place.list('leases'))), ['a', 'a-1', 'a.1', 'b', 'c', 'c0'])
    },
  },
  {
    id: 'server/list/all-namespaces',
    rule: 'A list without a namespace spans all namespaces, ordered by `namespace/name` as text.',
    async run(place) {
      const other = place.unique('0')
      ok(await place.post('namespaces', sample('namespaces', other)))
      const label = { metadata: { labels: { run: place.namespace } } }
      for (const name of ['a', 'b']) ok(await place.post('leases', sample('leases', name, label)))
      ok(
        await place.client.request('POST', `/apis/coordination.k8s.io/v1/namespaces/${other}/leases`, {
          body: sample('leases', 'a', label),
        }),
        201,
      )
      const { items } = ok(
        await place.client.request('GET', '/apis/coordination.k8s.io/v1/leases', {
          query: { labelSelector: `run=${place.namespace}` },
        }),
      )
      assert.deepEqual(
        items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
        [`${other}/a`, `${place.namespace}/a`, `${place.namespace}/b`],
      )
    },
  },
  {
    id: 'server/list/namespace-that-is-not-there',
    rule: 'A list in a namespace that does not exist is empty, not a 404.',
    async run(place) {
      assert.deepEqual(
        ok(await place.client.request('GET', '/api/v1/namespaces/judge-nowhere/configmaps'), 200).items,
        [],
      )
    },
  },
  {
    id: 'server/list/deprecated',
    rule: 'Requests to a deprecated resource return a warning.',
    async run(place) {
      const answer = await place.list('endpoints')
      ok(answer, 200)
      assert.deepEqual(warningsOf(answer), [
        'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
      ])
    },
  },
  {
    id: 'server/list/sees-own-writes',
    rule: 'A list immediately after a write contains it.',
    async run(place) {
      for (let index = 0; index < 10; index++) {
        const made = ok(await place.post('leases', sample('leases', `a${index}`)))
        const list = ok(await place.list('leases'))
        assert.equal(list.items.length, index + 1)
        assert.ok(BigInt(list.metadata.resourceVersion) >= BigInt(made.metadata.resourceVersion))
      }
    },
  },
]

/** A label selector, and the objects of a to d that it matches. */
const selections: readonly (readonly [string, string, string])[] = [
  ['equal', 'app=x', 'a'],
  ['double-equal', 'app==x', 'a'],
  ['not-equal', 'app!=x', 'b c d'],
  ['in', 'app in (x,y)', 'a b'],
  ['not-in', 'app notin (x, y)', 'c d'],
  ['exists', 'app', 'a b c'],
  ['not-exists', '!app', 'd'],
  ['greater', 'size>1', 'b'],
  ['less', 'size<5', 'a'],
  ['both', 'app,size', 'a b'],
  ['empty-value', 'extra=', 'c'],
  ['nothing', 'app=x,app=y', ''],
  ['empty', '', 'a b c d'],
  ['spaces', ' app  in ( x , z ) ', 'a c'],
]

const labelSelectors = selections.map(([id, labelSelector, matches]): ServerCase => ({
  id: `server/list/labels-${id}`,
  rule: `The label selector \`${labelSelector}\` matches ${matches === '' ? 'nothing' : 'the right objects'}${id.startsWith('not') ? ', also those without the label' : ''}.`,
  async run(place) {
    await four(place)
    assert.equal(namesOf(ok(await place.list('leases', { labelSelector }))).join(' '), matches)
  },
}))

const badSelectors: readonly ServerCase[] = [
  {
    id: 'server/list/labels-unreadable',
    rule: 'A malformed label selector is a bad request.',
    async run(place) {
      for (const labelSelector of ['a in (', '=x', 'a b', 'a=b c', 'size>x'])
        expectStatus(await place.list('leases', { labelSelector }), { code: 400, reason: 'BadRequest' })
      expectStatus(await place.list('leases', { labelSelector: 'a b' }), {
        code: 400,
        message: `unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt`,
      })
    },
  },
  {
    id: 'server/list/fields-unreadable',
    rule: 'A malformed field selector is a bad request.',
    async run(place) {
      expectStatus(await place.list('leases', { fieldSelector: 'metadata.name' }), {
        code: 400,
        reason: 'BadRequest',
        message: `invalid selector: 'metadata.name'; can't understand 'metadata.name'`,
      })
    },
  },
  {
    id: 'server/list/fields-unsupported',
    rule: 'An unsupported field selector is a bad request that names the field.',
    async run(place) {
      expectStatus(await place.list('leases', { fieldSelector: 'spec.holderIdentity=x' }), {
        code: 400,
        reason: 'BadRequest',
        message: '"spec.holderIdentity" is not a known field selector: only "metadata.name", "metadata.namespace"',
      })
      expectStatus(await place.list('pods', { fieldSelector: 'spec.hostname=x' }), {
        code: 400,
        reason: 'BadRequest',
        message: 'field label not supported: spec.hostname',
      })
    },
  },
]

const fieldSelectors: readonly ServerCase[] = [
  {
    id: 'server/list/fields-metadata',
    rule: 'Every kind supports field selectors on name and namespace, with =, == and !=.',
    async run(place) {
      await four(place)
      const list = async (fieldSelector: string): Promise<string> =>
        namesOf(ok(await place.list('leases', { fieldSelector }))).join(' ')
      assert.equal(await list('metadata.name=b'), 'b')
      assert.equal(await list('metadata.name==b'), 'b')
      assert.equal(await list('metadata.name!=b'), 'a c d')
      assert.equal(await list(`metadata.namespace=${place.namespace},metadata.name!=a`), 'b c d')
      assert.equal(await list('metadata.namespace=other'), '')
      assert.equal(await list('metadata.name=b,metadata.name=c'), '')
    },
  },
  {
    id: 'server/list/fields-secret-type',
    rule: 'Secrets can be selected by type.',
    async run(place) {
      ok(await place.post('secrets', sample('secrets', 'a', { type: 'example.com/x' })))
      ok(await place.post('secrets', sample('secrets', 'b')))
      assert.deepEqual(namesOf(ok(await place.list('secrets', { fieldSelector: 'type=example.com/x' }))), ['a'])
      assert.deepEqual(namesOf(ok(await place.list('secrets', { fieldSelector: 'type=Opaque' }))), ['b'])
    },
  },
  {
    id: 'server/list/fields-pod',
    rule: 'Pods can be selected by phase, node, restart policy and more.',
    async run(place) {
      ok(await place.post('pods', sample('pods', 'a', { spec: { nodeName: 'judge', restartPolicy: 'Never' } })))
      ok(await place.post('pods', sample('pods', 'b')))
      const list = async (fieldSelector: string): Promise<string> =>
        namesOf(ok(await place.list('pods', { fieldSelector }))).join(' ')
      assert.equal(await list('spec.nodeName=judge'), 'a')
      assert.equal(await list('spec.nodeName='), 'b')
      assert.equal(await list('status.phase=Pending,spec.restartPolicy=Always'), 'b')
      assert.equal(await list('status.phase!=Pending'), '')
      ok(await place.delete('pods', 'a', { query: { gracePeriodSeconds: 0 } }))
    },
  },
  {
    id: 'server/list/fields-pod-more',
    rule: 'Pods can also be selected by service account, scheduler, host network and addresses.',
    async run(place) {
      ok(
        await place.post('pods', sample('pods', 'a', { spec: { schedulerName: 'mine', serviceAccountName: 'robot' } })),
      )
      const list = async (fieldSelector: string): Promise<string> =>
        namesOf(ok(await place.list('pods', { fieldSelector }))).join(' ')
      assert.equal(await list('spec.schedulerName=mine,spec.serviceAccountName=robot,spec.hostNetwork=false'), 'a')
      assert.equal(await list('status.podIP=,status.nominatedNodeName='), 'a')
      assert.equal(await list('spec.hostNetwork=true'), '')
    },
  },
  {
    id: 'server/list/fields-event',
    rule: 'Events can be selected by involved object, reason and type.',
    async run(place) {
      const about = (name: string): Readonly<Record<string, unknown>> =>
        sample('events', name, {
          involvedObject: { namespace: place.namespace, name, uid: `u-${name}` },
          reason: `R${name}`,
        })
      for (const name of ['a', 'b']) ok(await place.post('events', about(name)))
      const list = async (fieldSelector: string): Promise<string> =>
        namesOf(ok(await place.list('events', { fieldSelector }))).join(' ')
      assert.equal(await list('involvedObject.name=a'), 'a')
      assert.equal(await list('involvedObject.uid=u-b,involvedObject.kind=ConfigMap'), 'b')
      assert.equal(await list('reason=Ra,type=Normal,reportingComponent='), 'a')
      assert.equal(await list('involvedObject.apiVersion=v1,source=judge'), 'a b')
    },
  },
  {
    id: 'server/list/fields-namespace-phase',
    rule: 'Namespaces can be selected by phase.',
    async run(place) {
      const list = async (fieldSelector: string): Promise<string[]> =>
        namesOf(ok(await place.list('namespaces', { fieldSelector })))
      assert.deepEqual(await list(`metadata.name=${place.namespace},status.phase=Active`), [place.namespace])
      assert.deepEqual(await list(`metadata.name=${place.namespace},status.phase=Terminating`), [])
    },
  },
]

export const listCases: readonly ServerCase[] = [...shape, ...labelSelectors, ...badSelectors, ...fieldSelectors]
