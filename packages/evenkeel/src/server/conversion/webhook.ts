/**
 * Conversion by a webhook that a definition names: one HTTPS call for all objects, or a few when they are very large.
 */
import { isApiError } from '#api'
import type { JsonObject } from '#api'
import { deadline, onAbort, randomUuid } from '#base'
import type { Clock, Random } from '#base'
import { WebhookClient } from '../outgoing/hook.ts'
import type { WebhookClientConfig, WebhookOptions } from '../outgoing/webhook-options.ts'
import { batchesOf } from './batches.ts'
import { checkConverted } from './check-converted.ts'
import { conversionError, formatType } from './conversion.ts'
import type { Conversion } from './conversion.ts'
import { makeConversionReview, readConversionResponse, conversionReviewVersion } from './review.ts'

/** What a definition says about its webhook. */
export interface ConversionWebhookConfig {
  readonly clientConfig: WebhookClientConfig
  readonly conversionReviewVersions: readonly string[]
}

interface ConversionWebhookContext {
  readonly clock: Clock
  readonly random: Random
  /** Aborts when the webhook is not wanted any more: no connection is kept then. */
  readonly retired: AbortSignal
  readonly webhooks: WebhookOptions
}

/** How long a webhook may take. */
const timeoutSeconds = 30
const webhookConverter = 'conversion webhook'

/** A conversion that asks the webhook of a definition. */
export function webhookConversion(
  { clientConfig, conversionReviewVersions }: ConversionWebhookConfig,
  context: ConversionWebhookContext,
): Conversion {
  const { clock, random, retired, webhooks } = context
  const hook = new WebhookClient(clientConfig, webhooks)
  onAbort(retired, () => {
    hook.close()
  })
  const convert: Conversion = async (objects, apiVersion) => {
    const [first = {}] = objects
    const version = conversionReviewVersion(conversionReviewVersions)
    if (version === undefined) throw conversionError('no supported conversion review versions')
    const question = { version, uid: randomUuid(random), apiVersion }
    const { signal, done } = deadline(clock, timeoutSeconds * 1000)
    try {
      const answer = readConversionResponse(
        await hook.call(makeConversionReview(objects, question), { signal, timeoutSeconds }),
        question,
      )
      if (!answer.ok) throw new Error(answer.why)
      return checkConverted(objects, answer.objects, { converter: webhookConverter, apiVersion })
    } catch (error) {
      if (isApiError(error) && error.reason === 'Unknown') throw error
      throw conversionError(`${webhookConverter} for ${formatType(first)} failed: ${(error as Error).message}`, {
        cause: error,
      })
    } finally {
      done()
    }
  }
  return async (objects, apiVersion) => {
    const converted: JsonObject[] = []
    for (const batch of batchesOf(objects)) converted.push(...(await convert(batch, apiVersion)))
    return converted
  }
}
