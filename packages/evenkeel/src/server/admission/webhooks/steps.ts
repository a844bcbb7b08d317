/**
 * Webhooks as steps of admission, from what configurations say now.
 */
import { onAbort } from '#base'
import type { ServerContext } from '../../call.ts'
import type { WebhookOptions } from '../../outgoing/webhook-options.ts'
import type { AdmissionPlugin } from '../admission.ts'
import type { Matcher } from '../matching/matching.ts'
import { mutatingWebhookPlugin } from './mutating.ts'
import { validatingWebhookPlugin } from './validating.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'
import { WebhookConfigurations } from './webhook-set.ts'

interface WebhookPlugins {
  readonly mutating: AdmissionPlugin
  readonly validating: AdmissionPlugin
}

export interface WebhookPluginOptions {
  readonly webhooks: WebhookOptions
  /** Where they are counted. */
  readonly metrics: WebhookMetrics
}

type WebhookPluginContext = Pick<
  ServerContext,
  'informers' | 'registry' | 'authorizer' | 'clock' | 'random' | 'log' | 'stopping'
>

/** Asks for views, so it must be called before the server starts. */
export function webhookPlugins(
  matching: Matcher,
  { informers, registry, authorizer, clock, random, log, stopping }: WebhookPluginContext,
  { webhooks, metrics }: WebhookPluginOptions,
): WebhookPlugins {
  const group = 'admissionregistration.k8s.io'
  const [mutating, validating] = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
    (plural) =>
      new WebhookConfigurations({ informer: informers.forResource(group, plural), matching, registry, webhooks }),
  ) as [WebhookConfigurations, WebhookConfigurations]
  onAbort(stopping, () => {
    mutating.close()
    validating.close()
  })
  const shared = { matching, authorizer, clock, random, log, metrics }
  return {
    mutating: mutatingWebhookPlugin({ ...shared, set: mutating }),
    validating: validatingWebhookPlugin({ ...shared, set: validating }),
  }
}
