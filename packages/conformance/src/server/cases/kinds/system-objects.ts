/**
 * The objects that an API server creates at its start, and those that follow its state.
 */
import assert from 'node:assert/strict'
import { defineCustom, eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import type { Fields } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const flowControl = '/apis/flowcontrol.apiserver.k8s.io/v1'
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'

interface Expected {
  readonly id: string
  readonly rule: string
  readonly path: string
  readonly object: Fields
}

const everything = [
  {
    nonResourceRules: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
    resourceRules: [{ apiGroups: ['*'], clusterScope: true, namespaces: ['*'], resources: ['*'], verbs: ['*'] }],
  },
]

const expected: readonly Expected[] = [
  {
    id: 'priority-class',
    rule: 'The priority classes of the system exist.',
    path: '/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical',
    object: { metadata: { generation: 1 }, value: 2_000_000_000, preemptionPolicy: 'PreemptLowerPriority' },
  },
  {
    id: 'flow-schema',
    rule: 'The default FlowSchemas exist.',
    path: `${flowControl}/flowschemas/catch-all`,
    object: {
      metadata: { generation: 1, annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } },
      spec: {
        distinguisherMethod: { type: 'ByUser' },
        matchingPrecedence: 10_000,
        priorityLevelConfiguration: { name: 'catch-all' },
        rules: [
          {
            ...everything[0],
            subjects: [
              { group: { name: 'system:unauthenticated' }, kind: 'Group' },
              { group: { name: 'system:authenticated' }, kind: 'Group' },
            ],
          },
        ],
      },
      status: { conditions: [{ type: 'Dangling', status: 'False', reason: 'Found' }] },
    },
  },
  {
    id: 'leader-election',
    rule: 'Leader election has its own FlowSchema.',
    path: `${flowControl}/flowschemas/system-leader-election`,
    object: {
      spec: {
        matchingPrecedence: 100,
        rules: [
          {
            nonResourceRules: undefined,
            resourceRules: [
              {
                apiGroups: ['coordination.k8s.io'],
                clusterScope: undefined,
                namespaces: ['*'],
                resources: ['leases'],
                verbs: ['get', 'create', 'update'],
              },
            ],
            subjects: [
              { kind: 'User', user: { name: 'system:kube-controller-manager' } },
              { kind: 'User', user: { name: 'system:kube-scheduler' } },
              { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'kube-system' } },
            ],
          },
        ],
      },
    },
  },
  {
    id: 'priority-level',
    rule: 'The default PriorityLevelConfigurations exist.',
    path: `${flowControl}/prioritylevelconfigurations/workload-low`,
    object: {
      spec: {
        type: 'Limited',
        exempt: undefined,
        limited: {
          lendablePercent: 90,
          limitResponse: { queuing: { handSize: 6, queueLengthLimit: 50, queues: 128 }, type: 'Queue' },
          nominalConcurrencyShares: 100,
        },
      },
    },
  },
  {
    id: 'exempt-level',
    rule: 'The level of administrators has no limit.',
    path: `${flowControl}/prioritylevelconfigurations/exempt`,
    object: {
      spec: { type: 'Exempt', exempt: { lendablePercent: 0, nominalConcurrencyShares: 0 }, limited: undefined },
    },
  },
  {
    id: 'core-api-service',
    rule: 'The core group has an APIService that is always available.',
    path: `${apiServices}/v1.`,
    object: {
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
      spec: { group: undefined, groupPriorityMinimum: 18_000, version: 'v1', versionPriority: 1, service: undefined },
      status: {
        conditions: [
          {
            type: 'Available',
            status: 'True',
            reason: 'Local',
            message: 'Local APIServices are always available',
            lastTransitionTime: /./,
          },
        ],
      },
    },
  },
  {
    id: 'api-service',
    rule: 'Every group and version has an APIService with its priority.',
    path: `${apiServices}/v2.autoscaling`,
    object: { spec: { group: 'autoscaling', groupPriorityMinimum: 17_500, version: 'v2', versionPriority: 30 } },
  },
  {
    id: 'service',
    rule: 'The Service of the API server exists.',
    path: '/api/v1/namespaces/default/services/kubernetes',
    object: {
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { type: 'ClusterIP', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] },
    },
  },
]

