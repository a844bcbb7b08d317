/**
 * Which writes a policy matches: rules, names, selectors, conditions, equivalent versions.
 */
import { defineCustom } from '../../custom.ts'
import { expectStatus, ok } from '../../expect.ts'
import { configMap, sample } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'
import { validating } from './bound.ts'

const rule = (resources: readonly string[], more: Fields = {}): Fields => ({
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources,
  ...more,
})
const never = [{ expression: 'false' }]

/** Reviews: the resource, the field that names the case, and the spec. */
const reviews: readonly (readonly [string, string, Fields])[] = [
  ['tokenreviews', 'token', { token: '$NS' }],
  ['subjectaccessreviews', 'user', { user: '$NS', nonResourceAttributes: { path: '/x', verb: 'get' } }],
  ['localsubjectaccessreviews', 'user', { user: '$NS', resourceAttributes: { verb: 'get', namespace: '$NS' } }],
  [
    'selfsubjectaccessreviews',
    'resourceAttributes.?namespace',
    { resourceAttributes: { namespace: '$NS', verb: 'x' } },
  ],
  ['selfsubjectrulesreviews', 'namespace', { namespace: '$NS' }],
]

function reviewPath(place: Place, plural: string): string {
  const group = plural === 'tokenreviews' ? 'authentication' : 'authorization'
  return `/apis/${group}.k8s.io/v1${plural.startsWith('local') ? `/namespaces/${place.namespace}` : ''}/${plural}`
}

/** Denies everything that is created and whose field has the name of the case: other cases must not see it. */
async function forEverything(place: Place, field: string): Promise<void> {
  const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['*'] }
  await validating(place, {
    a: {
      spec: {
        matchConstraints: { resourceRules: [everything] },
        matchConditions: [{ name: 'own', expression: `${field}.orValue("") == "${place.namespace}"` }],
        validations: never,
        failurePolicy: 'Ignore',
      },
      bindings: { b: { matchResources: { namespaceSelector: {} } } },
    },
  })
}

