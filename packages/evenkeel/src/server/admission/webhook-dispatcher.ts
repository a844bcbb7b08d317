/**
 * What both kinds of webhooks share: which webhooks a write calls, in which version of the object, and what a failed
 * call means.
 *
 * A call without a decision is a {@link WebhookCallError}, which the failure policy of the webhook may ignore. A
 * webhook that may not be called at all is an error that no policy ignores.
 */
import {
  badRequest,
  internalError,
  isApiError,
  toStatus,
  type ApiError,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import { deadline, randomUuid, type Clock, type Logger, type Random } from '#base'
import type { Resource } from '@evenkeel/builtins'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import type { WebhookClient } from '../webhooks/client.ts'
import {
  makeAdmissionReview,
  readAdmissionResponse,
  webhookDenial,
  type AdmissionReviewObjects,
  type AdmissionReviewResponse,
} from '../webhooks/admission-review.ts'
import { reviewVersion } from '../webhooks/review.ts'
import type { AdmissionAttributes } from './admission.ts'
import { convertToVersion } from './conversion.ts'
import { expressionInput, requestFields, webhookConditionsMatch } from './expressions.ts'
import type { Matcher } from './matching.ts'
import type { Webhook, WebhookConfigurations } from './webhook-configurations.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'

export interface WebhookDispatcherOptions {
  readonly set: WebhookConfigurations
  readonly matching: Matcher
  readonly authorizer: AuthorizerChain
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly mutates: boolean
  readonly metrics: Pick<WebhookMetrics, 'count'>
}

/** One call of a webhook for a write. */
export interface WebhookAttempt {
  readonly admitted: AdmissionAttributes
  /** The audit annotation for an ignored failure. */
  readonly failedOpen: string
  readonly startedMs: number
  /** The failure of the call. */
  failure?: WebhookCallError
  /** The error for the client when the webhook denies the write. */
  denial?: ApiError
}

/** An object of a write and its version. */
interface VersionedObject {
  readonly object: UnstructuredObject | undefined
  readonly form: Resource
}

/** A webhook to call, with the objects in the version it wants. */
export interface WebhookInvocation {
  readonly webhook: Webhook
  readonly resource: Resource
  readonly object: UnstructuredObject | undefined
  readonly old: UnstructuredObject | undefined
}

export class WebhookDispatcher {
  readonly #options: WebhookDispatcherOptions

  constructor(options: WebhookDispatcherOptions) {
    this.#options = options
  }

  /**
   * Whether and how a webhook is called for a write.
   *
   * @throws {ApiError} when its match conditions fail, or the objects cannot be converted to its version
   */
  async resolveInvocation(
    webhook: Webhook,
    { object, form }: VersionedObject,
    admitted: AdmissionAttributes,
  ): Promise<WebhookInvocation | undefined> {
    const { matching, authorizer } = this.#options
    const { target, operation, old: given } = admitted
    const resource = matching.match(webhook.criteria, { operation, target, object, ...(given && { old: given }) })
    if (resource === undefined) return undefined
    const shown = object && (await toVersion(object, form, resource))
    const old = given && (await toVersion(given, target.resource, resource))
    if (
      webhook.conditions.length > 0 &&
      !(await webhookConditionsMatch(
        webhook,
        target,
        expressionInput(admitted, { resource, object: shown, old, authorizer }),
      ))
    )
      return undefined
    return { webhook, resource, object: shown, old }
  }

  /** One attempt to call a webhook for a write, with metrics. */
  async attempt<T>(
    webhook: Webhook,
    { admitted, failedOpen }: Pick<WebhookAttempt, 'admitted' | 'failedOpen'>,
    work: (visit: WebhookAttempt) => Promise<T>,
  ): Promise<T> {
    const visit: WebhookAttempt = { admitted, failedOpen, startedMs: this.#options.clock.monotonic() }
    try {
      const value = await work(visit)
      this.#count(webhook, visit, undefined)
      return value
    } catch (error) {
      this.#count(webhook, visit, error)
      throw error
    }
  }

  /**
   * Calls the webhook. An ignored failure returns nothing.
   *
   * @throws {ApiError} when the webhook denies the write, or fails and its failure policy is `Fail`
   */
  async call(
    { webhook, resource, object, old }: WebhookInvocation,
    visit: WebhookAttempt,
  ): Promise<AdmissionReviewResponse | undefined> {
    const { set, mutates, clock, random } = this.#options
    const answer = await this.withFailurePolicy(webhook, visit, () =>
      callWebhook(webhook, {
        object,
        oldObject: old,
        admitted: visit.admitted,
        resource,
        client: set.clientFor(webhook),
        mutates,
        environment: { clock, random },
      }),
    )
    if (answer === undefined || answer.allowed) return answer
    visit.denial = webhookDenial(webhook.name, answer.result)
    throw visit.denial
  }

  /** Applies the failure policy to a failed call. */
  async withFailurePolicy<T>(
    { name, ignoresFailure }: Webhook,
    visit: WebhookAttempt,
    call: () => T | Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof WebhookCallError)) throw error
      visit.failure = error
      if (!ignoresFailure) throw internalError(error)
      this.#options.log.warn('admission webhook failed: its failurePolicy admits the write', {
        webhook: name,
        error: error.message,
      })
      visit.admitted.annotate(visit.failedOpen, name)
      return undefined
    }
  }

  /** A call that was aborted because the client left says nothing about the webhook. */
  #count(
    { name }: Webhook,
    { admitted: { operation, signal }, startedMs: begunMs, failure, denial: denied }: WebhookAttempt,
    error: unknown,
  ): void {
    if (signal?.aborted) return
    const { clock, metrics, mutates } = this.#options
    const why = failure ? 'calling_webhook_error' : denied ? 'no_error' : 'apiserver_internal_error'
    const code = failure ? codeOf(failure) : denied ? (toStatus(denied).code ?? 0) : error === undefined ? 200 : 0
    metrics.count(
      { name, mutates, operation },
      {
        seconds: (clock.monotonic() - begunMs) / 1000,
        code,
        failedOpen: failure !== undefined && error === undefined,
        ...(error !== undefined && { refusal: why }),
      },
    )
  }
}

