/**
 * The resources that the cases use: their paths, and the smallest valid object of each.
 */

export type Fields = Readonly<Record<string, unknown>>

const labels = { app: 'judge' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'judge:1' }] } }
const selector = { matchLabels: labels }
const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }]
const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'judge' }]

/** Path of the group and version, kind, and the required fields besides the name. */
const namespaced = {
  configmaps: ['/api/v1', 'ConfigMap', {}],
  secrets: ['/api/v1', 'Secret', {}],
  serviceaccounts: ['/api/v1', 'ServiceAccount', {}],
  pods: ['/api/v1', 'Pod', { spec: template.spec }],
  podtemplates: ['/api/v1', 'PodTemplate', { template }],
  services: ['/api/v1', 'Service', { spec: { ports: [{ port: 80 }] } }],
  endpoints: ['/api/v1', 'Endpoints', {}],
  limitranges: ['/api/v1', 'LimitRange', { spec: { limits: [] } }],
  resourcequotas: ['/api/v1', 'ResourceQuota', { spec: { hard: { 'count/widgets.example.com': '5' } } }],
  persistentvolumeclaims: [
    '/api/v1',
    'PersistentVolumeClaim',
    { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  ],
  replicationcontrollers: ['/api/v1', 'ReplicationController', { spec: { selector: labels, template } }],
  events: [
    '/api/v1',
    'Event',
    {
      involvedObject: { kind: 'ConfigMap', name: 'a', apiVersion: 'v1' },
      reason: 'Judged',
      message: 'm',
      type: 'Normal',
      source: { component: 'judge' },
    },
  ],
  deployments: ['/apis/apps/v1', 'Deployment', { spec: { selector, template } }],
  replicasets: ['/apis/apps/v1', 'ReplicaSet', { spec: { selector, template } }],
  statefulsets: ['/apis/apps/v1', 'StatefulSet', { spec: { selector, template, serviceName: 'judge' } }],
  daemonsets: ['/apis/apps/v1', 'DaemonSet', { spec: { selector, template } }],
  controllerrevisions: ['/apis/apps/v1', 'ControllerRevision', { revision: 1, data: { a: 1 } }],
  jobs: ['/apis/batch/v1', 'Job', { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } }],
  cronjobs: [
    '/apis/batch/v1',
    'CronJob',
    {
      spec: {
        schedule: '0 0 1 1 *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
  ],
  leases: ['/apis/coordination.k8s.io/v1', 'Lease', {}],
  ingresses: [
    '/apis/networking.k8s.io/v1',
    'Ingress',
    { spec: { defaultBackend: { service: { name: 'judge', port: { number: 80 } } } } },
  ],
  networkpolicies: ['/apis/networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: {} } }],
  poddisruptionbudgets: ['/apis/policy/v1', 'PodDisruptionBudget', { spec: { selector, minAvailable: 1 } }],
  horizontalpodautoscalers: [
    '/apis/autoscaling/v2',
    'HorizontalPodAutoscaler',
    { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'judge' } } },
  ],
  roles: ['/apis/rbac.authorization.k8s.io/v1', 'Role', { rules }],
  rolebindings: [
    '/apis/rbac.authorization.k8s.io/v1',
    'RoleBinding',
    { subjects, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'judge' } },
  ],
} as const satisfies Readonly<Record<string, readonly [string, string, Fields]>>

const clusterWide = {
  namespaces: ['/api/v1', 'Namespace', {}],
  nodes: ['/api/v1', 'Node', {}],
  customresourcedefinitions: ['/apis/apiextensions.k8s.io/v1', 'CustomResourceDefinition', {}],
  clusterroles: ['/apis/rbac.authorization.k8s.io/v1', 'ClusterRole', { rules }],
  priorityclasses: ['/apis/scheduling.k8s.io/v1', 'PriorityClass', { value: 5 }],
  validatingadmissionpolicies: ['/apis/admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', {}],
  validatingadmissionpolicybindings: ['/apis/admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', {}],
  mutatingadmissionpolicies: ['/apis/admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', {}],
  mutatingadmissionpolicybindings: ['/apis/admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', {}],
  mutatingwebhookconfigurations: ['/apis/admissionregistration.k8s.io/v1', 'MutatingWebhookConfiguration', {}],
  validatingwebhookconfigurations: ['/apis/admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', {}],
  persistentvolumes: [
    '/api/v1',
    'PersistentVolume',
    { spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/judge' } } },
  ],
  runtimeclasses: ['/apis/node.k8s.io/v1', 'RuntimeClass', { handler: 'judge' }],
  ingressclasses: ['/apis/networking.k8s.io/v1', 'IngressClass', { spec: { controller: 'example.com/judge' } }],
  storageclasses: ['/apis/storage.k8s.io/v1', 'StorageClass', { provisioner: 'example.com/judge' }],
} as const satisfies Readonly<Record<string, readonly [string, string, Fields]>>

const resources: Readonly<Record<ResourceName, readonly [string, string, Fields]>> = { ...namespaced, ...clusterWide }

export type ResourceName = keyof typeof namespaced | keyof typeof clusterWide

/** `/api/v1/namespaces/x/pods`; the path of a cluster-scoped resource has no namespace. */
export function collectionPath(resource: ResourceName, namespace: string): string {
  const [root] = resources[resource]
  return resource in namespaced ? `${root}/namespaces/${namespace}/${resource}` : `${root}/${resource}`
}

/** `apps` of `deployments`; empty for the core group. */
export function groupOf(resource: ResourceName): string {
  const [root] = resources[resource]
  return root.startsWith('/apis/') ? (root.split('/')[2] ?? '') : ''
}

export function kindOf(resource: ResourceName): string {
  return resources[resource][1]
}

/** The smallest valid object of a resource; `rest` is merged into it, arrays and primitive values replace. */
export function sample(resource: ResourceName, name: string | undefined, rest: Fields = {}): Fields {
  const [root, kind, fields] = resources[resource]
  const apiVersion = root.replace(/^\/apis?\//, '')
  return laidOver({ apiVersion, kind, metadata: name === undefined ? {} : { name }, ...fields }, rest)
}

/** A ConfigMap, the simplest object. */
export function configMap(name: string, rest: Fields = {}): Fields {
  return sample('configmaps', name, rest)
}

/** The first object with the second merged into it, at any depth; `undefined` removes a field. */
export function laidOver(under: Fields, over: Fields): Fields {
  const result: Record<string, unknown> = { ...under }
  for (const [key, value] of Object.entries(over)) {
    const below = result[key]
    result[key] = isFields(below) && isFields(value) ? laidOver(below, value) : value
  }
  return result
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
