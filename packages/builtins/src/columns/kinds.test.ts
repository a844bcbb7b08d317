/** The kinds whose columns mostly just read a field: one row for each thing worth a look. */
import { describe, expect, test } from 'vitest'
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { admissionColumns } from './admission.ts'
import { autoscalingColumns } from './autoscaling.ts'
import { clusterColumns, eventColumnsByKind } from './cluster.ts'
import type { TableColumns } from './column.ts'
import { schedulingColumns } from './scheduling.ts'
import { storageColumns } from './storage.ts'

const nowMs = 1_767_225_660_000
const minuteAgo = '2026-01-01T00:00:00Z'
type Row = [kind: string, fields: JsonObject, cells: readonly unknown[]]

function rows(kinds: Readonly<Record<string, TableColumns>>, cases: readonly Row[]): void {
  test.each(cases)('%s of %j', (kind, { metadata = {}, ...fields }, cells) => {
    const object = {
      apiVersion: 'v1',
      kind,
      metadata: { name: 'one', creationTimestamp: minuteAgo, ...(metadata as JsonObject) },
      ...fields,
    }
    expect(kinds[kind]?.cells(object, nowMs)).toEqual(cells)
  })
}

const conditions = (...types: string[]): JsonObject => ({ conditions: types.map((type) => ({ type, status: 'True' })) })
const deleted = { deletionTimestamp: minuteAgo }
const nodeInfo = {
  kubeletVersion: 'v1',
  osImage: 'Linux',
  kernelVersion: '6.1',
  architecture: 'arm64',
  containerRuntimeVersion: 'cri',
}

describe('clusterKinds', () =>
  rows(clusterColumns, [
    ['Namespace', { status: { phase: 'Active' } }, ['one', 'Active', '60s']],
    ['ConfigMap', { data: { a: '1' }, binaryData: { b: '', c: '' } }, ['one', 3, '60s']],
    ['Secret', { type: 'Opaque', data: { a: '' } }, ['one', 'Opaque', 1, '60s']],
    ['ServiceAccount', {}, ['one', '60s']],
    ['Node', {}, ['one', 'Unknown', '<none>', '60s', '', '<none>', '<none>', '<unknown>', '<unknown>', '<unknown>']],
    [
      'Node',
      {
        metadata: {
          labels: {
            'node-role.kubernetes.io/worker': '',
            'node-role.kubernetes.io/': '',
            'kubernetes.io/role': 'admin',
            a: 'b',
          },
        },
        spec: { unschedulable: true },
        status: {
          ...conditions('Ready'),
          nodeInfo,
          addresses: [
            { type: 'ExternalIP', address: '1.1.1.1' },
            { type: 'InternalIP', address: '10.0.0.1' },
          ],
        },
      },
      [
        'one',
        'Ready,SchedulingDisabled',
        'admin,worker',
        '60s',
        'v1',
        '10.0.0.1',
        '1.1.1.1',
        'Linux',
        '6.1 (arm64)',
        'cri',
      ],
    ],
    [
      'ComponentStatus',
      { conditions: [{ type: 'Healthy', status: 'False', message: 'm', error: 'e' }] },
      ['one', 'Unhealthy', 'm', 'e'],
    ],
    ['ComponentStatus', {}, ['one', 'Unknown', '', '']],
    ['Lease.coordination.k8s.io', { spec: { holderIdentity: 'me' } }, ['one', 'me', '60s']],
    [
      'LeaseCandidate.coordination.k8s.io',
      { spec: { leaseName: 'l', binaryVersion: '2', emulationVersion: '1' } },
      ['one', 'l', '2', '1', '60s'],
    ],
    [
      'RoleBinding.rbac.authorization.k8s.io',
      {
        roleRef: { kind: 'Role', name: 'r' },
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'User', name: 'v' },
          { kind: 'Group', name: 'g' },
          { kind: 'ServiceAccount', namespace: 'ns', name: 's' },
          { kind: 'Odd', name: 'o' },
        ],
      },
      ['one', 'Role/r', '60s', 'u, v', 'g', 'ns/s'],
    ],
    ['RuntimeClass.node.k8s.io', { handler: 'runc' }, ['one', 'runc', '60s']],
    [
      'PriorityClass.scheduling.k8s.io',
      { value: 1000, globalDefault: true, preemptionPolicy: 'Never' },
      ['one', 1000, true, '60s', 'Never'],
    ],
  ]))

