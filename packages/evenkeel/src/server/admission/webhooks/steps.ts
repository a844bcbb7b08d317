/**
 * Webhooks as steps of admission, from what configurations say now.
 */
import { onAbort } from '#base'
import type { Rooms } from '../../call.ts'
import type { WebhookOptions } from '../../outgoing/webhook-options.ts'
import type { AdmissionStep } from '../admission.ts'
import type { Matching } from '../matching/matching.ts'
import { mutatingWebhooks } from './mutating.ts'
import { validatingWebhooks } from './validating.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'
import { WebhookSet } from './webhook-set.ts'

interface WebhookSteps {
  readonly mutating: AdmissionStep
  readonly validating: AdmissionStep
}

export interface WebhookStepOptions {
  readonly webhooks: WebhookOptions
  /** Where they are counted. */
  readonly metrics: WebhookMetrics
}

type Surroundings = Pick<Rooms, 'views' | 'registry' | 'access' | 'clock' | 'random' | 'log' | 'stopping'>

/** Asks for views, so it must be called before the server starts. */
export function webhookSteps(
  matching: Matching,
  { views, registry, access, clock, random, log, stopping }: Surroundings,
  { webhooks, metrics }: WebhookStepOptions,
): WebhookSteps {
  const group = 'admissionregistration.k8s.io'
  const [mutating, validating] = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
    (plural) => new WebhookSet({ view: views.of(group, plural), matching, registry, webhooks }),
  ) as [WebhookSet, WebhookSet]
  onAbort(stopping, () => {
    mutating.close()
    validating.close()
  })
  const shared = { matching, access, clock, random, log, metrics }
  return {
    mutating: mutatingWebhooks({ ...shared, set: mutating }),
    validating: validatingWebhooks({ ...shared, set: validating }),
  }
}
