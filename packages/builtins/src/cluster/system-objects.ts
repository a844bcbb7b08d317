/**
 * Objects that kube-apiserver creates when it starts, beside namespaces, roles and its own Service: the priority classes of
 * the system, the defaults of flow control, an APIService for each group and version.
 */
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { defaultFlowControl } from './default-flow-control.ts'

/** One object, without what a store adds. */
export interface SystemObject {
  readonly group: string
  readonly kind: string
  readonly plural: string
  /** @default none */
  readonly namespace?: string
  readonly name: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly generation?: number
  /** The fields outside metadata. */
  readonly fields: JsonObject
  /** The fields that a server restores in an existing object. @default none */
  readonly keeps?: readonly string[]
}

interface SystemObjectOptions {
  /** The current time in RFC 3339. */
  readonly now: string
  /** The served groups and versions. */
  readonly groupVersions: readonly { readonly group: string; readonly version: string }[]
  /** The ranges of cluster IPs, as CIDRs. */
  readonly serviceRanges: readonly string[]
}

export function systemObjects({ now, groupVersions, serviceRanges }: SystemObjectOptions): SystemObject[] {
  return [
    serviceCidr(serviceRanges, now),
    ...priorityClasses,
    ...defaultFlowControl(now),
    ...groupVersions.flatMap(({ group, version }) => {
      const priority = groupPriorities.get(group)
      return priority === undefined ? [] : [localApiService(group, version, { now, priority })]
    }),
    {
      group: '',
      kind: 'ConfigMap',
      plural: 'configmaps',
      namespace: 'kube-system',
      name: 'kube-apiserver-legacy-service-account-token-tracking',
      fields: { data: { since: now.slice(0, 10) } },
    },
  ]
}

/** Its ranges are immutable: an existing one stays. */
function serviceCidr(cidrs: readonly string[], now: string): SystemObject {
  const message = 'Kubernetes default Service CIDR is ready'
  return {
    group: 'networking.k8s.io',
    kind: 'ServiceCIDR',
    plural: 'servicecidrs',
    name: 'kubernetes',
    fields: {
      spec: { cidrs: [...cidrs] },
      status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: now, reason: '', message }] },
    },
  }
}

const priorityClasses = [
  {
    name: 'system-cluster-critical',
    value: 2_000_000_000,
    description:
      'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  },
  {
    name: 'system-node-critical',
    value: 2_000_001_000,
    description: 'Used for system critical pods that must not be moved from their current node.',
  },
].map(({ name, ...fields }): SystemObject => ({
  group: 'scheduling.k8s.io',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  name,
  generation: 1,
  fields: { preemptionPolicy: 'PreemptLowerPriority', ...fields },
}))

/** The order of groups in discovery and in OpenAPI, the highest first. The group of APIServices itself has none. */
export const groupPriorities: ReadonlyMap<string, number> = new Map([
  ['', 18_000],
  ['apps', 17_800],
  ['events.k8s.io', 17_750],
  ['authentication.k8s.io', 17_700],
  ['authorization.k8s.io', 17_600],
  ['autoscaling', 17_500],
  ['batch', 17_400],
  ['certificates.k8s.io', 17_300],
  ['networking.k8s.io', 17_200],
  ['policy', 17_100],
  ['rbac.authorization.k8s.io', 17_000],
  ['storage.k8s.io', 16_800],
  ['apiextensions.k8s.io', 16_700],
  ['admissionregistration.k8s.io', 16_700],
  ['scheduling.k8s.io', 16_600],
  ['coordination.k8s.io', 16_500],
  ['node.k8s.io', 16_300],
  ['discovery.k8s.io', 16_200],
  ['resource.k8s.io', 16_200],
  ['flowcontrol.apiserver.k8s.io', 16_100],
])

const versionPriorities: ReadonlyMap<string, number> = new Map([
  ['v1.', 1],
  ['v2.autoscaling', 30],
  ['v1.flowcontrol.apiserver.k8s.io', 21],
  ['v1.resource.k8s.io', 21],
])
const usualVersionPriority = 15
const managedLabel = 'kube-aggregator.kubernetes.io/automanaged'

interface LocalApiServiceOptions {
  readonly now: string
  readonly priority: number
}

function localApiService(group: string, version: string, { now, priority }: LocalApiServiceOptions): SystemObject {
  const versionPriority = versionPriorities.get(`${version}.${group}`) ?? usualVersionPriority
  return apiService(
    { ...(group !== '' && { group }), groupPriorityMinimum: priority, version, versionPriority },
    { name: `${version}.${group}`, managed: 'onstart', now },
  )
}

/** The APIService of a version of custom resources. It comes and goes with the CRDs. */
export function crdApiService(group: string, version: string, now: string): SystemObject {
  const spec = { group, groupPriorityMinimum: 1000, version, versionPriority: 100 }
  return apiService(spec, { name: `${version}.${group}`, managed: 'true', now })
}

interface ApiServiceOptions {
  readonly name: string
  readonly managed: string
  readonly now: string
}

function apiService(spec: JsonObject, { name, managed, now }: ApiServiceOptions): SystemObject {
  const message = 'Local APIServices are always available'
  return {
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    plural: 'apiservices',
    name,
    labels: { [managedLabel]: managed },
    keeps: ['spec'],
    fields: {
      spec,
      status: {
        conditions: [{ type: 'Available', status: 'True', lastTransitionTime: now, reason: 'Local', message }],
      },
    },
  }
}

/** Whether an APIService was made for CRDs, and by no one else. */
export function isCrdApiService({
  metadata: { labels = {} },
}: {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> }
}): boolean {
  return labels[managedLabel] === 'true'
}
