import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UnstructuredObject } from '#api'
import { columnsFor } from '@evenkeel/builtins'
import { columnsFromPrinter } from './printer-columns.ts'

/** Every stable kind that has columns of its own, by group. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  '': [
    'ConfigMap',
    'Endpoints',
    'Event',
    'Namespace',
    'Node',
    'PersistentVolume',
    'PersistentVolumeClaim',
    'Pod',
    'PodTemplate',
    'ReplicationController',
    'ResourceQuota',
    'Secret',
    'Service',
    'ServiceAccount',
  ],
  'admissionregistration.k8s.io': [
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'MutatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
  ],
  'apiregistration.k8s.io': ['APIService'],
  apps: ['ControllerRevision', 'DaemonSet', 'Deployment', 'ReplicaSet', 'StatefulSet'],
  autoscaling: ['HorizontalPodAutoscaler', 'Scale'],
  batch: ['CronJob', 'Job'],
  'certificates.k8s.io': ['CertificateSigningRequest'],
  'coordination.k8s.io': ['Lease'],
  'discovery.k8s.io': ['EndpointSlice'],
  'events.k8s.io': ['Event'],
  'flowcontrol.apiserver.k8s.io': ['FlowSchema', 'PriorityLevelConfiguration'],
  'networking.k8s.io': ['Ingress', 'IngressClass', 'IPAddress', 'NetworkPolicy', 'ServiceCIDR'],
  'node.k8s.io': ['RuntimeClass'],
  policy: ['PodDisruptionBudget'],
  'rbac.authorization.k8s.io': ['ClusterRoleBinding', 'RoleBinding'],
  'resource.k8s.io': ['DeviceClass', 'ResourceClaim', 'ResourceClaimTemplate', 'ResourceSlice'],
  'scheduling.k8s.io': ['PriorityClass'],
  'storage.k8s.io': [
    'CSIDriver',
    'CSINode',
    'CSIStorageCapacity',
    'StorageClass',
    'VolumeAttachment',
    'VolumeAttributesClass',
  ],
}
const all = Object.entries(kinds).flatMap(([group, names]) =>
  names.map((kind) => ({ group, kind, columns: columnsFor(group, kind) })),
)
const plain = columnsFor('example.com', 'Unheard')

test('columnsFor knows every kind that has columns of its own', () => {
  expect(all.filter(({ columns }) => columns === plain)).toEqual([])
})

test.each([
  ['rbac.authorization.k8s.io', 'Role'],
  ['', 'LimitRange'],
  ['apiextensions.k8s.io', 'CustomResourceDefinition'],
  ['apps', 'Pod'],
  ['', '__proto__'],
])('columnsFor shows name and creation time of %s/%s', (group, kind) => {
  expect(columnsFor(group, kind)).toBe(plain)
  expect(plain.definitions.map(({ name, type, format }) => [name, type, format])).toEqual([
    ['Name', 'string', 'name'],
    ['Created At', 'date', ''],
  ])
  expect(
    plain.cells(
      { apiVersion: 'v1', kind, metadata: { name: 'one', creationTimestamp: '2026-01-01T01:00:00+01:00' } },
      0,
    ),
  ).toEqual(['one', '2026-01-01T00:00:00Z'])
  expect(plain.cells({ apiVersion: 'v1', kind, metadata: {} }, 0)).toEqual(['', '0001-01-01T00:00:00Z'])
})

test.each([
  ['0000-06-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ['9999-12-31T23:59:59-12:00', '9999-12-31T23:59:59Z'],
  ['soon', '0001-01-01T00:00:00Z'],
])('columnsFor writes the creation time %s as %s', (creationTimestamp, text) => {
  expect(plain.cells({ apiVersion: 'v1', kind: 'Role', metadata: { name: 'one', creationTimestamp } }, 0)).toEqual([
    'one',
    text,
  ])
})

/** Keys that columns look for, with values of any type below them. */
const keys = fc.constantFrom(
  'metadata',
  'spec',
  'status',
  'conditions',
  'type',
  'reason',
  'name',
  'containers',
  'initContainers',
  'containerStatuses',
  'initContainerStatuses',
  'state',
  'terminated',
  'exitCode',
  'selector',
  'matchLabels',
  'matchExpressions',
  'key',
  'operator',
  'values',
  'template',
  'ports',
  'port',
  'subsets',
  'addresses',
  'rules',
  'host',
  'metrics',
  'capacity',
  'storage',
  'hard',
  'used',
  'labels',
  'annotations',
  'ownerReferences',
  'controller',
  'apiVersion',
  'creationTimestamp',
  'series',
  'subjects',
  'loadBalancer',
  'ingress',
  '__proto__',
  'constructor',
)
const leaves = fc.oneof(
  fc.constantFrom(
    'True',
    'Ready',
    'Resource',
    'LoadBalancer',
    'In',
    '1Gi',
    '9999-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
    '1e99',
  ),
  fc.string(),
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
)
const { value: anything } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'medium' },
    leaves,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 8 }),
  ),
}))

test('cells are as many as the columns and plain, whatever is in the object', () => {
  const printer = columnsFromPrinter(
    ['.spec', '.status.conditions[?(@.type=="Ready")].status', '..name'].map((jsonPath) => ({
      name: 'Value',
      type: 'string',
      jsonPath,
    })),
  )
  fc.assert(
    fc.property(fc.dictionary(keys, anything), (object) => {
      for (const { definitions, cells } of [...all.map(({ columns }) => columns), plain, printer]) {
        const row = cells(object as unknown as UnstructuredObject, 1_767_225_660_000)
        expect(row).toHaveLength(definitions.length)
        expect(
          row.filter((cell) =>
            typeof cell === 'object' ? cell !== null : !['string', 'number', 'boolean'].includes(typeof cell),
          ),
        ).toEqual([])
      }
    }),
    { numRuns: 200 },
  )
})
