/**
 * One call of one webhook, from the question to what it decided.
 *
 * A call that does not lead to a decision is a {@link WebhookCallError}, which the webhook's failure policy may forgive. A
 * webhook that may not be asked at all is an error that nothing forgives.
 */
import { badRequest } from '#api'
import type { JsonObject } from '#api'
import { deadline, randomUuid } from '#base'
import type { Clock, Random } from '#base'
import type { WebhookClient } from '../../outgoing/hook.ts'
import type { Resource } from '../../resources/resource.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { requestFields } from '../expressions/expressions.ts'
import { makeAdmissionReview, readAdmissionResponse, admissionReviewVersion } from './review.ts'
import type { AdmissionReviewResponse, AdmissionReviewObjects } from './review.ts'
import type { Webhook } from './webhook.ts'

/** A webhook that did not decide. */
export class WebhookCallError extends Error {
  constructor(webhook: string, reason: string, cause?: unknown) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`, { cause })
  }
}

interface WebhookCallOptions extends AdmissionReviewObjects {
  readonly admitted: AdmissionAttributes
  /** The form in which the write matched. */
  readonly resource: Resource
  readonly client: WebhookClient
  readonly mutates: boolean
  readonly environment: { readonly clock: Clock; readonly random: Random }
}

/**
 * Asks a webhook, and gives its answer, be it yes or no.
 *
 * @throws {ApiError} when it may not be asked
 * @throws {WebhookCallError} when there is no answer
 */
export async function callWebhook(webhook: Webhook, asking: WebhookCallOptions): Promise<AdmissionReviewResponse> {
  const {
    admitted,
    environment: { random },
  } = asking
  if (admitted.dryRun && !webhook.allowsDryRun)
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
  const version = admissionReviewVersion(webhook.reviewVersions)
  if (version === undefined)
    throw new WebhookCallError(
      webhook.name,
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    )
  const question = { version, uid: randomUuid(random), mutates: asking.mutates }
  const review = makeAdmissionReview(requestFields(admitted, asking.resource), asking, question)
  const answer = await sendReview(webhook, review, asking)
  const read = parseReviewAnswer(webhook, () => readAdmissionResponse(answer, question))
  for (const [key, value] of Object.entries(read.annotations)) admitted.annotate(`${webhook.name}/${key}`, value)
  for (const text of read.warnings) admitted.warn(text)
  return read
}

async function sendReview(
  { name, timeoutSeconds }: Webhook,
  review: JsonObject,
  { admitted, client: hook, environment: { clock } }: WebhookCallOptions,
): ReturnType<WebhookClient['call']> {
  const { signal, done } = deadline(clock, timeoutSeconds * 1000, {
    ...(admitted.signal && { signal: admitted.signal }),
  })
  try {
    return await hook.call(review, { signal, timeoutSeconds })
  } catch (error) {
    // Nobody waits for the answer any more, so nothing is forgiven.
    admitted.signal?.throwIfAborted()
    throw new WebhookCallError(name, `failed to call webhook: ${(error as Error).message}`, error)
  } finally {
    done()
  }
}

function parseReviewAnswer(webhook: Webhook, read: () => AdmissionReviewResponse): AdmissionReviewResponse {
  try {
    return read()
  } catch (error) {
    throw new WebhookCallError(webhook.name, `received invalid webhook response: ${(error as Error).message}`, error)
  }
}
