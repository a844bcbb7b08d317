import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepFreeze, type UnstructuredObject } from 'evenkeel/unstable/builtins'
import type { ObjectDraft, ResourceStrategy } from './resource.ts'
import { strategyFor } from './strategies.ts'

/** Every stable kind that is stored: name rule by an example, then C(reate on update), G(eneration), L(ocked), R(eturns deleted). */
const table = `
  /ConfigMap - /Endpoints C /Event C /LimitRange C /Namespace R /Node - /PersistentVolume R /PersistentVolumeClaim R /Pod GR /PodTemplate GR
  /ReplicationController G /ResourceQuota R /Secret - /Service CR /ServiceAccount R
  admissionregistration.k8s.io/MutatingAdmissionPolicy GL admissionregistration.k8s.io/MutatingAdmissionPolicyBinding GL
  admissionregistration.k8s.io/MutatingWebhookConfiguration GL admissionregistration.k8s.io/ValidatingAdmissionPolicy GL
  admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding GL admissionregistration.k8s.io/ValidatingWebhookConfiguration GL
  apiextensions.k8s.io/CustomResourceDefinition GL apiregistration.k8s.io/APIService L
  apps/ControllerRevision - apps/DaemonSet G apps/Deployment G apps/ReplicaSet G apps/StatefulSet G autoscaling/HorizontalPodAutoscaler -
  batch/CronJob G batch/Job G certificates.k8s.io/CertificateSigningRequest - coordination.k8s.io/Lease CL discovery.k8s.io/EndpointSlice G
  events.k8s.io/Event C flowcontrol.apiserver.k8s.io/FlowSchema G flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration G
  networking.k8s.io/IPAddress - networking.k8s.io/Ingress G networking.k8s.io/IngressClass G networking.k8s.io/NetworkPolicy G
  networking.k8s.io/ServiceCIDR - node.k8s.io/RuntimeClass CL policy/PodDisruptionBudget GL
  rbac.authorization.k8s.io/ClusterRole C rbac.authorization.k8s.io/ClusterRoleBinding C rbac.authorization.k8s.io/Role C
  rbac.authorization.k8s.io/RoleBinding C resource.k8s.io/DeviceClass GR resource.k8s.io/ResourceClaim R resource.k8s.io/ResourceClaimTemplate R
  resource.k8s.io/ResourceSlice GR scheduling.k8s.io/PriorityClass G storage.k8s.io/CSIDriver LR storage.k8s.io/CSINode LR
  storage.k8s.io/CSIStorageCapacity L storage.k8s.io/StorageClass R storage.k8s.io/VolumeAttachment LR storage.k8s.io/VolumeAttributesClass R
`
const entries = [...table.matchAll(/(\S*)\/(\S+) (\S+)/g)].map(([, group = '', kind = '', flags = '']) => ({
  group,
  kind,
  flags,
}))

function lettersOf({ createOnUpdate, generation, unconditionalUpdate, returnsDeleted }: ResourceStrategy): string {
  return (
    `${createOnUpdate ? 'C' : ''}${generation ? 'G' : ''}${unconditionalUpdate ? '' : 'L'}${returnsDeleted ? 'R' : ''}` ||
    '-'
  )
}

