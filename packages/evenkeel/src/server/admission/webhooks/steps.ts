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
import { WebhookSet } from './webhook-set.ts'

interface WebhookSteps {
  readonly mutating: AdmissionStep
  readonly validating: AdmissionStep
}

type Surroundings = Pick<Rooms, 'views' | 'registry' | 'access' | 'clock' | 'random' | 'log' | 'stopping'>

/** Asks for views, so it must be called before the server starts. */
export function webhookSteps(matching: Matching, { views, registry, access, clock, random, log, stopping }: Surroundings, webhooks: WebhookOptions): WebhookSteps {
  const group = 'admissionregistration.k8s.io'
  const [mutating, validating] = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']
    .map((plural) => new WebhookSet({ view: views.of(group, plural), matching, registry, webhooks })) as [WebhookSet, WebhookSet]
  onAbort(stopping, () => {
    mutating.close()
    validating.close()
  })
  const shared = { matching, access, clock, random, log }
  return {
    mutating: mutatingWebhooks({ ...shared, set: mutating }),
    validating: validatingWebhooks({ ...shared, set: validating }),
  }
}
