/**
 * Shapes of JSON bodies for built-in kinds: long lists where validation compares entries, and texts that it parses.
 */
import { coreKinds, createObject, createPod, dict, list, type AttackRequest, type DocumentShape } from './shape.ts'

function shape(name: string, n: number, make: DocumentShape['make']): DocumentShape {
  return { name, entry: 'json', n, make }
}

const container = (index: number): object => ({ name: `c${index}`, image: 'x' })

/** A Pod with one container that has these fields. */
function podWith(fields: object, more: object = {}): AttackRequest {
  return createPod({ containers: [{ name: 'c', image: 'x', ...fields }], ...more })
}

function volumes(n: number): AttackRequest {
  return podWith(
    { volumeMounts: list(n, (i) => ({ name: `v${i}`, mountPath: `/${i}` })) },
    { volumes: list(n, (i) => ({ name: `v${i}`, emptyDir: {} })) },
  )
}

const pods: readonly DocumentShape[] = [
  shape('pod containers', 20_000, (n) => createPod({ containers: list(n, container) })),
  shape('pod containers of one name', 20_000, (n) =>
    createPod({ containers: list(n, () => ({ ...container(0), ports: [{ containerPort: 80 }] })) }),
  ),
  shape('pod environment', 50_000, (n) => podWith({ env: list(n, () => ({ name: 'c', value: 'x' })) })),
  shape('pod volumes', 20_000, volumes),
  shape('pod mounts of one path', 40_000, (n) =>
    podWith(
      { volumeMounts: list(n, () => ({ name: 'v', mountPath: '/a' })) },
      { volumes: [{ name: 'v', emptyDir: {} }] },
    ),
  ),
  shape('pod ports', 40_000, (n) =>
    podWith({ ports: list(n, (i) => ({ name: `p${i}`, hostPort: 80, containerPort: 80 })) }),
  ),
  shape('pod tolerations', 30_000, (n) =>
    podWith({}, { tolerations: list(n, (i) => ({ key: `k${i}`, operator: 'Exists' })) }),
  ),
  shape('pod scheduling gates', 30_000, (n) => podWith({}, { schedulingGates: list(n, (i) => ({ name: `g${i}` })) })),
  shape('stateful set with claims', 8_000, (n) =>
    createObject('/apis/apps/v1/namespaces/default/statefulsets', ['apps/v1', 'StatefulSet'], {
      spec: {
        selector: { matchLabels: { a: 'b' } },
        volumeClaimTemplates: list(n, (i) => ({ metadata: { name: `c${i}` }, spec: {} })),
        template: {
          metadata: { labels: { a: 'b' } },
          spec: { containers: [{ name: 'c', image: 'x' }], volumes: list(n, (i) => ({ name: `v${i}`, emptyDir: {} })) },
        },
      },
    }),
  ),
  shape('pod host aliases', 30_000, (n) =>
    podWith({}, { hostAliases: list(n, (i) => ({ ip: '1.1.1.1', hostnames: [`h${i}`] })) }),
  ),
  shape('pod quantities', 40_000, (n) =>
    podWith({
      resources: { limits: dict(n, (i) => [`a.b/${i}`, `${i}e9`]), requests: dict(n, (i) => [`a.b/${i}`, '1']) },
    }),
  ),
  shape('pod quantity with many digits', 1_000_000, (n) => podWith({ resources: { limits: { cpu: '9'.repeat(n) } } })),
  shape('pod quantities with large exponents', 40_000, (n) =>
    podWith({ resources: { limits: dict(n, (i) => [`a.b/${i}`, '1e99999']) } }),
  ),
  shape('pod affinity terms', 10_000, (n) =>
    podWith(
      {},
      {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: list(n, (i) => ({
              topologyKey: 'a',
              labelSelector: { matchExpressions: [{ key: `k${i}`, operator: 'In', values: ['a', 'b'] }] },
            })),
          },
        },
      },
    ),
  ),
  shape('pod node selector', 60_000, (n) => podWith({}, { nodeSelector: dict(n, (i) => [`k${i}`, 'v']) })),
  shape('pod topology constraints', 10_000, (n) =>
    podWith(
      {},
      {
        topologySpreadConstraints: list(n, (i) => ({
          maxSkew: 1,
          topologyKey: `k${i}`,
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { a: 'b' } },
          matchLabelKeys: list(3, (key) => `l${key}`),
        })),
      },
    ),
  ),
  shape('pod gates and secrets', 30_000, (n) =>
    podWith(
      {},
      { schedulingGates: list(n, (i) => ({ name: `g${i}` })), imagePullSecrets: list(n, () => ({ name: 's' })) },
    ),
  ),
  shape('pod long image', 2_000_000, (n) => createPod({ containers: [{ name: 'c', image: 'a/'.repeat(n / 2) }] })),
]