export const policyMatchCases: readonly ServerCase[] = [
  {
    id: 'server/policies/rules',
    rule: 'A policy matches the operations, groups and resources of its rules; `*` matches every resource and no subresource.',
    async run(place) {
      const matchConstraints = { resourceRules: [rule(['secrets']), rule(['configmaps'], { operations: ['UPDATE'] })] }
      await validating(place, { a: { spec: { matchConstraints, validations: never } } })
      ok(await place.post('configmaps', configMap('a')), 201)
      expectStatus(await place.patch('configmaps', 'a', { body: { data: { a: '1' } } }), { code: 422 })
      expectStatus(await place.post('secrets', sample('secrets', 'a')), { code: 422 })
      ok(await place.post('serviceaccounts', sample('serviceaccounts', 'a')), 201)
    },
  },
  {
    id: 'server/policies/wildcard',
    rule: 'Rules with `*` everywhere match everything in the namespaces of the binding.',
    async run(place) {
      const matchConstraints = {
        resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
      }
      await validating(place, {
        a: {
          spec: { matchConstraints, validations: [{ expression: 'object == null || object.metadata.name != "no"' }] },
        },
      })
      expectStatus(await place.post('deployments', sample('deployments', 'no')), { code: 422 })
      expectStatus(await place.post('leases', sample('leases', 'no')), { code: 422 })
      ok(await place.post('deployments', sample('deployments', 'yes')), 201)
      ok(await place.patch('deployments', 'yes/status', { body: { status: { replicas: 1 } } }), 200)
    },
  },
  {
    id: 'server/policies/excluded',
    rule: 'Excluded rules override matching rules.',
    async run(place) {
      // Cluster-scoped objects are shared: other cases create them too.
      const matchConstraints = {
        resourceRules: [rule(['*'], { scope: 'Namespaced' })],
        excludeResourceRules: [rule(['secrets', 'podtemplates']), rule(['configmaps'], { resourceNames: ['free'] })],
      }
      await validating(place, { a: { spec: { matchConstraints, validations: never } } })
      ok(await place.post('secrets', sample('secrets', 'a')), 201)
      ok(await place.post('configmaps', configMap('free')), 201)
      expectStatus(await place.post('configmaps', configMap('other')), { code: 422 })
    },
  },
  {
    id: 'server/policies/resource-names',
    rule: 'A rule can be limited to object names.',
    async run(place) {
      await validating(place, {
        a: {
          spec: {
            matchConstraints: { resourceRules: [rule(['configmaps'], { resourceNames: ['x', 'y'] })] },
            validations: never,
          },
        },
      })
      expectStatus(await place.post('configmaps', configMap('x')), { code: 422 })
      ok(await place.post('configmaps', configMap('z')), 201)
    },
  },
  {
    id: 'server/policies/object-selector',
    rule: 'An object selector checks the new and the old object: removing a label does not bypass the policy.',
    async run(place) {
      const matchConstraints = {
        resourceRules: [rule(['configmaps'])],
        objectSelector: { matchLabels: { guarded: 'yes' } },
      }
      await validating(place, { a: { spec: { matchConstraints, validations: [{ expression: 'has(object.data)' }] } } })
      ok(await place.post('configmaps', configMap('free')), 201)
      ok(
        await place.post('configmaps', configMap('a', { metadata: { labels: { guarded: 'yes' } }, data: { a: '1' } })),
        201,
      )
      expectStatus(await place.put('configmaps', 'a', { body: configMap('a') }), { code: 422 })
      expectStatus(await place.post('configmaps', configMap('b', { metadata: { labels: { guarded: 'yes' } } })), {
        code: 422,
      })
    },
  },
  {
    id: 'server/policies/binding-narrows',
    rule: 'A binding narrows the match of its policy and never widens it.',
    async run(place) {
      const matchConstraints = { resourceRules: [rule(['configmaps', 'secrets'])] }
      const matchResources = { resourceRules: [rule(['secrets', 'serviceaccounts'])] }
      await validating(place, {
        a: { spec: { matchConstraints, validations: never }, bindings: { b: { matchResources } } },
      })
      ok(await place.post('configmaps', configMap('a')), 201)
      ok(await place.post('serviceaccounts', sample('serviceaccounts', 'a')), 201)
      expectStatus(await place.post('secrets', sample('secrets', 'a')), { code: 422 })
    },
  },
  {
    id: 'server/policies/namespaces',
    rule: 'A Namespace counts as being in itself: the selector checks the labels it would have.',
    async run(place) {
      const matchConstraints = {
        resourceRules: [rule(['namespaces'])],
        namespaceSelector: { matchLabels: { judged: place.namespace } },
      }
      await validating(place, {
        a: {
          spec: {
            matchConstraints,
            validations: [
              {
                expression:
                  'request.name == object.metadata.name && request.namespace == object.metadata.name && object.metadata.name.endsWith("-ok")',
              },
            ],
          },
          bindings: { b: { matchResources: { namespaceSelector: {} } } },
        },
      })
      ok(await place.post('namespaces', sample('namespaces', place.unique('free'))), 201)
      ok(
        await place.post(
          'namespaces',
          sample('namespaces', place.unique('ok'), { metadata: { labels: { judged: place.namespace } } }),
        ),
        201,
      )
      expectStatus(
        await place.post(
          'namespaces',
          sample('namespaces', place.unique('no'), { metadata: { labels: { judged: place.namespace } } }),
        ),
        { code: 422 },
      )
    },
  },
  {
    id: 'server/policies/conditions',
    rule: 'Match conditions decide whether a policy runs: a false one wins over a failing one, and a failure follows the failure policy.',
    async run(place) {
      const matchConditions = [
        { name: 'fails', expression: 'object.data.missing == "x"' },
        { name: 'named', expression: 'object.metadata.name.startsWith("c-")' },
      ]
      await validating(place, {
        a: { spec: { matchConditions, validations: never } },
        i: {
          spec: {
            failurePolicy: 'Ignore',
            matchConditions: [{ name: 'fails', expression: 'object.data.missing == "y"' }],
            validations: never,
          },
        },
      })
      ok(await place.post('configmaps', configMap('free', { data: { a: '1' } })), 201)
      expectStatus(await place.post('configmaps', configMap('c-error', { data: { a: '1' } })), {
        code: 422,
        message: /denied request: expression 'object.data.missing == "x"' resulted in error: no such key: missing$/,
      })
      expectStatus(await place.post('configmaps', configMap('c-asked', { data: { missing: 'x' } })), {
        code: 422,
        message: /denied request: failed expression: false$/,
      })
      expectStatus(await place.post('configmaps', configMap('i-asked', { data: { missing: 'y' } })), { code: 422 })
    },
  },
  {
    id: 'server/policies/equivalent',
    rule: 'A policy for one version also matches the others and gets its own version; with the match policy Exact it does not.',
    async run(place) {
      const autoscalers = {
        apiGroups: ['autoscaling'],
        apiVersions: ['v1'],
        operations: ['CREATE'],
        resources: ['horizontalpodautoscalers'],
      }
      const validations = [
        {
          expression:
            'object.apiVersion == "autoscaling/v1" && request.kind.version == "v1" && request.requestKind.version == "v2" && request.resource.version == "v1" && request.requestResource.version == "v2" && object.spec.targetCPUUtilizationPercentage < 50',
          message: 'too much',
        },
      ]
      await validating(place, {
        a: { spec: { matchConstraints: { resourceRules: [autoscalers] }, validations } },
        e: { spec: { matchConstraints: { resourceRules: [autoscalers], matchPolicy: 'Exact' }, validations: never } },
      })
      const scaler = (name: string, averageUtilization: number): Fields =>
        sample('horizontalpodautoscalers', name, {
          spec: {
            metrics: [
              { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } },
            ],
          },
        })
      ok(await place.post('horizontalpodautoscalers', scaler('a', 40)), 201)
      expectStatus(await place.post('horizontalpodautoscalers', scaler('b', 60)), { code: 422, message: /too much$/ })
    },
  },
  {
    id: 'server/policies/custom-versions',
    rule: 'A policy for one version of a custom object gets objects of the other version converted to its own.',
    async run(place) {
      const versions = [
        { name: 'v1', served: true, storage: true },
        { name: 'v2', served: true, storage: false },
      ]
      const widgets = await defineCustom(place, { versions })
      const matchConstraints = {
        resourceRules: [
          { apiGroups: [widgets.group], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'] },
        ],
      }
      await validating(place, {
        a: {
          spec: {
            matchConstraints,
            validations: [{ expression: 'object.apiVersion.endsWith("/v1") && object.spec.size < 5' }],
          },
        },
      })
      const body = (name: string, version: string, size: number): Fields => ({
        apiVersion: `${widgets.group}/${version}`,
        kind: 'Widget',
        metadata: { name },
        spec: { size },
      })
      const path = (version: string): string =>
        `/apis/${widgets.group}/${version}/namespaces/${place.namespace}/widgets`
      ok(await place.client.request('POST', path('v2'), { body: body('a', 'v2', 4) }), 201)
      expectStatus(await place.client.request('POST', path('v2'), { body: body('b', 'v2', 5) }), { code: 422 })
      expectStatus(await place.client.request('POST', path('v1'), { body: body('c', 'v1', 5) }), { code: 422 })
    },
  },
  {
    id: 'server/policies/own-kinds',
    rule: 'Policies never match policies and their bindings.',
    async run(place) {
      await forEverything(place, 'object.metadata.?labels[?"case"]')
      const metadata = { labels: { case: place.namespace } }
      const spec = {
        matchConstraints: { resourceRules: [rule(['configmaps'])] },
        validations: [{ expression: 'true' }],
      }
      const policy = sample('validatingadmissionpolicies', place.unique('c'), { metadata, spec })
      ok(await place.post('validatingadmissionpolicies', policy), 201)
      const binding = sample('validatingadmissionpolicybindings', place.unique('c'), {
        metadata,
        spec: { policyName: place.unique('c'), validationActions: ['Audit'] },
      })
      ok(await place.post('validatingadmissionpolicybindings', binding), 201)
    },
  },
  {
    id: 'server/policies/webhook-configurations',
    rule: 'Policies match webhook configurations.',
    async run(place) {
      await forEverything(place, 'object.metadata.?labels[?"case"]')
      for (const kind of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'] as const) {
        const body = sample(kind, place.unique('c'), { metadata: { labels: { case: place.namespace } } })
        expectStatus(await place.post(kind, body), { code: 422, reason: 'Invalid' })
      }
    },
  },
  {
    id: 'server/policies/bindings',
    rule: 'Policies match Bindings of pods.',
    async run(place) {
      await forEverything(place, 'object.metadata.?labels[?"case"]')
      const path = `/api/v1/namespaces/${place.namespace}/bindings`
      const metadata = { name: 'p', labels: { case: place.namespace } }
      expectStatus(await place.client.request('POST', path, { body: { metadata, target: { name: 'n' } } }), {
        code: 422,
        reason: 'Invalid',
      })
    },
  },
  ...reviews.map(([plural, field, spec]): ServerCase => ({
    id: `server/policies/no-${plural}`,
    rule: `Policies never match ${plural}.`,
    async run(place) {
      await forEverything(place, `object.?spec.?${field}`)
      const text = JSON.stringify({ spec }).replaceAll('$NS', place.namespace)
      ok(await place.client.request('POST', reviewPath(place, plural), { body: JSON.parse(text) }), 201)
    },
  })),
]
