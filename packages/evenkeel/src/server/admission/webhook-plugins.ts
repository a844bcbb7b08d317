/**
 * Webhooks as admission plugins, from the current configurations.
 *
 * Mutating webhooks are called one after the other, each with the object that the one before it returned, decoded
 * and with defaults. After a change there is a second round for those that were called before it and have
 * `reinvocationPolicy: IfNeeded`; there is no third. Validating webhooks are called at the same time, and all must
 * allow the write; of several denials the first is the error. The write is answered when every webhook has answered
 * or failed.
 */
import {
  applyJsonPatch,
  deepEqual,
  internalError,
  isApiError,
  type JsonObject,
  type JsonPatchOperation,
  type JsonValue,
  parseJson,
  stringifyJson,
} from '#api'
import { onAbort, type Clock, type Logger, type Random } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import { readJson } from '#wire'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import type { Informers } from '../informers.ts'
import type { Registry } from '../registry/registry.ts'
import type { WebhookOptions } from '../webhooks/client.ts'
import type { AdmissionReviewResponse } from '../webhooks/admission-review.ts'
import type { AdmissionAttributes, AdmissionPlugin } from './admission.ts'
import { bodyResource, convertToVersion, replaceDraft } from './conversion.ts'
import type { Matcher } from './matching.ts'
import { WebhookConfigurations, type Webhook } from './webhook-configurations.ts'
import {
  WebhookCallError,
  WebhookDispatcher,
  type WebhookAttempt,
  type WebhookDispatcherOptions,
  type WebhookInvocation,
} from './webhook-dispatcher.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'

interface WebhookPlugins {
  readonly mutating: AdmissionPlugin
  readonly validating: AdmissionPlugin
}

export interface WebhookPluginOptions {
  readonly webhooks: WebhookOptions
  /** The metrics of all calls. */
  readonly metrics: Pick<WebhookMetrics, 'count'>
}

interface WebhookPluginContext {
  readonly informers: Informers
  readonly registry: Registry
  readonly authorizer: AuthorizerChain
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly stopping: AbortSignal
}

/** Requests informers, so it must be called before the server starts. */
export function webhookPlugins(
  matching: Matcher,
  { informers, registry, authorizer, clock, random, log, stopping }: WebhookPluginContext,
  { webhooks, metrics }: WebhookPluginOptions,
): WebhookPlugins {
  const group = 'admissionregistration.k8s.io'
  const [mutating, validating] = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].map(
    (plural) =>
      new WebhookConfigurations({ informer: informers.forResource(group, plural), matching, registry, webhooks }),
  ) as [WebhookConfigurations, WebhookConfigurations]
  onAbort(stopping, () => {
    mutating.close()
    validating.close()
  })
  const shared = { matching, authorizer, clock, random, log, metrics }
  return {
    mutating: mutatingWebhookPlugin({ ...shared, set: mutating }),
    validating: validatingWebhookPlugin({ ...shared, set: validating }),
  }
}

const annotationPrefix = 'mutation.webhook.admission.k8s.io'
const operationsMax = 10_000

function mutatingWebhookPlugin(options: Omit<WebhookDispatcherOptions, 'mutates'>): AdmissionPlugin {
  const calling = new WebhookDispatcher({ ...options, mutates: true })
  return {
    name: 'MutatingAdmissionWebhook',
    handles: (write) => options.set.candidates(write).length > 0,
    async mutate(draft, admitted) {
      if (admitted.user === undefined) return false
      return new MutatingWebhookRound(calling, draft, admitted).run(options.set.candidates(admitted))
    },
    // Mutating webhooks are also called for deletions, although there is no object to change.
    async validate(_, admitted) {
      if (admitted.operation !== 'DELETE' || admitted.user === undefined) return
      await new MutatingWebhookRound(calling, undefined, admitted).run(options.set.candidates(admitted))
    },
  }
}

/** State of the first round for the second. */
class MutatingWebhookState {
  /** Webhooks called since the last change; they are called again after the next one. */
  readonly #asked = new Set<string>()
  readonly #again = new Set<string>()
  /** The result of the previous round. */
  output = ''

  recordCall({ id, isReinvocable }: Webhook): void {
    if (isReinvocable) this.#asked.add(id)
  }

  recordChange(): void {
    for (const id of this.#asked) this.#again.add(id)
    this.#asked.clear()
  }

  needsReinvocation({ id }: Webhook): boolean {
    return this.#again.has(id)
  }
}

class MutatingWebhookRound {
  readonly #calling: WebhookDispatcher
  readonly #admitted: AdmissionAttributes
  readonly #draft: ObjectDraft | undefined
  readonly #memory: MutatingWebhookState
  /** The object after the last webhook, in the version of that webhook. */
  #current: { readonly object: ObjectDraft | undefined; readonly form: Resource }
  #isDirty = false

