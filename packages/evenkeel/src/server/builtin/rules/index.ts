/**
 * The rules of every built-in kind.
 *
 * A kind is its flags and, for the kinds that controllers depend on, hooks; a kind without hooks is kept by its schema
 * alone.
 */
import type { ResourceStrategy } from '../../resources/resource.ts'
import { clusterRoleBindingStrategy, roleBindingStrategy } from './access/role-bindings.ts'
import { clusterRoleStrategy, roleStrategy } from './access/roles.ts'
import { mutatingBindingStrategy, validatingBindingStrategy } from './admission/bindings.ts'
import { mutatingPolicyStrategy, validatingPolicyStrategy } from './admission/policies.ts'
import { mutatingWebhookStrategy, validatingWebhookStrategy } from './admission/webhooks.ts'
import { apiServiceStrategy } from './cluster/api-service.ts'
import { certificateSigningRequestStrategy } from './cluster/certificate-signing-request.ts'
import { customResourceDefinitionStrategy } from './cluster/custom-resource-definition.ts'
import { definitionDeletionStrategy } from './cluster/definition-deletion.ts'
import { flowSchemaStrategy, priorityLevelStrategy } from './cluster/flow-control.ts'
import { leaseStrategy } from './cluster/lease.ts'
import { nodeStrategy } from './cluster/node.ts'
import { priorityClassStrategy } from './cluster/priority-class.ts'
import { resourceClaimStrategy, resourceClaimTemplateStrategy } from './cluster/resource-claim.ts'
import { resourceSliceStrategy } from './cluster/resource-slice.ts'
import { configMapStrategy } from './core/config-map.ts'
import { eventStrategy, strictEventStrategy } from './core/event.ts'
import { namespaceStrategy } from './core/namespace.ts'
import { secretStrategy } from './core/secret.ts'
import { strategyFlags } from './flags.ts'
import type { StrategyHooks } from './hooks.ts'
import { endpointSliceStrategy } from './network/endpoint-slice.ts'
import { endpointsStrategy } from './network/endpoints.ts'
import { ingressClassStrategy, ingressStrategy } from './network/ingress.ts'
import { networkPolicyStrategy } from './network/network-policy.ts'
import { serviceStrategy } from './network/service.ts'
import { podStrategy, podTemplateStrategy } from './pods/pod.ts'
import { limitRangeStrategy } from './quotas/limit-range.ts'
import { resourceQuotaStrategy } from './quotas/resource-quota.ts'
import { horizontalPodAutoscalerStrategy } from './scaling/horizontal-pod-autoscaler.ts'
import { podDisruptionBudgetStrategy } from './scaling/pod-disruption-budget.ts'
import { persistentVolumeClaimStrategy } from './storage/persistent-volume-claim.ts'
import { persistentVolumeStrategy } from './storage/persistent-volume.ts'
import { csiDriverStrategy, storageClassStrategy } from './storage/storage-class.ts'
import { cronJobStrategy } from './workloads/cron-job.ts'
import { daemonSetStrategy } from './workloads/daemon-set.ts'
import { deploymentStrategy } from './workloads/deployment.ts'
import { jobStrategy } from './workloads/job.ts'
import { replicaSetStrategy, replicationControllerStrategy } from './workloads/replica-sets.ts'
import { controllerRevisionStrategy, statefulSetStrategy } from './workloads/stateful-set.ts'

export { coreToEvents, eventsToCore } from './core/event-forms.ts'

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
    MutatingAdmissionPolicy: mutatingPolicyStrategy,
    MutatingAdmissionPolicyBinding: mutatingBindingStrategy,
    MutatingWebhookConfiguration: mutatingWebhookStrategy,
    ValidatingAdmissionPolicy: validatingPolicyStrategy,
    ValidatingAdmissionPolicyBinding: validatingBindingStrategy,
    ValidatingWebhookConfiguration: validatingWebhookStrategy,
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

/** The rules of a built-in kind; of a kind nobody has heard of, the ordinary ones. */
export function strategyFor(group: string, kind: string): ResourceStrategy {
  return { ...strategyFlags(group, kind), ...hooksOf(group, kind) }
}

function hooksOf(group: string, kind: string): StrategyHooks | undefined {
  const kinds = Object.hasOwn(hooks, group) ? hooks[group] : undefined
  return kinds !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}
