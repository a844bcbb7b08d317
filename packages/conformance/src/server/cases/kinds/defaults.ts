/**
 * Defaulting of built-in kinds.
 */
import assert from 'node:assert/strict'
import { expectMatch, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { ResourceName } from '../../samples.ts'
import type { ServerCase } from '../../target.ts'

const podSpec = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
}
const container = {
  name: 'main',
  image: 'judge:1',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
}

/** A resource, the fields sent in addition to the smallest object, and the expected fields. */
const filled: readonly (readonly [
  string,
  ResourceName,
  Readonly<Record<string, unknown>>,
  Readonly<Record<string, unknown>>,
])[] = [
  [
    'deployment',
    'deployments',
    {},
    {
      spec: {
        replicas: 1,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
        revisionHistoryLimit: 10,
        progressDeadlineSeconds: 600,
        template: { spec: { ...podSpec, containers: [container] } },
      },
      status: {},
    },
  ],
  [
    'deployment-recreate',
    'deployments',
    { spec: { strategy: { type: 'Recreate' } } },
    { spec: { strategy: { type: 'Recreate', rollingUpdate: undefined } } },
  ],
  ['replica-set', 'replicasets', {}, { spec: { replicas: 1 }, status: { replicas: 0 } }],
  [
    'stateful-set',
    'statefulsets',
    {},
    {
      spec: {
        replicas: 1,
        podManagementPolicy: 'OrderedReady',
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
        revisionHistoryLimit: 10,
        persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      },
      status: { replicas: 0, availableReplicas: 0 },
    },
  ],
  [
    'daemon-set',
    'daemonsets',
    {},
    {
      spec: {
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
        revisionHistoryLimit: 10,
      },
      status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
    },
  ],
  [
    'job',
    'jobs',
    {},
    {
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        completionMode: 'NonIndexed',
        suspend: false,
        manualSelector: false,
        podReplacementPolicy: 'TerminatingOrFailed',
      },
      status: {},
    },
  ],
  [
    'cron-job',
    'cronjobs',
    {},
    { spec: { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 } },
  ],
  [
    'pod',
    'pods',
    {},
    {
      spec: { ...podSpec, containers: [container], enableServiceLinks: true },
      status: { phase: 'Pending', qosClass: 'BestEffort' },
    },
  ],
  [
    'pod-latest',
    'pods',
    {
      spec: {
        containers: [
          { name: 'a', image: 'i' },
          { name: 'b', image: 'i:latest' },
          { name: 'c', image: 'i@sha256:'.concat('0'.repeat(64)) },
        ],
      },
    },
    {
      spec: {
        containers: [{ imagePullPolicy: 'Always' }, { imagePullPolicy: 'Always' }, { imagePullPolicy: 'IfNotPresent' }],
      },
    },
  ],
  [
    'pod-probe',
    'pods',
    {
      spec: {
        containers: [
          { name: 'a', image: 'i', ports: [{ containerPort: 80 }], livenessProbe: { httpGet: { port: 80 } } },
        ],
      },
    },
    {
      spec: {
        containers: [
          {
            ports: [{ containerPort: 80, protocol: 'TCP' }],
            livenessProbe: {
              httpGet: { path: '/', port: 80, scheme: 'HTTP' },
              timeoutSeconds: 1,
              periodSeconds: 10,
              successThreshold: 1,
              failureThreshold: 3,
            },
          },
        ],
      },
    },
  ],
  [
    'pod-requests',
    'pods',
    { spec: { containers: [{ name: 'a', image: 'i', resources: { limits: { cpu: '1', memory: '1024Mi' } } }] } },
    {
      spec: {
        containers: [{ resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } } }],
      },
      status: { qosClass: 'Guaranteed' },
    },
  ],
  [
    'pod-volumes',
    'pods',
    {
      spec: {
        volumes: [{ name: 'a' }, { name: 'b', configMap: { name: 'x' } }, { name: 'c', secret: { secretName: 'x' } }],
      },
    },
    {
      spec: { volumes: [{ emptyDir: {} }, { configMap: { defaultMode: 420 } }, { secret: { defaultMode: 420 } }] },
    },
  ],
  [
    'service',
    'services',
    {},
    {
      spec: {
        type: 'ClusterIP',
        sessionAffinity: 'None',
        internalTrafficPolicy: 'Cluster',
        ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
      },
      status: { loadBalancer: {} },
    },
  ],
  [
    'service-headless',
    'services',
    { spec: { clusterIP: 'None' } },
    { spec: { clusterIP: 'None', clusterIPs: ['None'] } },
  ],
  ['secret', 'secrets', {}, { type: 'Opaque', data: undefined }],
  ['lease', 'leases', {}, { spec: {} }],
  [
    'ingress-path',
    'ingresses',
    {
      spec: {
        rules: [
          {
            http: {
              paths: [{ pathType: 'Prefix', path: '/', backend: { service: { name: 'x', port: { number: 80 } } } }],
            },
          },
        ],
      },
    },
    { status: { loadBalancer: {} } },
  ],
  ['network-policy', 'networkpolicies', {}, { spec: { podSelector: {}, policyTypes: ['Ingress'] } }],
  [
    'autoscaler',
    'horizontalpodautoscalers',
    {},
    {
      spec: {
        minReplicas: 1,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } },
        ],
      },
    },
  ],
  ['claim', 'persistentvolumeclaims', {}, { spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } }],
  [
    'role-binding',
    'rolebindings',
    {
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'ServiceAccount', name: 's', namespace: 'default' },
      ],
      roleRef: { apiGroup: undefined },
    },
    {
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io' }, { apiGroup: undefined }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io' },
    },
  ],
  ['priority-class', 'priorityclasses', {}, { value: 5, preemptionPolicy: 'PreemptLowerPriority' }],
  ['storage-class', 'storageclasses', {}, { reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }],
]

