/**
 * The admission plugins of a server, in the order of kube-apiserver: the rules of built-in kinds, then policies, then
 * webhooks. Hooks of the embedder come first. Quotas come last, after every plugin that may still refuse: what they charge
 * is used up.
 *
 * Three plugins are off unless they are asked for: ServiceAccount and StorageObjectInUseProtection need controllers, which
 * a plane runs, and OwnerReferencesPermissionEnforcement is off in kube-apiserver as well. The namespace lifecycle is no
 * plugin: it always holds.
 */
import type { Clock, Logger, Random } from '#base'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import { escalationPlugin } from '../authz/escalation.ts'
import type { RbacAuthorizer } from '../authz/rbac.ts'
import type { Informers } from '../informers.ts'
import type { CoreObjects } from '../registry/core-objects.ts'
import type { Registry } from '../registry/registry.ts'
import type { Storage } from '../storage/storage.ts'
import { hookPlugin, type AdmissionHook } from './admission-hooks.ts'
import type { AdmissionPlugin } from './admission.ts'
import { Matcher } from './matching.ts'
import { mutatingPolicyPlugin } from './mutating-policies.ts'
import { ownerReferencesPlugin } from './owner-references.ts'
import { selectPlugins, type AdmissionPluginName, type PluginChoice } from './plugin-names.ts'
import { defaultIngressClassPlugin, defaultStorageClassPlugin } from './plugins/default-classes.ts'
import { limitRangerPlugin } from './plugins/limit-ranger.ts'
import { podSecurityPlugin } from './plugins/pod-security.ts'
import { priorityPlugin } from './plugins/priority.ts'
import { runtimeClassPlugin } from './plugins/runtime-class.ts'
import { serviceAccountPlugin } from './plugins/service-account.ts'
import { storageProtectionPlugin } from './plugins/storage-protection.ts'
import { defaultTolerationsPlugin, nodeTaintPlugin } from './plugins/taints.ts'
import { ParamResolver } from './policies.ts'
import { resourceQuotaPlugin } from './resource-quota.ts'
import { validatingPolicyPlugin } from './validating-policies.ts'
import { webhookPlugins, type WebhookPluginOptions } from './webhook-plugins.ts'

interface PluginServices {
  readonly storage: Storage
  readonly registry: Registry
  readonly informers: Informers
  readonly objects: CoreObjects
  readonly rbac: RbacAuthorizer
  readonly authorizer: AuthorizerChain
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

interface PluginOptions extends WebhookPluginOptions, PluginChoice {
  /** Functions of the embedder; they run before all others. */
  readonly hooks: readonly AdmissionHook[]
}

/** All plugins of a server. They request informers, so this must run before the informers start. */
export function admissionPlugins(
  services: PluginServices,
  { hooks, enablePlugins, disablePlugins, ...options }: PluginOptions,
): readonly AdmissionPlugin[] {
  const { storage, registry, informers, rbac, authorizer, random, log } = services
  const matching = new Matcher({ registry, namespaces: informers.forResource('', 'namespaces') })
  const policies = { informers, params: new ParamResolver({ storage, registry }), authorizer }
  const { mutating, validating } = webhookPlugins(matching, services, options)
  const makers: Readonly<Record<AdmissionPluginName, () => AdmissionPlugin>> = {
    LimitRanger: () => limitRangerPlugin(services),
    ServiceAccount: () => serviceAccountPlugin(services),
    TaintNodesByCondition: nodeTaintPlugin,
    PodSecurity: () => podSecurityPlugin(services),
    Priority: () => priorityPlugin(services),
    DefaultTolerationSeconds: defaultTolerationsPlugin,
    DefaultStorageClass: () => defaultStorageClassPlugin(services),
    StorageObjectInUseProtection: storageProtectionPlugin,
    OwnerReferencesPermissionEnforcement: () => ownerReferencesPlugin({ authorizer, registry }),
    RuntimeClass: () => runtimeClassPlugin(services),
    DefaultIngressClass: () => defaultIngressClassPlugin(services),
    MutatingAdmissionPolicy: () => mutatingPolicyPlugin(policies, matching),
    MutatingAdmissionWebhook: () => mutating,
    ValidatingAdmissionPolicy: () => validatingPolicyPlugin(policies, matching),
    ValidatingAdmissionWebhook: () => validating,
    ResourceQuota: () => resourceQuotaPlugin({ informers, registry, storage }),
  }
  return [
    ...hooks.map((hook) => hookPlugin(hook, { matching, random, log })),
    escalationPlugin({ rbac, authorizer }),
    ...selectPlugins({ enablePlugins, disablePlugins }).map((name) => makers[name]()),
  ]
}
