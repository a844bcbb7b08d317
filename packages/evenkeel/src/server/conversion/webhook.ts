/**
 * Conversion by a webhook that a definition names: one HTTPS call for all objects, or a few when they are very large.
 */
import { isApiError } from '#api'
import type { JsonObject } from '#api'
import { deadline, onAbort, randomUuid } from '#base'
import type { Clock, Random } from '#base'
import { Hook } from '../outgoing/hook.ts'
import type { HookConfig, WebhookOptions } from '../outgoing/webhook-options.ts'
import { batchesOf } from './batches.ts'
import { checkConverted } from './check-converted.ts'
import { conversionError, formatType } from './conversion.ts'
import type { Conversion } from './conversion.ts'
import { makeReview, readAnswer, reviewVersion } from './review.ts'

/** What a definition says about its webhook. */
export interface WebhookConfig {
  readonly clientConfig: HookConfig
  readonly conversionReviewVersions: readonly string[]
}

interface Surroundings {
  readonly clock: Clock
  readonly random: Random
  /** Aborts when the webhook is not wanted any more: no connection is kept then. */
  readonly retired: AbortSignal
  readonly webhooks: WebhookOptions
}

/** How long a webhook may take. */
const timeoutSeconds = 30
const converter = 'conversion webhook'

/** A conversion that asks the webhook of a definition. */
export function webhookConversion(
  { clientConfig, conversionReviewVersions }: WebhookConfig,
  surroundings: Surroundings,
): Conversion {
  const { clock, random, retired, webhooks } = surroundings
  const hook = new Hook(clientConfig, webhooks)
  onAbort(retired, () => {
    hook.close()
  })
  const convert: Conversion = async (objects, apiVersion) => {
    const [first = {}] = objects
    const version = reviewVersion(conversionReviewVersions)
    if (version === undefined) throw conversionError('no supported conversion review versions')
    const question = { version, uid: randomUuid(random), apiVersion }
    const { signal, done } = deadline(clock, timeoutSeconds * 1000)
    try {
      const answer = readAnswer(await hook.ask(makeReview(objects, question), { signal, timeoutSeconds }), question)
      if (!answer.ok) throw new Error(answer.why)
      return checkConverted(objects, answer.objects, { converter, apiVersion })
    } catch (error) {
      if (isApiError(error) && error.reason === 'Unknown') throw error
      throw conversionError(`${converter} for ${formatType(first)} failed: ${(error as Error).message}`, {
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