const networking = '/apis/networking.k8s.io/v1/namespaces/default'
const rbac = '/apis/rbac.authorization.k8s.io/v1'

function service(spec: object): AttackRequest {
  return createObject(`${coreKinds}/services`, ['v1', 'Service'], { spec })
}

function clusterRole(rules: readonly object[], more: object = {}): AttackRequest {
  return {
    ...createObject(`${rbac}/clusterroles`, ['rbac.authorization.k8s.io/v1', 'ClusterRole'], { rules, ...more }),
    user: 'admin',
  }
}

/** A role that an ordinary user creates: the server checks that it gives no more than the user has. */
function escalation(n: number): AttackRequest {
  const rules = list(n, (i) => ({ apiGroups: [''], resources: ['configmaps', `r${i}`], verbs: ['get', 'list'] }))
  return createObject(`${rbac}/namespaces/default/roles`, ['rbac.authorization.k8s.io/v1', 'Role'], { rules })
}

const others: readonly DocumentShape[] = [
  shape('service ports', 20_000, (n) => service({ ports: list(n, (i) => ({ name: `p${i}`, port: 80 })) })),
  shape('service ports that differ', 20_000, (n) =>
    service({ ports: list(n, (i) => ({ name: `p${i}`, port: 1 + (i % 65_000) })) }),
  ),
  shape('service addresses', 40_000, (n) =>
    service({
      ports: [{ port: 80 }],
      externalIPs: list(n, () => '1.2.3.4'),
      loadBalancerSourceRanges: list(n, () => '1.2.3.4/8'),
    }),
  ),
  shape('service long address', 2_000_000, (n) =>
    service({ ports: [{ port: 80 }], externalIPs: ['1:'.repeat(n / 2)] }),
  ),
  shape('rules of a cluster role', 20_000, (n) =>
    clusterRole(list(n, (i) => ({ apiGroups: [`${i}`], resources: ['x'], verbs: ['get'] }))),
  ),
  shape('bad rules of a cluster role', 40_000, (n) => clusterRole(list(n, () => ({})))),
  shape('aggregation selectors', 20_000, (n) =>
    clusterRole([], { aggregationRule: { clusterRoleSelectors: list(n, (i) => ({ matchLabels: { a: `${i}` } })) } }),
  ),
  shape('role beyond the own rights', 20_000, escalation),
  shape('subjects of a binding', 20_000, (n) => ({
    ...createObject(`${rbac}/clusterrolebindings`, ['rbac.authorization.k8s.io/v1', 'ClusterRoleBinding'], {
      subjects: list(n, (i) => ({ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: `${i}` })),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    }),
    user: 'admin',
  })),
  shape('network policy peers', 20_000, (n) =>
    createObject(`${networking}/networkpolicies`, ['networking.k8s.io/v1', 'NetworkPolicy'], {
      spec: {
        podSelector: { matchExpressions: list(n, (i) => ({ key: `k${i}`, operator: 'Exists' })) },
        ingress: [{ from: list(n, () => ({ ipBlock: { cidr: '1.0.0.0/8', except: ['1.1.0.0/16'] } })) }],
      },
    }),
  ),
  shape('ingress paths', 20_000, (n) =>
    createObject(`${networking}/ingresses`, ['networking.k8s.io/v1', 'Ingress'], {
      spec: {
        rules: list(n, (i) => ({
          host: `h${i}.example`,
          http: {
            paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 's', port: { number: 80 } } } }],
          },
        })),
      },
    }),
  ),
  shape('endpoints of a slice', 30_000, (n) =>
    createObject(
      '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
      ['discovery.k8s.io/v1', 'EndpointSlice'],
      {
        addressType: 'IPv4',
        endpoints: list(n, () => ({ addresses: ['1.2.3.4'] })),
      },
    ),
  ),
  shape('access review with many groups', 100_000, (n) => ({
    ...createObject(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      ['authorization.k8s.io/v1', 'SubjectAccessReview'],
      {
        metadata: {},
        spec: { user: 'a', groups: list(n, (i) => `g${i}`), resourceAttributes: { verb: 'get', resource: 'pods' } },
      },
    ),
    user: 'admin',
  })),
  shape('cron schedule', 1_000_000, (n) =>
    createObject('/apis/batch/v1/namespaces/default/cronjobs', ['batch/v1', 'CronJob'], {
      spec: { schedule: `${'1,'.repeat(n / 2)}1 * * * *`, jobTemplate: { spec: { template: { spec: {} } } } },
    }),
  ),
]

export const kindShapes: readonly DocumentShape[] = [...pods, ...others]