const volume = {
  capacity: { storage: '1024Mi' },
  accessModes: ['ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOnce'],
  storageClassName: 'fast',
  volumeMode: 'Block',
}

describe('storageKinds', () =>
  rows(storageColumns, [
    [
      'PersistentVolume',
      {
        spec: {
          ...volume,
          persistentVolumeReclaimPolicy: 'Retain',
          claimRef: { namespace: 'ns', name: 'c' },
          volumeAttributesClassName: 'v',
        },
        status: { phase: 'Bound', reason: 'why' },
      },
      ['one', '1Gi', 'RWO,RWX', 'Retain', 'Bound', 'ns/c', 'fast', 'v', 'why', '60s', 'Block'],
    ],
    [
      'PersistentVolume',
      {
        metadata: { ...deleted, annotations: { 'volume.beta.kubernetes.io/storage-class': 'slow' } },
        spec: { storageClassName: 'fast' },
        status: { phase: 'Bound' },
      },
      ['one', '0', '', '', 'Terminating', '', 'slow', '<unset>', '', '60s', '<unset>'],
    ],
    [
      'PersistentVolumeClaim',
      {
        spec: { volumeName: 'v', storageClassName: 'fast' },
        status: { phase: 'Bound', capacity: { storage: '0.5Gi' }, accessModes: ['ReadOnlyMany', 'ReadWriteOncePod'] },
      },
      ['one', 'Bound', 'v', '512Mi', 'ROX,RWOP', 'fast', '<unset>', '60s', '<unset>'],
    ],
    [
      'PersistentVolumeClaim',
      { spec: { resources: { requests: { storage: '1Gi' } } }, status: { phase: 'Pending' } },
      ['one', 'Pending', '', '', '', '', '<unset>', '60s', '<unset>'],
    ],
    ['StorageClass.storage.k8s.io', { provisioner: 'p' }, ['one', 'p', 'Delete', 'Immediate', false, '60s']],
    [
      'StorageClass.storage.k8s.io',
      {
        metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        reclaimPolicy: 'Retain',
        volumeBindingMode: 'WaitForFirstConsumer',
        allowVolumeExpansion: true,
      },
      ['one (default)', '', 'Retain', 'WaitForFirstConsumer', true, '60s'],
    ],
    ['VolumeAttributesClass.storage.k8s.io', { driverName: 'd' }, ['one', 'd', '60s']],
    [
      'VolumeAttachment.storage.k8s.io',
      { spec: { attacher: 'a', source: { persistentVolumeName: 'v' }, nodeName: 'n' }, status: { attached: true } },
      ['one', 'a', 'v', 'n', true, '60s'],
    ],
    ['CSINode.storage.k8s.io', { spec: { drivers: [{}, {}] } }, ['one', 2, '60s']],
    ['CSIDriver.storage.k8s.io', {}, ['one', true, false, false, '<unset>', false, '<none>', '60s']],
    [
      'CSIDriver.storage.k8s.io',
      {
        spec: {
          attachRequired: false,
          podInfoOnMount: true,
          storageCapacity: true,
          tokenRequests: [{ audience: 'a' }, { audience: 'b' }],
          requiresRepublish: true,
          volumeLifecycleModes: ['Persistent', 'Ephemeral'],
        },
      },
      ['one', false, true, true, 'a,b', true, 'Persistent,Ephemeral', '60s'],
    ],
    ['CSIStorageCapacity.storage.k8s.io', { storageClassName: 'fast', capacity: '2048Ki' }, ['one', 'fast', '2Mi']],
    ['CSIStorageCapacity.storage.k8s.io', {}, ['one', '', '<unset>']],
  ]))

