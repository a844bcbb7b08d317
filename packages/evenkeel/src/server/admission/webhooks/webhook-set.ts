/**
 * All webhooks of one kind of configuration, as they are now: sorted by configuration, then as they stand there.
 *
 * What is computed from configurations is kept until one of them changes: which webhooks a kind of write can concern,
 * their compiled conditions, and the connections to them. A connection outlives a change that leaves its address alone.
 */
import { WebhookClient } from '../../outgoing/hook.ts'
import type { WebhookOptions } from '../../outgoing/webhook-options.ts'
import type { Registry } from '../../resources/registry.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Informer } from '../../views/view.ts'
import type { AdmissionAttributes } from '../admission.ts'
import { isAdmissionConfiguration } from '../matching/matching.ts'
import type { Matcher } from '../matching/matching.ts'
import { webhooksOf } from './webhook.ts'
import type { Webhook } from './webhook.ts'

interface WebhookConfigurationsOptions {
  readonly informer: Informer
  readonly matching: Matcher
  readonly registry: Registry
  readonly webhooks: WebhookOptions
}

const noWebhooks: readonly Webhook[] = []

/** A patch that writes the largest object anew, and room to spare. */
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

  /** Those that a write can concern, by what is known without its object. */
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

  /** The way to a webhook. */
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
