/**
 * The rules of every built-in kind.
 *
 * A kind is its flags and, for the kinds that controllers depend on, hooks; a kind without hooks is kept by its schema
 * alone.
 */
import type { Rules } from '../../resources/resource.ts'
import { clusterRoleBindingRules, roleBindingRules } from './access/role-bindings.ts'
import { clusterRoleRules, roleRules } from './access/roles.ts'
import { mutatingBindingRules, validatingBindingRules } from './admission/bindings.ts'
import { mutatingPolicyRules, validatingPolicyRules } from './admission/policies.ts'
import { mutatingWebhookRules, validatingWebhookRules } from './admission/webhooks.ts'
import { apiServiceRules } from './cluster/api-service.ts'
import { certificateSigningRequestRules } from './cluster/certificate-signing-request.ts'
import { customResourceDefinitionRules } from './cluster/custom-resource-definition.ts'
import { definitionDeletionRules } from './cluster/definition-deletion.ts'
import { flowSchemaRules, priorityLevelRules } from './cluster/flow-control.ts'
import { leaseRules } from './cluster/lease.ts'
import { nodeRules } from './cluster/node.ts'
import { priorityClassRules } from './cluster/priority-class.ts'
import { resourceClaimRules, resourceClaimTemplateRules } from './cluster/resource-claim.ts'
import { resourceSliceRules } from './cluster/resource-slice.ts'
import { configMapRules } from './core/config-map.ts'
import { eventRules, strictEventRules } from './core/event.ts'
import { namespaceRules } from './core/namespace.ts'
import { secretRules } from './core/secret.ts'
import { flagsOf } from './flags.ts'
import type { Hooks } from './hooks.ts'
import { endpointSliceRules } from './network/endpoint-slice.ts'
import { endpointsRules } from './network/endpoints.ts'
import { ingressClassRules, ingressRules } from './network/ingress.ts'
import { networkPolicyRules } from './network/network-policy.ts'
import { serviceRules } from './network/service.ts'
import { podRules, podTemplateRules } from './pods/pod.ts'
import { limitRangeRules } from './quotas/limit-range.ts'
import { resourceQuotaRules } from './quotas/resource-quota.ts'
import { horizontalPodAutoscalerRules } from './scaling/horizontal-pod-autoscaler.ts'
import { podDisruptionBudgetRules } from './scaling/pod-disruption-budget.ts'
import { persistentVolumeClaimRules } from './storage/persistent-volume-claim.ts'
import { persistentVolumeRules } from './storage/persistent-volume.ts'
import { csiDriverRules, storageClassRules } from './storage/storage-class.ts'
import { cronJobRules } from './workloads/cron-job.ts'
import { daemonSetRules } from './workloads/daemon-set.ts'
import { deploymentRules } from './workloads/deployment.ts'
import { jobRules } from './workloads/job.ts'
import { replicaSetRules, replicationControllerRules } from './workloads/replica-sets.ts'
import { controllerRevisionRules, statefulSetRules } from './workloads/stateful-set.ts'

export { coreToEvents, eventsToCore } from './core/event-forms.ts'

/** Group, then kind. */
const hooks: Readonly<Record<string, Readonly<Record<string, Hooks>>>> = {
  '': {
    ConfigMap: configMapRules,
    Endpoints: endpointsRules,
    Event: eventRules,
    LimitRange: limitRangeRules,
    Namespace: namespaceRules,
    Node: nodeRules,
    PersistentVolume: persistentVolumeRules,
    PersistentVolumeClaim: persistentVolumeClaimRules,
    Pod: podRules,
    PodTemplate: podTemplateRules,
    ReplicationController: replicationControllerRules,
    ResourceQuota: resourceQuotaRules,
    Secret: secretRules,
    Service: serviceRules,
  },
  'admissionregistration.k8s.io': {
    MutatingAdmissionPolicy: mutatingPolicyRules,
    MutatingAdmissionPolicyBinding: mutatingBindingRules,
    MutatingWebhookConfiguration: mutatingWebhookRules,
    ValidatingAdmissionPolicy: validatingPolicyRules,
    ValidatingAdmissionPolicyBinding: validatingBindingRules,
    ValidatingWebhookConfiguration: validatingWebhookRules,
  },
  'apiextensions.k8s.io': {
    CustomResourceDefinition: { ...customResourceDefinitionRules, ...definitionDeletionRules },
  },
  'apiregistration.k8s.io': { APIService: apiServiceRules },
  apps: {
    ControllerRevision: controllerRevisionRules,
    DaemonSet: daemonSetRules,
    Deployment: deploymentRules,
    ReplicaSet: replicaSetRules,
    StatefulSet: statefulSetRules,
  },
  autoscaling: { HorizontalPodAutoscaler: horizontalPodAutoscalerRules },
  batch: { CronJob: cronJobRules, Job: jobRules },
  'certificates.k8s.io': { CertificateSigningRequest: certificateSigningRequestRules },
  'coordination.k8s.io': { Lease: leaseRules },
  'discovery.k8s.io': { EndpointSlice: endpointSliceRules },
  'events.k8s.io': { Event: strictEventRules },
  'flowcontrol.apiserver.k8s.io': { FlowSchema: flowSchemaRules, PriorityLevelConfiguration: priorityLevelRules },
  'networking.k8s.io': { Ingress: ingressRules, IngressClass: ingressClassRules, NetworkPolicy: networkPolicyRules },
  policy: { PodDisruptionBudget: podDisruptionBudgetRules },
  'rbac.authorization.k8s.io': {
    ClusterRole: clusterRoleRules,
    ClusterRoleBinding: clusterRoleBindingRules,
    Role: roleRules,
    RoleBinding: roleBindingRules,
  },
  'resource.k8s.io': {
    ResourceClaim: resourceClaimRules,
    ResourceClaimTemplate: resourceClaimTemplateRules,
    ResourceSlice: resourceSliceRules,
  },
  'scheduling.k8s.io': { PriorityClass: priorityClassRules },
  'storage.k8s.io': { CSIDriver: csiDriverRules, StorageClass: storageClassRules },
}

/** The rules of a built-in kind; of a kind nobody has heard of, the ordinary ones. */
export function rulesFor(group: string, kind: string): Rules {
  return { ...flagsOf(group, kind), ...hooksOf(group, kind) }
}

function hooksOf(group: string, kind: string): Hooks | undefined {
  const kinds = Object.hasOwn(hooks, group) ? hooks[group] : undefined
  return kinds !== undefined && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
}
