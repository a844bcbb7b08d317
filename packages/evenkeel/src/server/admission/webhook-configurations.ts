/**
 * All webhooks of one kind of configuration: sorted by configuration, then in their order there.
 *
 * Values computed from configurations are kept until one of them changes: the webhooks for a kind of write, their
 * compiled conditions, and the connections. A connection survives a change that leaves its address alone.
 */
import { isJsonObject, type JsonObject, type JsonValue, type UnstructuredObject } from '#api'
import type { Resource } from '@evenkeel/builtins'
import type { Informer } from '../informers.ts'
import type { Registry } from '../registry/registry.ts'
import { WebhookClient, type WebhookClientConfig, type WebhookOptions } from '../webhooks/client.ts'
import type { AdmissionAttributes } from './admission.ts'
import { isAdmissionConfiguration, webhookCriteria, type MatchCriteria, type Matcher } from './matching.ts'

interface WebhookConfigurationsOptions {
  readonly informer: Informer
  readonly matching: Matcher
  readonly registry: Registry
  readonly webhooks: WebhookOptions
}

const noWebhooks: readonly Webhook[] = []

/** The size of a patch that replaces the largest object, with a margin. */
const answerBytesMax = 8 * 1024 * 1024

export class WebhookConfigurations {
  readonly #options: WebhookConfigurationsOptions
  readonly #hooks = new Map<string, WebhookClient>()
  #webhooks: readonly Webhook[] = noWebhooks
  #candidates = new WeakMap<Resource, Map<string, readonly Webhook[]>>()
  #version = -1
  #generation = -1

  constructor(options: WebhookConfigurationsOptions) {
    this.#options = options
  }

  /** The webhooks that may apply to a write, judged without its object. */
  candidates(write: Pick<AdmissionAttributes, 'operation' | 'target'>): readonly Webhook[] {
    const { informer: view, registry } = this.#options
    if (view.version !== this.#version || registry.generation !== this.#generation) this.#read()
    if (this.#webhooks.length === 0) return noWebhooks
    const {
      operation,
      target: { resource, subresource },
    } = write
    let known = this.#candidates.get(resource)
    if (known === undefined) this.#candidates.set(resource, (known = new Map<string, readonly Webhook[]>()))
    const key = `${operation} ${subresource?.name ?? ''}`
    let found = known.get(key)
    if (found === undefined) known.set(key, (found = this.#find(write)))
    return found
  }

  /** The client of a webhook. */
  clientFor({ clientConfig }: Webhook): WebhookClient {
    const key = JSON.stringify(clientConfig)
    let hook = this.#hooks.get(key)
    if (hook === undefined)
      this.#hooks.set(key, (hook = new WebhookClient(clientConfig, this.#options.webhooks, { answerBytesMax })))
    return hook
  }

  close(): void {
    for (const hook of this.#hooks.values()) hook.close()
    this.#hooks.clear()
  }

  #find(write: Pick<AdmissionAttributes, 'operation' | 'target'>): readonly Webhook[] {
    if (isAdmissionConfiguration(write.target)) return noWebhooks
    return this.#webhooks.filter(({ criteria }) => this.#options.matching.couldMatch(criteria, write))
  }

  #read(): void {
    const { informer: view, registry } = this.#options
    if (view.version !== this.#version) this.#webhooks = view.list().flatMap(webhooksOf)
    this.#version = view.version
    this.#generation = registry.generation
    this.#candidates = new WeakMap()
    const wanted = new Set(this.#webhooks.map(({ clientConfig }) => JSON.stringify(clientConfig)))
    for (const [key, hook] of this.#hooks) {
      if (wanted.has(key)) continue
      hook.close()
      this.#hooks.delete(key)
    }
  }
}

export interface Webhook {
  readonly name: string
  /** The name of its configuration. */
  readonly configuration: string
  /** Unique among the current configurations. */
  readonly id: string
  readonly criteria: MatchCriteria
  readonly conditions: readonly MatchCondition[]
  readonly clientConfig: WebhookClientConfig
  /** Whether a failed call does not refuse the write. */
  readonly ignoresFailure: boolean
  readonly timeoutSeconds: number
  /** Whether it may be called for a dry run. */
  readonly allowsDryRun: boolean
  readonly reviewVersions: readonly string[]
  /** Is called again when the object changes after its call. */
  readonly isReinvocable: boolean
}

interface MatchCondition {
  readonly name: string
  readonly expression: string
}

/** The webhooks of a configuration, in its order. */
function webhooksOf({ metadata: { name = '' }, webhooks }: UnstructuredObject): Webhook[] {
  return objectsIn(webhooks).map((webhook, index) =>
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
    clientConfig: isJsonObject(webhook['clientConfig']) ? webhook['clientConfig'] : {},
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