const old = '2025-12-31T23:00:00Z'

describe('eventKinds', () =>
  rows(eventColumnsByKind, [
    [
      'Event',
      {
        type: 'Warning',
        reason: 'Odd',
        message: ' text\n',
        count: 3,
        firstTimestamp: old,
        lastTimestamp: minuteAgo,
        involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec' },
        source: { component: 'c', host: 'h' },
      },
      ['60s', 'Warning', 'Odd', 'pod/p', 'spec', 'c, h', 'text', '61m', 3, 'one'],
    ],
    [
      'Event',
      { eventTime: '2026-01-01T00:00:00.500000Z', involvedObject: { kind: 'Node' }, reportingComponent: 'r' },
      ['59s', '', '', 'node', '', 'r', '', '59s', 1, 'one'],
    ],
    [
      'Event',
      { lastTimestamp: minuteAgo, series: { count: 9, lastObservedTime: old } },
      ['61m', '', '', '', '', '', '', '<unknown>', 9, 'one'],
    ],
    ['Event', {}, ['<unknown>', '', '', '', '', '', '', '<unknown>', 1, 'one']],
    [
      'Event.events.k8s.io',
      {
        note: 'text',
        deprecatedCount: 2,
        deprecatedFirstTimestamp: old,
        deprecatedLastTimestamp: minuteAgo,
        regarding: { kind: 'Pod', name: 'p' },
        reportingController: 'c',
        reportingInstance: 'i',
      },
      ['60s', '', '', 'pod/p', '', 'c, i', 'text', '61m', 2, 'one'],
    ],
  ]))

const registration = 'admissionregistration.k8s.io'
const labels = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'In', values: ['d', 'e'] }] }
const queuing = { queues: 64, handSize: 6, queueLengthLimit: 50 }

