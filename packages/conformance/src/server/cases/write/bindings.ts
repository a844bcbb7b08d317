/**
 * Resources that can only be created: bindings, evictions and reviews.
 */
import type { Answer } from '../../answer.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { sample, type Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const node = { kind: 'Node', name: 'n' }

/** Posts a Binding to the collection. */
function bind(place: Place, body: Fields, query = {}): Promise<Answer> {
  return place.client.request('POST', `/api/v1/namespaces/${place.namespace}/bindings`, { body, query })
}

/** Posts a document to a subresource of the Pod `p`. */
function post(place: Place, subresource: string, body: Fields): Promise<Answer> {
  return place.client.request('POST', place.path('pods', `p/${subresource}`), { body })
}

const bindings: readonly ServerCase[] = [
  {
    id: 'server/binding/collection',
    rule: 'A Binding that is posted to `bindings` sets the node of the pod that it names.',
    async run(place) {
      ok(await place.post('pods', sample('pods', 'p')), 201)
      const body = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: node }
      expectMatch(ok(await bind(place, body), 201), { kind: 'Status', status: 'Success', code: 201 })
      expectMatch(ok(await place.get('pods', 'p')), {
        spec: { nodeName: 'n' },
        status: { conditions: [{ type: 'PodScheduled', status: 'True' }] },
      })
      expectStatus(await bind(place, body), {
        code: 409,
        reason: 'Conflict',
        message: 'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
      })
    },
  },
  {
    id: 'server/binding/collection-name',
    rule: 'A Binding that is posted to `bindings` has to name an existing pod of the namespace.',
    async run(place) {
      expectStatus(await bind(place, { target: node }), { code: 400, message: 'Name parameter required.' })
      expectStatus(await bind(place, { metadata: { name: 'p' }, target: node }), {
        code: 404,
        reason: 'NotFound',
        message: 'pods "p" not found',
        details: { name: 'p', kind: 'pods' },
      })
      expectStatus(await bind(place, { metadata: { name: 'p', namespace: 'other' }, target: node }), {
        code: 400,
        message: 'the namespace of the provided object does not match the namespace sent on the request',
      })
    },
  },
  {
    id: 'server/binding/dry-run',
    rule: 'A dry run of a Binding changes nothing.',
    async run(place) {
      const made = ok(await place.post('pods', sample('pods', 'p')), 201)
      ok(await bind(place, { metadata: { name: 'p' }, target: node }, { dryRun: 'All' }), 201)
      expectMatch(ok(await place.get('pods', 'p')), made)
    },
  },
  {
    id: 'server/binding/generation',
    rule: 'Binding a pod does not increment its generation.',
    async run(place) {
      ok(await place.post('pods', sample('pods', 'p')), 201)
      ok(await post(place, 'binding', { metadata: { name: 'p' }, target: node }), 201)
      expectMatch(ok(await place.get('pods', 'p')), { metadata: { generation: 1 }, spec: { nodeName: 'n' } })
    },
  },
  {
    id: 'server/binding/metadata',
    rule: 'Labels and annotations of a Binding are copied to the pod; another uid is a conflict.',
    async run(place) {
      ok(await place.post('pods', sample('pods', 'p', { metadata: { labels: { a: '1', b: '1' } } })), 201)
      expectStatus(await post(place, 'binding', { metadata: { name: 'p', uid: 'other' }, target: node }), {
        code: 409,
        reason: 'Conflict',
      })
      const metadata = { name: 'p', labels: { b: '2' }, annotations: { c: '3' } }
      ok(await post(place, 'binding', { metadata, target: { name: 'n' } }), 201)
      expectMatch(ok(await place.get('pods', 'p')).metadata, {
        labels: { a: '1', b: '2' },
        annotations: { c: '3' },
      })
    },
  },
  {
    id: 'server/binding/target',
    rule: 'A Binding needs the name of a node.',
    async run(place) {
      ok(await place.post('pods', sample('pods', 'p')), 201)
      expectStatus(await post(place, 'binding', { metadata: { name: 'p' } }), {
        code: 500,
        message: 'target.name: Required value',
      })
      expectStatus(await bind(place, { metadata: { name: 'p' }, target: { kind: 'Pod' } }), {
        code: 500,
        message:
          '[target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>", target.name: Required value]',
      })
    },
  },
  {
    id: 'server/binding/not-ready',
    rule: 'A pod with scheduling gates, or one that is being deleted, cannot be bound.',
    async run(place) {
      const gated = sample('pods', 'p', { spec: { schedulingGates: [{ name: 'example.com/gate' }] } })
      ok(await place.post('pods', gated), 201)
      const conflict = (message: string): object => ({ message: new RegExp(`"p": pod p ${message}$`) })
      const body = { metadata: { name: 'p' }, target: node }
      expectStatus(await post(place, 'binding', body), {
        code: 409,
        reason: 'Conflict',
        ...conflict('has non-empty .spec.schedulingGates'),
      })
      ok(await place.patch('pods', 'p', { body: { metadata: { finalizers: ['example.com/judge'] } } }))
      ok(await place.delete('pods', 'p'))
      expectStatus(await post(place, 'binding', body), {
        code: 409,
        reason: 'Conflict',
        ...conflict('is being deleted, cannot be assigned to a host'),
      })
      ok(await place.patch('pods', 'p', { body: { metadata: { finalizers: [] } } }))
    },
  },
  ...(['binding', 'eviction'] as const).map((subresource): ServerCase => {
    const kind = subresource === 'binding' ? 'Binding' : 'Eviction'
    return {
      id: `server/${subresource}/name`,
      rule: `The document that is posted to pods/${subresource} names the pod of the path.`,
      async run(place) {
        ok(await place.post('pods', sample('pods', 'p')), 201)
        for (const metadata of [{}, { name: 'other' }])
          expectStatus(await post(place, subresource, { metadata, target: node }), {
            code: 400,
            reason: 'BadRequest',
            message: `name in URL does not match name in ${kind} object`,
          })
      },
    }
  }),
]

