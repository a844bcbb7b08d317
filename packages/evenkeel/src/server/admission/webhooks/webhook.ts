/**
 * One webhook of a configuration, read once: what it wants to hear of and how it is asked.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonValue, UnstructuredObject } from '#api'
import type { WebhookClientConfig } from '../../outgoing/webhook-options.ts'
import { webhookCriteria } from '../matching/matching.ts'
import type { MatchCriteria } from '../matching/matching.ts'

export interface Webhook {
  readonly name: string
  /** The configuration it stands in. */
  readonly configuration: string
  /** Tells it apart from all others while configurations are as they are. */
  readonly id: string
  readonly criteria: MatchCriteria
  readonly conditions: readonly MatchCondition[]
  readonly clientConfig: WebhookClientConfig
  /** Whether a call that fails lets the write pass. */
  readonly ignoresFailure: boolean
  readonly timeoutSeconds: number
  /** Whether it may be asked about a write that is not meant. */
  readonly allowsDryRun: boolean
  readonly reviewVersions: readonly string[]
  /** Wants to be asked once more when others changed what it has seen. */
  readonly isReinvocable: boolean
}

interface MatchCondition {
  readonly name: string
  readonly expression: string
}

/** The webhooks of a configuration, in its order. */
export function webhooksOf({ metadata: { name = '' }, webhooks }: UnstructuredObject): Webhook[] {
  return objectsIn(webhooks as JsonValue | undefined).map((webhook, index) =>
    readWebhook(webhook, { configuration: name, id: `${name}/${index}` }),
  )
}

function readWebhook(webhook: JsonObject, place: { configuration: string; id: string }): Webhook {
  const { timeoutSeconds, sideEffects } = webhook
  return {
    ...place,
    name: textOf(webhook['name']),
    criteria: webhookCriteria(webhook),
    conditions: objectsIn(webhook['matchConditions']).map(({ name, expression }) => ({
      name: textOf(name),
      expression: textOf(expression),
    })),
    clientConfig: (isJsonObject(webhook['clientConfig'])
      ? webhook['clientConfig']
      : {}) as unknown as WebhookClientConfig,
    ignoresFailure: webhook['failurePolicy'] === 'Ignore',
    timeoutSeconds: typeof timeoutSeconds === 'number' ? timeoutSeconds : timeoutDefault,
    allowsDryRun: sideEffects === 'None' || sideEffects === 'NoneOnDryRun',
    reviewVersions: Array.isArray(webhook['admissionReviewVersions'])
      ? webhook['admissionReviewVersions'].map(textOf)
      : [],
    isReinvocable: webhook['reinvocationPolicy'] === 'IfNeeded',
  }
}

const timeoutDefault = 10

function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isJsonObject(item)) : []
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
