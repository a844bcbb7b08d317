/**
 * What both kinds of webhooks share: which are asked about a write, in which form, and what a failed call means.
 */
import { internalError, isApiError, toStatus } from '#api'
import type { ApiError, JsonObject, UnstructuredObject } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { Access } from '../../access/access.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Admitted } from '../admission.ts'
import { expressionInput } from '../expressions/expressions.ts'
import { inForm } from '../matching/forms.ts'
import type { Matching } from '../matching/matching.ts'
import { CallFailure, askWebhook } from './ask-webhook.ts'
import { conditionsHold } from './conditions.ts'
import { denial } from './review.ts'
import type { ReviewAnswer } from './review.ts'
import type { Webhook } from './webhook.ts'
import type { WebhookMetrics } from './webhook-metrics.ts'
import type { WebhookSet } from './webhook-set.ts'

export interface CallingOptions {
  readonly set: WebhookSet
  readonly matching: Matching
  readonly access: Access
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly mutates: boolean
  readonly metrics: WebhookMetrics
}

/** A webhook is being asked about a write. */
export interface Visit {
  readonly admitted: Admitted
  /** Under what the audit log notes a failure that is forgiven. */
  readonly failedOpen: string
  readonly begunMs: number
  /** Why there is no decision. */
  failure?: CallFailure
  /** What the client is told when it says no. */
  denial?: ApiError
}

/** The object of a write, and the form it is in. */
interface Shown {
  readonly object: UnstructuredObject | undefined
  readonly form: Resource
}

/** A webhook that is to be asked: about these objects, in this form. */
export interface Invocation {
  readonly webhook: Webhook
  readonly resource: Resource
  readonly object: UnstructuredObject | undefined
  readonly old: UnstructuredObject | undefined
}

export class Calling {
  readonly #options: CallingOptions

  constructor(options: CallingOptions) {
    this.#options = options
  }

  /**
   * Whether and how a webhook is asked about a write.
   *
   * @throws {ApiError} when its conditions cannot be evaluated, or nothing can be shown in its form
   */
  async invocation(webhook: Webhook, { object, form }: Shown, admitted: Admitted): Promise<Invocation | undefined> {
    const { matching, access } = this.#options
    const { target, operation, old: given } = admitted
    const resource = matching.match(webhook.criteria, { operation, target, object, ...(given && { old: given }) })
    if (resource === undefined) return undefined
    const shown = object && (await shownIn(object, form, resource))
    const old = given && (await shownIn(given, target.resource, resource))
    if (
      webhook.conditions.length > 0 &&
      !(await conditionsHold(webhook, target, expressionInput(admitted, { resource, object: shown, old, access })))
    )
      return undefined
    return { webhook, resource, object: shown, old }
  }

  /** All that is done with one webhook about one write, counted. */
  async visit<T>(
    webhook: Webhook,
    { admitted, failedOpen }: Pick<Visit, 'admitted' | 'failedOpen'>,
    work: (visit: Visit) => Promise<T>,
  ): Promise<T> {
    const visit: Visit = { admitted, failedOpen, begunMs: this.#options.clock.monotonic() }
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
  async ask({ webhook, resource, object, old }: Invocation, visit: Visit): Promise<ReviewAnswer | undefined> {
    const { set, mutates, clock, random } = this.#options
    const objects = {
      object: object as unknown as JsonObject | undefined,
      oldObject: old as unknown as JsonObject | undefined,
    }
    const answer = await this.forgiving(webhook, visit, () =>
      askWebhook(webhook, {
        ...objects,
        admitted: visit.admitted,
        resource,
        hook: set.hookOf(webhook),
        mutates,
        surroundings: { clock, random },
      }),
    )
    if (answer === undefined || answer.allowed) return answer
    visit.denial = denial(webhook.name, answer.result)
    throw visit.denial
  }

  /** Turns a failed call into what the failure policy makes of it. */
  async forgiving<T>(
    { name, ignoresFailure }: Webhook,
    visit: Visit,
    call: () => T | Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error
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
    { admitted: { operation, signal }, begunMs, failure, denial: denied }: Visit,
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
function codeOf({ cause }: CallFailure): number {
  return isApiError(cause) ? (toStatus(cause).code ?? 0) : 503
}

/** What cannot be shown is nobody's fault but the server's. */
async function shownIn(object: UnstructuredObject, from: Resource, to: Resource): Promise<UnstructuredObject> {
  try {
    return await inForm(object, from, to)
  } catch (error) {
    throw internalError(error)
  }
}
