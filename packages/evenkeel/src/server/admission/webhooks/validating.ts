/**
 * Validating webhooks: all that a write concerns are asked at once, and all have to say yes.
 *
 * When several say no, the client hears of the first that did. Nobody is left alone: the write is answered when every
 * webhook has answered or failed.
 */
import type { AdmissionPlugin, AdmissionAttributes } from '../admission.ts'
import { WebhookDispatcher } from './calling.ts'
import type { WebhookDispatcherOptions, WebhookInvocation } from './calling.ts'

const failedOpenAnnotation = 'failed-open.validating.webhook.admission.k8s.io'

export function validatingWebhookPlugin(options: Omit<WebhookDispatcherOptions, 'mutates'>): AdmissionPlugin {
  const calling = new WebhookDispatcher({ ...options, mutates: false })
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: (write) => options.set.candidates(write).length > 0,
    async validate(object, admitted) {
      if (admitted.user === undefined) return
      const invocations: WebhookInvocation[] = []
      for (const webhook of options.set.candidates(admitted)) {
        const invocation = await calling.resolveInvocation(
          webhook,
          { object, form: admitted.target.resource },
          admitted,
        )
        if (invocation) invocations.push(invocation)
      }
      await callAll(invocations, calling, admitted)
    },
  }
}

async function callAll(
  invocations: readonly WebhookInvocation[],
  calling: WebhookDispatcher,
  admitted: AdmissionAttributes,
): Promise<void> {
  const refusals: unknown[] = []
  await Promise.all(
    invocations.map(async (invocation, index) => {
      const visiting = { admitted, failedOpen: `${failedOpenAnnotation}/round_0_index_${index}` }
      await calling
        .attempt(invocation.webhook, visiting, (visit) => calling.call(invocation, visit))
        .catch((error: unknown) => {
          refusals.push(error)
        })
    }),
  )
  if (refusals.length > 0) throw refusals[0]
}