/** A webhook without a response counts as unavailable. */
function codeOf({ cause }: WebhookCallError): number {
  return isApiError(cause) ? (toStatus(cause).code ?? 0) : 503
}

/** A failed conversion is an error of the server, not of the webhook or the client. */
async function toVersion(object: UnstructuredObject, from: Resource, to: Resource): Promise<UnstructuredObject> {
  try {
    return await convertToVersion(object, from, to)
  } catch (error) {
    throw internalError(error)
  }
}

/** A webhook call without a decision. */
export class WebhookCallError extends Error {
  constructor(webhook: string, reason: string, cause?: unknown) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`, { cause })
  }
}

interface WebhookCallOptions extends AdmissionReviewObjects {
  readonly admitted: AdmissionAttributes
  /** The version in which the write matched. */
  readonly resource: Resource
  readonly client: WebhookClient
  readonly mutates: boolean
  readonly environment: { readonly clock: Clock; readonly random: Random }
}

/**
 * Calls a webhook and returns its response, allowed or denied.
 *
 * @throws {ApiError} when it may not be called
 * @throws {WebhookCallError} when the call fails
 */
async function callWebhook(webhook: Webhook, asking: WebhookCallOptions): Promise<AdmissionReviewResponse> {
  const {
    admitted,
    environment: { random },
  } = asking
  if (admitted.dryRun && !webhook.allowsDryRun)
    throw badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)
  const version = reviewVersion(webhook.reviewVersions)
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
  { name, timeoutSeconds: ownSeconds }: Webhook,
  review: JsonObject,
  { admitted, client: hook, environment: { clock } }: WebhookCallOptions,
): ReturnType<WebhookClient['call']> {
  // What is left of the request, rounded up: a webhook that takes longer works for nobody.
  const leftMs = (admitted.dueMs ?? Infinity) - clock.monotonic()
  const timeoutSeconds = Math.min(ownSeconds, Math.max(1, Math.ceil(leftMs / 1000)))
  const { signal, done } = deadline(clock, timeoutSeconds * 1000, {
    ...(admitted.signal && { signal: admitted.signal }),
  })
  try {
    return await hook.call(review, { signal, timeoutSeconds })
  } catch (error) {
    // The client has left, so no failure is ignored.
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
