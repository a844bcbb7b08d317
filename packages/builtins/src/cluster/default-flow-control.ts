/**
 * The FlowSchemas and PriorityLevelConfigurations that every cluster has, expanded from a short notation.
 *
 * They are there because clients read and extend them; an Evenkeel server limits requests by its own options.
 */
import type { JsonObject } from 'evenkeel/unstable/builtins'
import type { SystemObject } from './system-objects.ts'

const group = 'flowcontrol.apiserver.k8s.io'
const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' }

interface FlowSchema {
  readonly precedence: number
  readonly level: string
  /** @default none: all requests are one flow */
  readonly by?: 'ByUser' | 'ByNamespace'
  /** `user NAME`, `group NAME` or `accounts NAMESPACE` */
  readonly subjects: readonly string[]
  /** @default everything */
  readonly rules?: JsonObject
}

const everyone = ['group system:unauthenticated', 'group system:authenticated']
const everything = {
  nonResourceRules: [{ nonResourceURLs: ['*'], verbs: ['*'] }],
  resourceRules: [{ apiGroups: ['*'], clusterScope: true, namespaces: ['*'], resources: ['*'], verbs: ['*'] }],
}
const leases = { apiGroups: ['coordination.k8s.io'], namespaces: ['*'], resources: ['leases'] }

const flowSchemas: Readonly<Record<string, FlowSchema>> = {
  exempt: { precedence: 1, level: 'exempt', subjects: ['group system:masters'] },
  probes: {
    precedence: 2,
    level: 'exempt',
    subjects: everyone,
    rules: { nonResourceRules: [{ nonResourceURLs: ['/healthz', '/readyz', '/livez'], verbs: ['get'] }] },
  },
  'system-leader-election': {
    precedence: 100,
    level: 'leader-election',
    by: 'ByUser',
    subjects: ['user system:kube-controller-manager', 'user system:kube-scheduler', 'accounts kube-system'],
    rules: { resourceRules: [{ ...leases, verbs: ['get', 'create', 'update'] }] },
  },
  'system-node-high': {
    precedence: 400,
    level: 'node-high',
    by: 'ByUser',
    subjects: ['group system:nodes'],
    rules: {
      resourceRules: [
        { apiGroups: [''], clusterScope: true, namespaces: ['*'], resources: ['nodes', 'nodes/status'], verbs: ['*'] },
        { ...leases, verbs: ['*'] },
      ],
    },
  },
  'system-nodes': { precedence: 500, level: 'system', by: 'ByUser', subjects: ['group system:nodes'] },
  'kube-controller-manager': {
    precedence: 800,
    level: 'workload-high',
    by: 'ByNamespace',
    subjects: ['user system:kube-controller-manager'],
  },
  'kube-scheduler': {
    precedence: 800,
    level: 'workload-high',
    by: 'ByNamespace',
    subjects: ['user system:kube-scheduler'],
  },
  'kube-system-service-accounts': {
    precedence: 900,
    level: 'workload-high',
    by: 'ByNamespace',
    subjects: ['accounts kube-system'],
  },
  'service-accounts': {
    precedence: 9000,
    level: 'workload-low',
    by: 'ByUser',
    subjects: ['group system:serviceaccounts'],
  },
  'global-default': { precedence: 9900, level: 'global-default', by: 'ByUser', subjects: everyone },
  'catch-all': { precedence: 10_000, level: 'catch-all', by: 'ByUser', subjects: everyone },
}

/** Shares, lendable percent, queues and hand size; without queues requests are rejected. */
const priorityLevels: Readonly<
  Record<string, readonly [shares: number, lendable: number, queues?: number, hand?: number]>
> = {
  'catch-all': [5, 0],
  'global-default': [20, 50, 128, 6],
  'leader-election': [10, 0, 16, 4],
  'node-high': [40, 25, 64, 6],
  system: [30, 33, 64, 6],
  'workload-high': [40, 50, 128, 6],
  'workload-low': [100, 90, 128, 6],
}

/** @param now the time of the conditions */
export function defaultFlowControl(now: string): SystemObject[] {
  return [...levels(), ...Object.entries(flowSchemas).map(([name, schema]) => flowSchema(name, schema, now))]
}

function levels(): SystemObject[] {
  const exempt = { type: 'Exempt', exempt: { lendablePercent: 0, nominalConcurrencyShares: 0 } }
  return [
    priorityLevel('exempt', exempt),
    ...Object.entries(priorityLevels).map(([name, [shares, lendable, queues, handSize]]) =>
      priorityLevel(name, {
        type: 'Limited',
        limited: {
          lendablePercent: lendable,
          limitResponse:
            queues === undefined || handSize === undefined
              ? { type: 'Reject' }
              : { type: 'Queue', queuing: { handSize, queueLengthLimit: 50, queues } },
          nominalConcurrencyShares: shares,
        },
      }),
    ),
  ]
}

function priorityLevel(name: string, spec: JsonObject): SystemObject {
  const fields = { spec, status: {} }
  const kind = 'PriorityLevelConfiguration'
  return {
    group,
    kind,
    plural: 'prioritylevelconfigurations',
    name,
    annotations,
    generation: 1,
    fields,
    keeps: ['spec'],
  }
}

function flowSchema(name: string, { precedence, level, by, subjects, rules }: FlowSchema, now: string): SystemObject {
  const message = `This FlowSchema references the PriorityLevelConfiguration object named "${level}" and it exists`
  return {
    group,
    kind: 'FlowSchema',
    plural: 'flowschemas',
    name,
    annotations,
    generation: 1,
    keeps: ['spec'],
    fields: {
      spec: {
        ...(by && { distinguisherMethod: { type: by } }),
        matchingPrecedence: precedence,
        priorityLevelConfiguration: { name: level },
        rules: [{ ...(rules ?? everything), subjects: subjects.map(subject) }],
      },
      status: {
        conditions: [{ type: 'Dangling', status: 'False', lastTransitionTime: now, reason: 'Found', message }],
      },
    },
  }
}

function subject(text: string): JsonObject {
  const [word = '', name = ''] = text.split(' ')
  switch (word) {
    case 'user':
      return { kind: 'User', user: { name } }
    case 'group':
      return { kind: 'Group', group: { name } }
    default:
      return { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: name } }
  }
}
