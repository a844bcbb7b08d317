/**
 * The admission plugins in their order: those that mutate a write before those that validate it, policies before
 * webhooks. Quotas come last, after every plugin that may still refuse: what they charge is used up.
 */
import type { Clock, Logger, Random } from '#base'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import { escalationPlugin } from '../authz/escalation.ts'
import type { RbacAuthorizer } from '../authz/rbac.ts'
import type { Informers } from '../informers.ts'
import type { Registry } from '../registry/registry.ts'
import type { Storage } from '../storage/storage.ts'
import { hookPlugin, type AdmissionHook } from './admission-hooks.ts'
import type { AdmissionPlugin } from './admission.ts'
import { Matcher } from './matching.ts'
import { mutatingPolicyPlugin } from './mutating-policies.ts'
import { ownerReferencesPlugin } from './owner-references.ts'
import { ParamResolver } from './policies.ts'
import { resourceQuotaPlugin } from './resource-quota.ts'
import { validatingPolicyPlugin } from './validating-policies.ts'
import { webhookPlugins, type WebhookPluginOptions } from './webhook-plugins.ts'

interface PluginServices {
  readonly storage: Storage
  readonly registry: Registry
  readonly informers: Informers
  readonly rbac: RbacAuthorizer
  readonly authorizer: AuthorizerChain
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

interface PluginOptions extends WebhookPluginOptions {
  /** Functions of the embedder; they run before all others. */
  readonly hooks: readonly AdmissionHook[]
  /** Whether changes of owner references need rights on the owner. */
  readonly ownerReferences: boolean
}

/** All plugins of a server. They request informers, so this must run before the informers start. */
export function admissionPlugins(
  services: PluginServices,
  { hooks, ownerReferences, ...options }: PluginOptions,
): readonly AdmissionPlugin[] {
  const { storage, registry, informers, rbac, authorizer, random, log } = services
  const matching = new Matcher({ registry, namespaces: informers.forResource('', 'namespaces') })
  const policies = { informers, params: new ParamResolver({ storage, registry }), authorizer }
  const { mutating, validating } = webhookPlugins(matching, services, options)
  return [
    ...hooks.map((hook) => hookPlugin(hook, { matching, random, log })),
    mutatingPolicyPlugin(policies, matching),
    mutating,
    validatingPolicyPlugin(policies, matching),
    validating,
    escalationPlugin({ rbac, authorizer }),
    ...(ownerReferences ? [ownerReferencesPlugin({ authorizer, registry })] : []),
    resourceQuotaPlugin({ informers, registry, storage }),
  ]
}
