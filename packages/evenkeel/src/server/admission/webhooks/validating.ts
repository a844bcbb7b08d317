/**
 * Validating webhooks: all that a write concerns are asked at once, and all have to say yes.
 *
 * When several say no, the client hears of the first that did. Nobody is left alone: the write is answered when every
 * webhook has answered or failed.
 */
import type { AdmissionStep, Admitted } from '../admission.ts'
import { Calling } from './calling.ts'
import type { CallingOptions, Invocation } from './calling.ts'

const failedOpen = 'failed-open.validating.webhook.admission.k8s.io'

export function validatingWebhooks(options: Omit<CallingOptions, 'mutates'>): AdmissionStep {
  const calling = new Calling({ ...options, mutates: false })
  return {
    name: 'ValidatingAdmissionWebhook',
    concerns: (write) => options.set.candidates(write).length > 0,
    async validate(object, admitted) {
      if (admitted.user === undefined) return
      const invocations: Invocation[] = []
      for (const webhook of options.set.candidates(admitted)) {
        const invocation = await calling.invocation(webhook, { object, form: admitted.target.resource }, admitted)
        if (invocation) invocations.push(invocation)
      }
      await askAll(invocations, calling, admitted)
    },
  }
}

async function askAll(invocations: readonly Invocation[], calling: Calling, admitted: Admitted): Promise<void> {
  const refusals: unknown[] = []
  await Promise.all(
    invocations.map(async (invocation, index) => {
      const visiting = { admitted, failedOpen: `${failedOpen}/round_0_index_${index}` }
      await calling
        .visit(invocation.webhook, visiting, (visit) => calling.ask(invocation, visit))
        .catch((error: unknown) => {
          refusals.push(error)
        })
    }),
  )
  if (refusals.length > 0) throw refusals[0]
}
