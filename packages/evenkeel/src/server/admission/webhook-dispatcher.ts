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
import type { Resource } from '#builtins'
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
  readonly metrics: WebhookMetrics
}

/** A webhook is being asked about a write. */
export interface WebhookAttempt {
  readonly admitted: AdmissionAttributes
  /** Under what the audit log notes a failure that is forgiven. */
  readonly failedOpen: string
  readonly startedMs: number
  /** Why there is no decision. */
  failure?: WebhookCallError
  /** What the client is told when it says no. */
  denial?: ApiError
}

/** The object of a write, and the form it is in. */
interface VersionedObject {
  readonly object: UnstructuredObject | undefined
  readonly form: Resource
}

/** A webhook that is to be asked: about these objects, in this form. */
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
   * Whether and how a webhook is asked about a write.
   *
   * @throws {ApiError} when its conditions cannot be evaluated, or nothing can be shown in its form
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

  /** All that is done with one webhook about one write, counted. */
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
   * Asks. A failure that is forgiven gives nothing.
   *
   * @throws {ApiError} when the webhook says no, or says nothing and may not
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

  /** Turns a failed call into what the failure policy makes of it. */
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
      this.#options.log.warn('a webhook could not be asked, and the write goes on without it', {
        webhook: name,
        error: error.message,
      })
      visit.admitted.annotate(visit.failedOpen, name)
      return undefined
    }
  }

  /** What was given up because nobody waits for it any more says nothing about the webhook. */
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

/** One that did not answer is as good as not there. */
function codeOf({ cause }: WebhookCallError): number {
  return isApiError(cause) ? (toStatus(cause).code ?? 0) : 503
}

/** What cannot be shown is nobody's fault but the server's. */
async function toVersion(object: UnstructuredObject, from: Resource, to: Resource): Promise<UnstructuredObject> {
  try {
    return await convertToVersion(object, from, to)
  } catch (error) {
    throw internalError(error)
  }
}

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
