/**
 * One call of one webhook, from the question to what it decided.
 *
 * A call that does not lead to a decision is a {@link CallFailure}, which the webhook's failure policy may forgive. A
 * webhook that may not be asked at all is an error that nothing forgives.
 */
import { badRequest } from '#api'
import type { JsonObject } from '#api'
import { deadline, randomUuid } from '#base'
import type { Clock, Random } from '#base'
import type { Hook } from '../../outgoing/hook.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Admitted } from '../admission.ts'
import { requestFields } from '../expressions/expressions.ts'
import { makeReview, readAnswer, reviewVersion } from './review.ts'
import type { ReviewAnswer, ReviewObjects } from './review.ts'
import type { Webhook } from './webhook.ts'

/** A webhook that did not decide. */
export class CallFailure extends Error {
  constructor(webhook: string, reason: string, cause?: unknown) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`, { cause })
  }
}

interface Asking extends ReviewObjects {
  readonly admitted: Admitted
  /** The form in which the write matched. */
  readonly resource: Resource
  readonly hook: Hook
  readonly mutates: boolean
  readonly surroundings: { readonly clock: Clock; readonly random: Random }
}

/**
 * Asks a webhook, and gives its answer, be it yes or no.
 *
 * @throws {ApiError} when it may not be asked
 * @throws {CallFailure} when there is no answer
 */
export async function askWebhook(webhook: Webhook, asking: Asking): Promise<ReviewAnswer> {
  const {
    admitted,
    surroundings: { random },
  } = asking
  if (admitted.dryRun && !webhook.allowsDryRun)
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
  const version = reviewVersion(webhook.reviewVersions)
  if (version === undefined)
    throw new CallFailure(
      webhook.name,
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    )
  const question = { version, uid: randomUuid(random), mutates: asking.mutates }
  const review = makeReview(requestFields(admitted, asking.resource), asking, question)
  const answer = await call(webhook, review, asking)
  const read = understood(webhook, () => readAnswer(answer, question))
  for (const [key, value] of Object.entries(read.annotations)) admitted.annotate(`${webhook.name}/${key}`, value)
  for (const text of read.warnings) admitted.warn(text)
  return read
}

async function call(
  { name, timeoutSeconds }: Webhook,
  review: JsonObject,
  { admitted, hook, surroundings: { clock } }: Asking,
): ReturnType<Hook['ask']> {
  const { signal, done } = deadline(clock, timeoutSeconds * 1000, {
    ...(admitted.signal && { signal: admitted.signal }),
  })
  try {
    return await hook.ask(review, { signal, timeoutSeconds })
  } catch (error) {
    // Nobody waits for the answer any more, so nothing is forgiven.
    admitted.signal?.throwIfAborted()
    throw new CallFailure(name, `failed to call webhook: ${(error as Error).message}`, error)
  } finally {
    done()
  }
}

function understood(webhook: Webhook, read: () => ReviewAnswer): ReviewAnswer {
  try {
    return read()
  } catch (error) {
    throw new CallFailure(webhook.name, `received invalid webhook response: ${(error as Error).message}`, error)
  }
}