/** Resources with the single verb create: the group and version, the resource, its kind, and the answer to `{}`. */
const createOnly: readonly (readonly [string, string, string, number, RegExp | undefined])[] = [
  ['/api/v1/namespaces/{}', 'bindings', 'Binding', 500, /^target.name: Required value$/],
  ['/apis/authentication.k8s.io/v1', 'tokenreviews', 'TokenReview', 400, /^token is required for TokenReview/],
  ['/apis/authentication.k8s.io/v1', 'selfsubjectreviews', 'SelfSubjectReview', 201, undefined],
  ['/apis/authorization.k8s.io/v1', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', 422, /exactly one of/],
  ['/apis/authorization.k8s.io/v1', 'selfsubjectrulesreviews', 'SelfSubjectRulesReview', 400, /^no namespace/],
  [
    '/apis/authorization.k8s.io/v1',
    'subjectaccessreviews',
    'SubjectAccessReview',
    422,
    /at least one of user or group/,
  ],
  [
    '/apis/authorization.k8s.io/v1/namespaces/{}',
    'localsubjectaccessreviews',
    'LocalSubjectAccessReview',
    422,
    /at least one of user or group/,
  ],
]

const sweep = createOnly.map(([root, plural, kind, code, message]): ServerCase => ({
  id: `server/create-only/${plural}`,
  rule: `POST to \`${plural}\` is answered by ${kind}, and by no other kind.`,
  async run(place) {
    const path = `${root.replace('{}', place.namespace)}/${plural}`
    const answer = await place.client.request('POST', path, { body: {} })
    if (code === 201) expectMatch(ok(answer, 201), { kind })
    else expectStatus(answer, { code, ...(message && { message }) })
    expectStatus(await place.client.request('POST', path, { body: { apiVersion: 'v1', kind: 'Pod' } }), {
      code: 400,
      reason: 'BadRequest',
    })
    expectStatus(await place.client.request('GET', path), { code: 405 })
  },
}))

export const createOnlyCases: readonly ServerCase[] = [...bindings, ...sweep]