describe('admissionKinds', () =>
  rows(admissionColumns, [
    [`ValidatingWebhookConfiguration.${registration}`, { webhooks: [{}, {}] }, ['one', 2, '60s']],
    [
      `ValidatingAdmissionPolicy.${registration}`,
      { spec: { validations: [{}], paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } },
      ['one', 1, 'v1/ConfigMap', '60s'],
    ],
    [`MutatingAdmissionPolicy.${registration}`, { spec: { mutations: [{}, {}] } }, ['one', 2, '<unset>', '60s']],
    [
      `ValidatingAdmissionPolicyBinding.${registration}`,
      { spec: { policyName: 'p', paramRef: { name: 'n' } } },
      ['one', 'p', '*/n', '60s'],
    ],
    [
      `ValidatingAdmissionPolicyBinding.${registration}`,
      { spec: { paramRef: { name: 'n', namespace: 'ns' } } },
      ['one', '', 'ns/n', '60s'],
    ],
    [
      `MutatingAdmissionPolicyBinding.${registration}`,
      { spec: { paramRef: { selector: labels } } },
      [
        'one',
        '',
        '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:c,Operator:In,Values:[d e],},},}',
        '60s',
      ],
    ],
    [`MutatingAdmissionPolicyBinding.${registration}`, {}, ['one', '', '<unset>', '60s']],
    ['FlowSchema.flowcontrol.apiserver.k8s.io', {}, ['one', '', 0, '<none>', '60s', '?']],
    [
      'FlowSchema.flowcontrol.apiserver.k8s.io',
      {
        spec: {
          priorityLevelConfiguration: { name: 'l' },
          matchingPrecedence: 5,
          distinguisherMethod: { type: 'ByUser' },
        },
        status: conditions('Dangling'),
      },
      ['one', 'l', 5, 'ByUser', '60s', 'True'],
    ],
    [
      'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io',
      { spec: { type: 'Exempt' } },
      ['one', 'Exempt', '<none>', '<none>', '<none>', '<none>', '60s'],
    ],
    [
      'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io',
      { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 10, limitResponse: { queuing } } } },
      ['one', 'Limited', 10, 64, 6, 50, '60s'],
    ],
    ['APIService.apiregistration.k8s.io', { status: conditions('Available') }, ['one', 'Local', 'True', '60s']],
    [
      'APIService.apiregistration.k8s.io',
      {
        spec: { service: { namespace: 'ns', name: 's' } },
        status: { conditions: [{ type: 'Available', status: 'False', reason: 'Why' }] },
      },
      ['one', 'ns/s', 'False (Why)', '60s'],
    ],
    ['APIService.apiregistration.k8s.io', {}, ['one', 'Local', 'Unknown', '60s']],
    ['CertificateSigningRequest.certificates.k8s.io', {}, ['one', '60s', '<none>', '', '<none>', 'Pending']],
    [
      'CertificateSigningRequest.certificates.k8s.io',
      {
        spec: { signerName: 's', username: 'u', expirationSeconds: 3600 },
        status: { ...conditions('Approved', 'Failed'), certificate: 'YQ==' },
      },
      ['one', '60s', 's', 'u', '60m', 'Approved,Failed,Issued'],
    ],
    [
      'CertificateSigningRequest.certificates.k8s.io',
      { status: conditions('Approved', 'Denied') },
      ['one', '60s', '<none>', '', '<none>', 'Denied'],
    ],
    ['ClusterTrustBundle.certificates.k8s.io', {}, ['one', '<none>']],
    [
      'PodCertificateRequest.certificates.k8s.io',
      {
        spec: { podName: 'p', serviceAccountName: 's', nodeName: 'n', signerName: 'x' },
        status: conditions('Issued', 'Odd'),
      },
      ['one', 'p', 's', 'n', 'x', 'Issued', '<none>'],
    ],
    [
      'StorageVersion.internal.apiserver.k8s.io',
      { status: { storageVersions: [1, 2, 3, 4].map((n) => ({ apiServerID: `s${n}`, encodingVersion: 'v1' })) } },
      ['one', '<unset>', 's1=v1,s2=v1,s3=v1 + 1 more...', '60s'],
    ],
    [
      'StorageVersionMigration.storagemigration.k8s.io',
      { spec: { resource: { group: 'x.io', resource: 'things' } }, status: conditions('Running', 'Succeeded') },
      ['one', 'things.x.io', 'Succeeded'],
    ],
  ]))

const metric = (type: string, field: string, target: JsonObject): JsonObject => ({
  type,
  [field]: { name: 'cpu', target },
})
const scaler = (metrics: JsonObject[], currentMetrics: JsonObject[] = []): JsonObject => ({
  spec: { metrics },
  status: { currentMetrics },
})
const scaled = (targets: string): readonly unknown[] => ['one', '/', targets, '<unset>', 0, 0, '60s']

