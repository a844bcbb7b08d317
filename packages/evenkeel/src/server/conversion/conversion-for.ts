/**
 * Who converts the objects of a definition: a function of the embedding program if it gave one, else the webhook that
 * the definition names, else nobody.
 */
import type { Clock, Random } from '#base'
import type { CustomResourceDefinition } from '../definitions/definition.ts'
import type { Conversion } from './conversion.ts'
import { functionConversion } from './convert-function.ts'
import type { ConvertObject } from './convert-function.ts'
import { webhookConversion } from './webhook.ts'
import type { WebhookOptions } from '../outgoing/webhook-options.ts'

/** What the server was started with. */
export interface ConversionOptions {
  /** By the name of the definition. */
  readonly conversions: Readonly<Record<string, ConvertObject>>
  readonly webhooks: WebhookOptions
}

interface ConversionContext extends ConversionOptions {
  readonly clock: Clock
  readonly random: Random
  readonly retired: AbortSignal
}

/** The conversion of a definition; undefined when its versions differ in their name only. */
export function conversionFor(
  { metadata: { name = '' }, spec }: CustomResourceDefinition,
  { conversions, ...context }: ConversionContext,
): Conversion | undefined {
  const given = Object.hasOwn(conversions, name) ? conversions[name] : undefined
  if (given !== undefined) return functionConversion(given)
  const { strategy, webhook } = spec.conversion ?? {}
  return strategy === 'Webhook' && webhook !== undefined ? webhookConversion(webhook, context) : undefined
}