const table = filled.map(([id, resource, sent, expected]): ServerCase => ({
  id: `server/defaults/${id}`,
  rule: `Omitted fields of ${resource} get their defaults (${id}).`,
  async run(place) {
    const name = place.unique('a')
    const made = ok(await place.post(resource, sample(resource, name, sent)), 201)
    expectMatch(made, expected, `${resource} `)
    assert.deepEqual(ok(await place.get(resource, name)).spec, made.spec)
  },
}))

const more: readonly ServerCase[] = [
  {
    id: 'server/defaults/job-selector',
    rule: 'A Job gets a generated selector and labels that its Pods share.',
    async run(place) {
      const made = ok(await place.post('jobs', sample('jobs', 'a')), 201)
      const labels = {
        'batch.kubernetes.io/controller-uid': made.metadata.uid,
        'batch.kubernetes.io/job-name': 'a',
        'controller-uid': made.metadata.uid,
        'job-name': 'a',
      }
      expectMatch(made.spec, {
        selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': made.metadata.uid } },
        template: { metadata: { labels } },
      })
    },
  },
  {
    id: 'server/defaults/service-address',
    rule: 'Every Service gets its own cluster IP.',
    async run(place) {
      const addresses = await Promise.all(
        ['a', 'b', 'c'].map(
          async (name) => ok(await place.post('services', sample('services', name)), 201).spec['clusterIP'],
        ),
      )
      assert.equal(new Set(addresses).size, 3)
      for (const address of addresses) assert.match(String(address), /^[\da-f.:]+$/)
    },
  },
  {
    id: 'server/defaults/quantity',
    rule: 'Quantities are written in their canonical form.',
    async run(place) {
      const storage = ok(
        await place.post(
          'persistentvolumeclaims',
          sample('persistentvolumeclaims', 'a', { spec: { resources: { requests: { storage: '2048Mi' } } } }),
        ),
        201,
      )
      expectMatch(storage.spec, { resources: { requests: { storage: '2Gi' } } })
      const quota = ok(
        await place.post(
          'resourcequotas',
          sample('resourcequotas', 'a', {
            spec: {
              hard: {
                'count/widgets.example.com': '5',
                'requests.cpu': '1500m',
                'requests.memory': '0.5Gi',
                pods: 1e3,
              },
            },
          }),
        ),
        201,
      )
      expectMatch(quota.spec, { hard: { 'requests.cpu': '1500m', 'requests.memory': '512Mi', pods: '1k' } })
    },
  },
  {
    id: 'server/defaults/secret-string-data',
    rule: 'stringData of a Secret is stored as base64 data, overrides existing keys and is never returned.',
    async run(place) {
      const made = ok(
        await place.post(
          'secrets',
          sample('secrets', 'a', { stringData: { a: 'x', b: 'y' }, data: { b: 'eg==', c: 'eg==' } }),
        ),
        201,
      )
      expectMatch(made, { data: { a: 'eA==', b: 'eQ==', c: 'eg==' }, stringData: undefined })
      expectMatch(ok(await place.patch('secrets', 'a', { body: { stringData: { a: 'w' } } })), {
        data: { a: 'dw==', b: 'eQ==' },
        stringData: undefined,
      })
    },
  },
  {
    id: 'server/defaults/config-map-binary',
    rule: 'binaryData of a ConfigMap is kept as base64.',
    async run(place) {
      expectMatch(
        ok(
          await place.post('configmaps', sample('configmaps', 'a', { binaryData: { k: 'AAH/' }, data: { t: '✓' } })),
          201,
        ),
        { binaryData: { k: 'AAH/' }, data: { t: '✓' } },
      )
    },
  },
  {
    id: 'server/defaults/explicit-wins',
    rule: 'A default never overrides an explicit value, even if it is zero, false or empty.',
    async run(place) {
      const made = ok(
        await place.post(
          'deployments',
          sample('deployments', 'a', {
            spec: {
              replicas: 0,
              revisionHistoryLimit: 0,
              template: {
                spec: {
                  containers: [{ name: 'a', image: 'i', imagePullPolicy: 'Never' }],
                  terminationGracePeriodSeconds: 0,
                },
              },
            },
          }),
        ),
        201,
      )
      expectMatch(made.spec, {
        replicas: 0,
        revisionHistoryLimit: 0,
        template: { spec: { terminationGracePeriodSeconds: 0, containers: [{ imagePullPolicy: 'Never' }] } },
      })
    },
  },
  {
    id: 'server/defaults/on-update',
    rule: 'A field that an update omits gets its default again.',
    async run(place) {
      ok(await place.post('deployments', sample('deployments', 'a', { spec: { replicas: 7 } })))
      expectMatch(ok(await place.put('deployments', 'a', { body: sample('deployments', 'a') }), 200).spec, {
        replicas: 1,
      })
    },
  },
  {
    id: 'server/defaults/null',
    rule: 'A null counts as an omitted field.',
    async run(place) {
      expectMatch(
        ok(
          await place.post(
            'deployments',
            sample('deployments', 'a', { metadata: { labels: null, annotations: null }, spec: { replicas: null } }),
          ),
          201,
        ),
        { spec: { replicas: 1 }, metadata: { labels: undefined } },
      )
    },
  },
]

export const defaultCases: readonly ServerCase[] = [...table, ...more]