describe('scalingKinds', () =>
  rows(autoscalingColumns, [
    [
      'HorizontalPodAutoscaler.autoscaling',
      {
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, minReplicas: 1, maxReplicas: 5 },
        status: { currentReplicas: 2 },
      },
      ['one', 'Deployment/d', '<none>', '1', 5, 2, '60s'],
    ],
    ...(
      [
        [
          scaler(
            [metric('Resource', 'resource', { averageUtilization: 80 })],
            [{ resource: { current: { averageUtilization: 50 } } }],
          ),
          'cpu: 50%/80%',
        ],
        [
          scaler(
            [metric('Resource', 'resource', { averageValue: '0.1' })],
            [{ resource: { current: { averageValue: '0.05' } } }],
          ),
          'cpu: 50m/100m',
        ],
        [scaler([metric('ContainerResource', 'containerResource', {})]), 'cpu: <unknown>/<auto>'],
        [scaler([metric('Pods', 'pods', { averageValue: '1' })], [{ pods: { current: {} } }]), '<nil>/1'],
        [scaler([metric('Object', 'object', { value: '10' })], [{ object: { current: { value: '5' } } }]), '5/10'],
        [scaler([metric('External', 'external', { averageValue: '10' })]), '<unknown>/10 (avg)'],
        [scaler([{ type: 'Odd' }, { type: 'Odd' }, { type: 'Odd' }]), '<unknown type>, <unknown type> + 1 more...'],
        [{ apiVersion: 'autoscaling/v1' }, 'cpu: <unknown>/80%'],
        [
          {
            apiVersion: 'autoscaling/v1',
            spec: { targetCPUUtilizationPercentage: 70 },
            status: { currentCPUUtilizationPercentage: 0 },
          },
          'cpu: 0%/70%',
        ],
      ] as const
    ).map(([fields, targets]): Row => ['HorizontalPodAutoscaler.autoscaling', fields, scaled(targets)]),
    ['Scale.autoscaling', { spec: { replicas: 3 }, status: { replicas: 2 } }, ['one', 3, 2, '60s']],
    [
      'PodDisruptionBudget.policy',
      { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 1 } },
      ['one', '50%', 'N/A', 1, '60s'],
    ],
    ['PodDisruptionBudget.policy', { spec: { maxUnavailable: 0 } }, ['one', 'N/A', '0', 0, '60s']],
    [
      'ResourceQuota',
      { status: { hard: { pods: '10', 'limits.cpu': '2000m', cpu: 1 }, used: { pods: '3' } } },
      ['one', 'cpu: 0/1, pods: 3/10', 'limits.cpu: 0/2', '60s'],
    ],
  ]))

const group = 'resource.k8s.io'
const pools = [
  { totalDevices: 4, availableDevices: 1, allocatedDevices: 2, unavailableDevices: 1 },
  { totalDevices: 1, validationError: 'odd' },
]

describe('deviceKinds', () =>
  rows(schedulingColumns, [
    [`DeviceClass.${group}`, {}, ['one', '60s']],
    [`ResourceClaim.${group}`, {}, ['one', 'pending', '60s']],
    [`ResourceClaim.${group}`, { metadata: deleted }, ['one', 'deleted', '60s']],
    [
      `ResourceClaim.${group}`,
      { metadata: deleted, status: { allocation: {}, reservedFor: [{}] } },
      ['one', 'deleted,allocated,reserved', '60s'],
    ],
    [
      `ResourceSlice.${group}`,
      { spec: { nodeName: 'n', driver: 'd', pool: { name: 'p' } } },
      ['one', 'n', 'd', 'p', '60s'],
    ],
    [
      `DeviceTaintRule.${group}`,
      { spec: { taint: { key: 'k', value: 'v', effect: 'NoExecute', timeAdded: minuteAgo } } },
      ['one', 'k', 'v', 'NoExecute', '60s', '60s'],
    ],
    [
      `ResourcePoolStatusRequest.${group}`,
      { spec: { driver: 'd' } },
      ['one', 'd', '-', '-', '-', '-', '-', 0, 'Pending', '<none>'],
    ],
    [
      `ResourcePoolStatusRequest.${group}`,
      {
        status: {
          poolCount: 3,
          pools,
          conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: minuteAgo }],
        },
      },
      ['one', '', '5', '1', '2', '1', '1', 3, 'Complete (2/3 pools)', '60s'],
    ],
    [
      `ResourcePoolStatusRequest.${group}`,
      { status: { pools, ...conditions('Failed') } },
      ['one', '', '-', '-', '-', '-', '-', 0, 'Failed', '<none>'],
    ],
    ['Workload.scheduling.k8s.io', {}, ['one', '60s']],
    ['PodGroup.scheduling.k8s.io', {}, ['one', 'Basic', '<none>', 'Pending', '60s']],
    [
      'PodGroup.scheduling.k8s.io',
      {
        spec: { schedulingPolicy: { gang: {} }, podGroupTemplateRef: { workload: { workloadName: 'w' } } },
        status: conditions('PodGroupScheduled'),
      },
      ['one', 'Gang', 'w', 'Scheduled', '60s'],
    ],
  ]))
