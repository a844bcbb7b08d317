/**
 * The boolean differences between built-in kinds: names, optimistic locking, generation, the response to a delete.
 *
 * One row per kind that differs from {@link ordinary}; the rows follow the strategies and stores of Kubernetes 1.36.
 * Other kinds, also those of unknown groups, get the defaults.
 */
import {
  checkDnsLabelName,
  checkDnsSubdomainName,
  checkPathSegmentName,
  type NameRule,
} from 'evenkeel/unstable/builtins'
import { checkAddressName } from './ip-addresses.ts'
import type { ResourceStrategy } from './resource.ts'

/** The required part of {@link ResourceStrategy}. */
type StrategyFlags = Pick<
  ResourceStrategy,
  | 'checkName'
  | 'createOnUpdate'
  | 'dependents'
  | 'generation'
  | 'returnsDeleted'
  | 'unconditionalUpdate'
  | 'statusKeeps'
  | 'statusOnCreate'
  | 'deprecation'
  | 'orphanWarning'
>

/** The defaults. */
const ordinary: StrategyFlags = {
  checkName: checkDnsSubdomainName,
  unconditionalUpdate: true,
  createOnUpdate: false,
  generation: false,
  returnsDeleted: false,
  dependents: 'background',
}

/** A status update changes no metadata. */
const quietStatus = { statusKeeps: 'metadata' } as const
const anyName: NameRule = () => []
const counted = { generation: true } as const
const locked = { unconditionalUpdate: false } as const
const returned = { returnsDeleted: true } as const
const countedAndLocked = { ...counted, ...locked } as const
const rbac = { createOnUpdate: true, checkName: checkPathSegmentName } as const
/** Kinds whose names are validated by their own strategy, against the fields they are made of. */
const events = { createOnUpdate: true, dependents: 'none', checkName: anyName } as const

/** Group, then kind. */
const differences: Readonly<Record<string, Readonly<Record<string, Partial<StrategyFlags>>>>> = {
  '': {
    ComponentStatus: { deprecation: 'v1 ComponentStatus is deprecated in v1.19+' },
    Endpoints: {
      createOnUpdate: true,
      deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
    },
    Event: events,
    LimitRange: { createOnUpdate: true },
    Namespace: { ...returned, checkName: checkDnsLabelName },
    PersistentVolume: returned,
    PersistentVolumeClaim: returned,
    Node: { statusOnCreate: 'keep' },
    Pod: { ...returned, ...counted, statusKeeps: 'ownerReferences' },
    PodTemplate: { ...returned, ...counted },
    ReplicationController: { ...counted, dependents: 'orphan' },
    ResourceQuota: returned,
    Service: { ...returned, createOnUpdate: true, checkName: checkDnsLabelName },
    ServiceAccount: returned,
  },
  'admissionregistration.k8s.io': {
    MutatingAdmissionPolicy: countedAndLocked,
    MutatingAdmissionPolicyBinding: countedAndLocked,
    MutatingWebhookConfiguration: countedAndLocked,
    ValidatingAdmissionPolicy: { ...countedAndLocked, ...quietStatus },
    ValidatingAdmissionPolicyBinding: countedAndLocked,
    ValidatingWebhookConfiguration: countedAndLocked,
  },
  'apiextensions.k8s.io': { CustomResourceDefinition: countedAndLocked },
  'apiregistration.k8s.io': { APIService: { ...locked, ...quietStatus, checkName: checkPathSegmentName } },
  apps: {
    DaemonSet: counted,
    Deployment: { ...counted, statusKeeps: 'labels' },
    ReplicaSet: counted,
    StatefulSet: { ...counted, checkName: checkDnsLabelName },
  },
  batch: {
    CronJob: counted,
    Job: {
      ...counted,
      dependents: 'orphan',
      orphanWarning:
        'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    },
  },
  'certificates.k8s.io': {
    CertificateSigningRequest: { checkName: anyName },
    ClusterTrustBundle: locked,
    PodCertificateRequest: locked,
  },
  'coordination.k8s.io': {
    Lease: { ...locked, createOnUpdate: true },
    LeaseCandidate: { ...locked, createOnUpdate: true },
  },
  'discovery.k8s.io': { EndpointSlice: counted },
  'events.k8s.io': { Event: events },
  'flowcontrol.apiserver.k8s.io': {
    FlowSchema: { ...counted, ...quietStatus },
    PriorityLevelConfiguration: { ...counted, ...quietStatus },
  },
  'networking.k8s.io': {
    IPAddress: { checkName: checkAddressName },
    Ingress: counted,
    IngressClass: counted,
    NetworkPolicy: counted,
    ServiceCIDR: quietStatus,
  },
  'node.k8s.io': { RuntimeClass: { ...locked, createOnUpdate: true } },
  policy: { PodDisruptionBudget: countedAndLocked },
  'rbac.authorization.k8s.io': { ClusterRole: rbac, ClusterRoleBinding: rbac, Role: rbac, RoleBinding: rbac },
  'resource.k8s.io': {
    DeviceClass: { ...returned, ...counted },
    DeviceTaintRule: { ...returned, ...counted },
    ResourceClaim: { ...returned, ...quietStatus },
    ResourceClaimTemplate: returned,
    ResourceSlice: { ...returned, ...counted },
  },
  'scheduling.k8s.io': { PriorityClass: counted },
  'storage.k8s.io': {
    CSIDriver: { ...returned, ...locked },
    CSINode: { ...returned, ...locked },
    CSIStorageCapacity: locked,
    StorageClass: returned,
    VolumeAttachment: { ...returned, ...locked, ...quietStatus },
    VolumeAttributesClass: returned,
  },
}

/** The flags of a kind. */
export function strategyFlags(group: string, kind: string): StrategyFlags {
  const kinds = Object.hasOwn(differences, group) ? differences[group] : undefined
  return kinds !== undefined && Object.hasOwn(kinds, kind) ? { ...ordinary, ...kinds[kind] } : ordinary
}

// The hooks of {@link ResourceStrategy}: the export of the file of a kind. All flags are in one table.

export type StrategyHooks = Omit<Partial<ResourceStrategy>, keyof StrategyFlags>