const existing = expected.map(({ id, rule, path, object }): ServerCase => ({
  id: `server/system-objects/${id}`,
  rule,
  async run(place) {
    expectMatch(ok(await place.client.request('GET', path)), object)
  },
}))

const names = async (place: Parameters<ServerCase['run']>[0], path: string): Promise<string[]> =>
  ok(await place.client.request('GET', path))
    .items.map(({ metadata }) => metadata.name)
    .sort()

const more: readonly ServerCase[] = [
  {
    id: 'server/system-objects/flow-control-names',
    rule: 'Eleven FlowSchemas and eight PriorityLevelConfigurations exist.',
    async run(place) {
      assert.deepEqual(await names(place, `${flowControl}/flowschemas`), [
        'catch-all',
        'exempt',
        'global-default',
        'kube-controller-manager',
        'kube-scheduler',
        'kube-system-service-accounts',
        'probes',
        'service-accounts',
        'system-leader-election',
        'system-node-high',
        'system-nodes',
      ])
      assert.deepEqual(await names(place, `${flowControl}/prioritylevelconfigurations`), [
        'catch-all',
        'exempt',
        'global-default',
        'leader-election',
        'node-high',
        'system',
        'workload-high',
        'workload-low',
      ])
    },
  },
  {
    id: 'server/system-objects/endpoints',
    needs: ['authentication'],
    rule: 'The Endpoints and the EndpointSlice of the API server have its port, and so does its Service.',
    async run(place) {
      const slice = ok(
        await place.client.request('GET', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes'),
      )
      const ports = slice['ports'] as { port: number }[]
      expectMatch(slice, {
        metadata: { labels: { 'kubernetes.io/service-name': 'kubernetes' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: [/^[\d.]+$/], conditions: { ready: true } }],
        ports: [{ name: 'https', protocol: 'TCP' }],
      })
      const endpoints = ok(await place.client.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes'))
      expectMatch(endpoints, {
        metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
        subsets: [{ addresses: [{ ip: /^[\d.]+$/ }], ports: [{ name: 'https', port: ports[0]?.port }] }],
      })
      const service = ok(await place.client.request('GET', '/api/v1/namespaces/default/services/kubernetes'))
      expectMatch(service.spec, { ports: [{ targetPort: ports[0]?.port }] })
    },
  },
  {
    id: 'server/system-objects/authentication',
    needs: ['authentication'],
    rule: 'A ConfigMap has the authorities of client certificates, for API servers and controllers.',
    async run(place) {
      const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
      const { data } = ok(await place.client.request('GET', path)) as unknown as { data: Fields }
      assert.match(String(data['client-ca-file']), /^-----BEGIN CERTIFICATE-----\n[\s\S]+-----END CERTIFICATE-----\n$/)
    },
  },
  {
    id: 'server/system-objects/custom-api-service',
    rule: 'The versions of custom resources have APIServices, as long as a CRD serves them.',
    async run(place) {
      const { group } = await defineCustom(place)
      const get = (): ReturnType<typeof place.client.request> =>
        place.client.request('GET', `${apiServices}/v1.${group}`)
      const found = await eventually(get, ({ status, json }) => status === 200 && 'status' in json)
      expectMatch(found.json, {
        metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
        spec: { group, groupPriorityMinimum: 1000, version: 'v1', versionPriority: 100 },
        status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
      })
      await place.client.request('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`)
      expectStatus(await eventually(get, ({ status }) => status === 404), { code: 404 })
    },
  },
]

export const systemObjectCases: readonly ServerCase[] = [...existing, ...more]