  constructor(calling: WebhookDispatcher, draft: ObjectDraft | undefined, admitted: AdmissionAttributes) {
    this.#calling = calling
    this.#draft = draft
    this.#admitted = admitted
    this.#memory = admitted.reinvocation.state('MutatingAdmissionWebhook', () => new MutatingWebhookState())
    this.#current = { object: draft, form: admitted.target.resource }
  }

  /** @returns whether anything was changed */
  async run(webhooks: readonly Webhook[]): Promise<boolean> {
    const { reinvocation: again, target } = this.#admitted
    if (again.round > 0 && this.#memory.output !== stringifyJson(this.#draft)) this.#memory.recordChange()
    for (const [index, webhook] of webhooks.entries()) await this.#visit(webhook, index)
    const { object, form } = this.#current
    if (this.#draft && object && this.#isDirty) {
      const back = await convertToVersion(object, form, target.resource)
      replaceDraft(this.#draft, back, bodyResource(target))
    }
    this.#memory.output = stringifyJson(this.#draft) ?? ''
    return this.#isDirty
  }

  async #visit(webhook: Webhook, index: number): Promise<void> {
    const { object, form } = this.#current
    const {
      reinvocation: { round },
    } = this.#admitted
    const invocation = await this.#calling.resolveInvocation(webhook, { object: object, form }, this.#admitted)
    if (invocation === undefined || (round > 0 && !this.#memory.needsReinvocation(webhook))) return
    const place = `round_${round}_index_${index}`
    const isChanged = await this.#calling.attempt(
      webhook,
      { admitted: this.#admitted, failedOpen: `failed-open.${annotationPrefix}/${place}` },
      async (visit) => {
        const answer = await this.#calling.call(invocation, visit)
        return answer !== undefined && (await this.#take(answer, invocation, visit))
      },
    )
    this.#admitted.annotate(
      `${annotationPrefix}/${place}`,
      JSON.stringify({ configuration: webhook.configuration, webhook: webhook.name, mutated: isChanged }),
    )
    if (isChanged) {
      this.#memory.recordChange()
      this.#admitted.reinvocation.request()
    }
    this.#memory.recordCall(webhook)
  }

  /** Applies the patch of a webhook. */
  async #take(answer: AdmissionReviewResponse, invocation: WebhookInvocation, visit: WebhookAttempt): Promise<boolean> {
    const { webhook, object, resource } = invocation
    const operations = await this.#calling.withFailurePolicy(webhook, visit, () => operationsOf(answer, webhook))
    if (operations === undefined || operations.length === 0) return false
    if (object === undefined)
      throw internalError(
        new Error(
          `admission webhook ${JSON.stringify(webhook.name)} attempted to modify the object, which is not supported for this operation`,
        ),
      )
    const form = bodyResource({ ...this.#admitted.target, resource })
    const next = parseJson(stringifyJson(patched(object, operations))) as ObjectDraft
    replaceDraft(next, next, form)
    const isChanged = !deepEqual(next, object)
    this.#current = { object: next, form: resource }
    this.#isDirty = true
    return isChanged
  }
}

function operationsOf({ patch, patchType }: AdmissionReviewResponse, { name }: Webhook): readonly JsonPatchOperation[] {
  if (patch === undefined) return []
  const operations = decoded(patch)
  if (operations === undefined)
    throw new WebhookCallError(name, 'received undecodable patch in webhook response: it is no list of operations')
  if (operations.length > operationsMax)
    throw new WebhookCallError(
      name,
      `received undecodable patch in webhook response: it has more than ${operationsMax} operations`,
    )
  if (operations.length > 0 && patchType !== 'JSONPatch')
    throw new WebhookCallError(name, `unsupported patch type ${JSON.stringify(patchType.slice(0, 64))}`)
  return operations
}

function decoded(patch: string): readonly JsonPatchOperation[] | undefined {
  try {
    const { value } = readJson(Buffer.from(patch, 'base64'), { duplicates: false })
    if (value === null) return []
    return Array.isArray(value) ? (value as JsonPatchOperation[]) : undefined
  } catch {
    return undefined
  }
}

function patched(object: JsonObject, operations: readonly JsonPatchOperation[]): JsonValue {
  try {
    return applyJsonPatch(object, operations, { negativeIndices: true, missingIsNull: true })
  } catch (error) {
    if (!isApiError(error)) throw error
    throw internalError(
      new Error(error.message.replace(/^the server rejected our request due to an error in our request: /, ''), {
        cause: error,
      }),
    )
  }
}

const failedOpenAnnotation = 'failed-open.validating.webhook.admission.k8s.io'

function validatingWebhookPlugin(options: Omit<WebhookDispatcherOptions, 'mutates'>): AdmissionPlugin {
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
