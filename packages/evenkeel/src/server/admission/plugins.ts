/**
 * What takes part in admission, in order: those who change a write before those who judge it, policies before webhooks.
 * Quotas come last, behind everybody who may still refuse: what they count is used up.
 */
import type { ServerContext } from '../request-context.ts'
import { hookPlugin, type AdmissionHook } from './admission-hooks.ts'
import type { AdmissionPlugin } from './admission.ts'
import { Matcher } from './matching.ts'
import { mutatingPolicyPlugin } from './mutating-policies.ts'
import { validatingPolicyPlugin } from './validating-policies.ts'
import { webhookPlugins, type WebhookPluginOptions } from './webhook-plugins.ts'

type PluginContext = Pick<
  ServerContext,
  'informers' | 'registry' | 'store' | 'cluster' | 'authorizer' | 'clock' | 'random' | 'log' | 'stopping'
>

interface PluginOptions extends WebhookPluginOptions {
  /** Of whoever embeds the server: asked before everybody else. */
  readonly hooks: readonly AdmissionHook[]
}

/** The steps that objects of the server itself configure. Must be made before the views start. */
export function admissionPlugins(
  server: PluginContext,
  { hooks, ...options }: PluginOptions,
): readonly AdmissionPlugin[] {
  const { registry, informers, random, log } = server
  const matching = new Matcher({ registry, namespaces: informers.forResource('', 'namespaces') })
  const { mutating, validating } = webhookPlugins(matching, server, options)
  return [
    ...hooks.map((hook) => hookPlugin(hook, { matching, random, log })),
    mutatingPolicyPlugin(server, matching),
    mutating,
    validatingPolicyPlugin(server, matching),
    validating,
  ]
}