describe('rulesFor', () => {
  test('knows the flags of every stable kind', () => {
    expect(entries.length).toBe(59)
    expect(entries.map(({ group, kind }) => ({ group, kind, flags: lettersOf(strategyFor(group, kind)) }))).toEqual(
      entries,
    )
  })

  test('orphans the dependents of Jobs and ReplicationControllers, and gives Events none', () => {
    const odd = entries
      .map(({ group, kind }) => `${group}/${kind} ${strategyFor(group, kind).dependents}`)
      .filter((text) => !text.endsWith('background'))
    expect(odd).toEqual([
      '/Event none',
      '/ReplicationController orphan',
      'batch/Job orphan',
      'events.k8s.io/Event none',
    ])
  })

  test.each([
    { group: '', kind: 'ConfigMap', good: 'a.b', bad: 'a_b' },
    { group: '', kind: 'Namespace', good: 'a', bad: 'a.b' },
    { group: '', kind: 'Service', good: '1a', bad: 'a.b' },
    { group: 'apps', kind: 'StatefulSet', good: 'a', bad: 'a.b' },
    { group: 'rbac.authorization.k8s.io', kind: 'Role', good: 'a:B_', bad: 'a/b' },
    { group: 'networking.k8s.io', kind: 'IPAddress', good: '10.0.0.1', bad: 'a' },
  ])('names $group/$kind by its own rule', ({ group, kind, good, bad }) => {
    const { checkName } = strategyFor(group, kind)
    expect(checkName(good)).toEqual([])
    expect(checkName(bad)).not.toEqual([])
  })

  test('gives an unknown kind the default strategy, whatever its name', () => {
    for (const [group, kind] of [
      ['x', 'Y'],
      ['constructor', 'toString'],
      ['', '__proto__'],
      ['apps', 'valueOf'],
    ] as const) {
      const { checkName: _, ...rest } = strategyFor(group, kind)
      expect(rest).toEqual({
        unconditionalUpdate: true,
        createOnUpdate: false,
        generation: false,
        returnsDeleted: false,
        dependents: 'background',
      })
    }
  })
})

/** Field names that hooks look at, so that random objects get past the first branch. */
const keys = [
  'spec',
  'status',
  'template',
  'metadata',
  'labels',
  'containers',
  'volumes',
  'ports',
  'resources',
  'limits',
  'requests',
  'selector',
  'matchLabels',
  'rules',
  'webhooks',
  'type',
  'name',
  'kind',
  'data',
  'stringData',
  'subsets',
  'endpoints',
  'strategy',
  'rollingUpdate',
  'jobTemplate',
  'env',
  'valueFrom',
  'image',
  'roleRef',
  'subjects',
  'clusterIP',
  'clusterIPs',
  'cpu',
  'hard',
  'scopes',
  'finalizers',
  'taints',
  '__proto__',
  'constructor',
  'conditions',
  'schedule',
]
const scalar = fc.constantFrom<unknown>(
  '',
  'a',
  'A_',
  '10%',
  '1Gi',
  '10.0.0.1',
  'Always',
  'In',
  0,
  1,
  -1,
  1.5,
  1e21,
  true,
  false,
  null,
)
const json = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ maxDepth: 6 }, scalar, tie('object'), fc.array(tie('value'), { maxLength: 3 })),
  object: fc.dictionary(fc.constantFrom(...keys), tie('value'), { maxKeys: 8, noNullPrototype: true }),
}))

function runAll(rules: ResourceStrategy, draft: ObjectDraft, old: UnstructuredObject): void {
  const context = { now: '2026-01-01T00:00:00Z', warn: () => undefined }
  rules.default?.(draft)
  const once = JSON.stringify(draft)
  rules.default?.(draft)
  expect(JSON.stringify(draft)).toBe(once)
  rules.prepareForCreate?.(draft, context)
  rules.prepareForUpdate?.(draft, old, { ...context, subresource: 'status' })
  rules.prepareForUpdate?.(draft, old, context)
  const object = draft as unknown as UnstructuredObject
  rules.validate?.(object)
  rules.validateUpdate?.(object, old)
  rules.validateStatusUpdate?.(object, old)
  rules.changesGeneration?.(object, old)
  rules.graceSeconds?.(object, undefined)
  for (const read of Object.values(rules.selectableFields ?? {})) expect(typeof read(object)).toBe('string')
}

test.each(entries)(
  'the hooks of $group/$kind never throw, never touch what is frozen, and complete an object only once',
  ({ group, kind }) => {
    const rules = strategyFor(group, kind)
    fc.assert(
      fc.property(json.object, json.object, (a, b) => {
        const old = deepFreeze({
          ...b,
          apiVersion: 'v1',
          kind,
          metadata: { name: 'a', namespace: 'n' },
        }) as UnstructuredObject
        const frozen = deepFreeze(structuredClone(a))
        const before = JSON.stringify(frozen)
        runAll(rules, { ...frozen, apiVersion: 'v1', kind, metadata: { name: 'a', namespace: 'n', uid: 'u' } }, old)
        expect(JSON.stringify(frozen)).toBe(before)
      }),
      { numRuns: 30 },
    )
  },
)
