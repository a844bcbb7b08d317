/**
 * The strategies of all built-in kinds.
 *
 * A strategy has flags and, for the kinds that controllers depend on, hooks; a kind without hooks is validated by its schema
 * only.
 */
import { mutatingPolicyStrategy, validatingPolicyStrategy } from './admission/policies.ts'
import { mutatingBindingStrategy, validatingBindingStrategy } from './admission/policy-bindings.ts'
import { warningOfReservedNames } from './admission/reserved-names.ts'
import { mutatingWebhookStrategy, validatingWebhookStrategy } from './admission/webhooks.ts'
import { cronJobStrategy } from './apps/cron-job.ts'
import { daemonSetStrategy } from './apps/daemon-set.ts'
import { deploymentStrategy } from './apps/deployment.ts'
import { horizontalPodAutoscalerStrategy } from './apps/horizontal-pod-autoscaler.ts'
import { jobStrategy } from './apps/job.ts'
import { podDisruptionBudgetStrategy } from './apps/pod-disruption-budget.ts'
import { replicaSetStrategy, replicationControllerStrategy } from './apps/replica-set.ts'
import { controllerRevisionStrategy, statefulSetStrategy } from './apps/stateful-set.ts'
import { apiServiceStrategy } from './cluster/api-service.ts'
import { certificateSigningRequestStrategy } from './cluster/certificate-signing-request.ts'
import { customResourceDefinitionStrategy, definitionDeletionStrategy } from './cluster/custom-resource-definition.ts'
import { flowSchemaStrategy, priorityLevelStrategy } from './cluster/flow-control.ts'
import { leaseStrategy } from './cluster/lease.ts'
import {
  priorityClassStrategy,
  resourceClaimStrategy,
  resourceClaimTemplateStrategy,
  resourceSliceStrategy,
} from './cluster/scheduling.ts'
import { configMapStrategy } from './core/config-map.ts'
import { eventStrategy, strictEventStrategy } from './core/event.ts'
import { limitRangeStrategy } from './core/limit-range.ts'
import { namespaceStrategy } from './core/namespace.ts'
import { nodeStrategy } from './core/node.ts'
import { persistentVolumeClaimStrategy, persistentVolumeStrategy } from './core/persistent-volume.ts'
import { podStrategy, podTemplateStrategy } from './core/pod.ts'
import { resourceQuotaStrategy } from './core/resource-quota.ts'
import { secretStrategy } from './core/secret.ts'
import { csiDriverStrategy, storageClassStrategy } from './core/storage-class.ts'
import { endpointSliceStrategy, endpointsStrategy } from './networking/endpoints.ts'
import { ingressClassStrategy, ingressStrategy } from './networking/ingress.ts'
import { networkPolicyStrategy } from './networking/network-policy.ts'
import { serviceStrategy } from './networking/service.ts'
import { clusterRoleBindingStrategy, clusterRoleStrategy, roleBindingStrategy, roleStrategy } from './rbac/roles.ts'
import type { ResourceStrategy } from './resource.ts'
import { strategyFlags, type StrategyHooks } from './strategy-flags.ts'

/** Group, then kind. */
const hooks: Readonly<Record<string, Readonly<Record<string, StrategyHooks>>>> = {
  '': {
    ConfigMap: configMapStrategy,
    Endpoints: endpointsStrategy,
    Event: eventStrategy,
    LimitRange: limitRangeStrategy,
    Namespace: namespaceStrategy,
    Node: nodeStrategy,
    PersistentVolume: persistentVolumeStrategy,
    PersistentVolumeClaim: persistentVolumeClaimStrategy,
    Pod: podStrategy,
    PodTemplate: podTemplateStrategy,
    ReplicationController: replicationControllerStrategy,
    ResourceQuota: resourceQuotaStrategy,
    Secret: secretStrategy,
    Service: serviceStrategy,
  },
  'admissionregistration.k8s.io': {
    MutatingAdmissionPolicy: warningOfReservedNames(mutatingPolicyStrategy),
    MutatingAdmissionPolicyBinding: warningOfReservedNames(mutatingBindingStrategy),
    MutatingWebhookConfiguration: warningOfReservedNames(mutatingWebhookStrategy),
    ValidatingAdmissionPolicy: warningOfReservedNames(validatingPolicyStrategy),
    ValidatingAdmissionPolicyBinding: warningOfReservedNames(validatingBindingStrategy),
    ValidatingWebhookConfiguration: warningOfReservedNames(validatingWebhookStrategy),
  },
  'apiextensions.k8s.io': {
    CustomResourceDefinition: { ...customResourceDefinitionStrategy, ...definitionDeletionStrategy },
  },
  'apiregistration.k8s.io': { APIService: apiServiceStrategy },
  apps: {
    ControllerRevision: controllerRevisionStrategy,
    DaemonSet: daemonSetStrategy,
    Deployment: deploymentStrategy,
    ReplicaSet: replicaSetStrategy,
    StatefulSet: statefulSetStrategy,
  },
  autoscaling: { HorizontalPodAutoscaler: horizontalPodAutoscalerStrategy },
  batch: { CronJob: cronJobStrategy, Job: jobStrategy },
  'certificates.k8s.io': { CertificateSigningRequest: certificateSigningRequestStrategy },
  'coordination.k8s.io': { Lease: leaseStrategy },
  'discovery.k8s.io': { EndpointSlice: endpointSliceStrategy },
  'events.k8s.io': { Event: strictEventStrategy },
  'flowcontrol.apiserver.k8s.io': { FlowSchema: flowSchemaStrategy, PriorityLevelConfiguration: priorityLevelStrategy },
  'networking.k8s.io': {
    Ingress: ingressStrategy,
    IngressClass: ingressClassStrategy,
    NetworkPolicy: networkPolicyStrategy,
  },
  policy: { PodDisruptionBudget: podDisruptionBudgetStrategy },
  'rbac.authorization.k8s.io': {
    ClusterRole: clusterRoleStrategy,
    ClusterRoleBinding: clusterRoleBindingStrategy,
    Role: roleStrategy,
    RoleBinding: roleBindingStrategy,
  },
  'resource.k8s.io': {
    ResourceClaim: resourceClaimStrategy,
    ResourceClaimTemplate: resourceClaimTemplateStrategy,
    ResourceSlice: resourceSliceStrategy,
  },
  'scheduling.k8s.io': { PriorityClass: priorityClassStrategy },
  'storage.k8s.io': { CSIDriver: csiDriverStrategy, StorageClass: storageClassStrategy },
}

/** The strategy of a built-in kind; the default one for an unknown kind. */
export function strategyFor(group: string, kind: string): ResourceStrategy {
  return { ...strategyFlags(group, kind), ...hooksOf(group, kind) }
}

function hooksOf(group: string, kind: string): StrategyHooks | undefined {
  const kinds = Object.hasOwn(hooks, group) ? hooks[group] : undefined
  return kinds !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}
