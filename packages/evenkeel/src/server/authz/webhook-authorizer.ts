/**
 * The webhook authorizer: sends each request as a SubjectAccessReview and remembers the decision.
 *
 * Only the decision of an answer is trusted: redirects are not followed, answers are small, and their other content is
 * never shown. A webhook that fails has no opinion, or denies, as its owner configures; the client learns that the webhook
 * failed, not how.
 */
import {
  getOwn,
  isJsonObject,
  type FieldRequirement,
  type JsonObject,
  type JsonValue,
  type LabelOperator,
  type LabelRequirement,
} from '#api'
import { sleep, type Clock, type Logger } from '#base'
import type { HttpsConnection, HttpsOptions } from '#wire'
import { HttpsJsonClient } from '../webhooks/https-json-client.ts'
import type { AuthorizationAttributes, AuthorizationDecision, Authorizer, SubjectRules } from './authorizer.ts'

/** An authorization webhook. */
export interface AuthorizationWebhook {
  /** An https address. */
  readonly url: string
  /**
   * The authorities to trust, in PEM.
   *
   * @default those that Node trusts
   */
  readonly caPem?: string
  /**
   * A bearer token to show.
   *
   * @default none
   */
  readonly token?: string
  /**
   * How long an allowing decision is cached.
   *
   * @default 300_000
   */
  readonly authorizedTtlMs?: number
  /**
   * How long every other decision is cached.
   *
   * @default 30_000
   */
  readonly unauthorizedTtlMs?: number
  /**
   * How long one attempt may take.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number
  /**
   * The decision when the webhook fails.
   *
   * @default 'no-opinion'
   */
  readonly onFailure?: 'no-opinion' | 'deny'
}

export interface AuthorizationWebhookContext {
  readonly clock: Clock
  readonly log: Logger
  /** Connects to an HTTPS origin. */
  readonly connect?: ((destination: HttpsOptions) => HttpsConnection) | undefined
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

const attemptsMax = 3
const firstPauseMs = 500
const cachedDecisionsMax = 8192
/** Longer attributes are not cached: clients choose their texts. */
const questionLengthMax = 10_000

/** An authorizer that calls a webhook. */
export function webhookAuthorizer(webhook: AuthorizationWebhook, context: AuthorizationWebhookContext): Authorizer {
  const { authorizedTtlMs = 300_000, unauthorizedTtlMs = 30_000, onFailure = 'no-opinion' } = webhook
  const { clock, log } = context
  const ask = makeSendReview(webhook, context)
  const remembered = new Map<string, { readonly verdict: AuthorizationDecision; readonly until: number }>()
  const authorizer = (question: AuthorizationAttributes): AuthorizationDecision | Promise<AuthorizationDecision> => {
    const spec = reviewSpec(question)
    const key = JSON.stringify(spec)
    const known = remembered.get(key)
    if (known && known.until > clock.monotonic()) return known.verdict
    remembered.delete(key)
    return askAndRemember(spec, key)
  }
  const askAndRemember = async (spec: JsonObject, key: string): Promise<AuthorizationDecision> => {
    try {
      const verdict = decisionOf(await ask(spec))
      if (key.length <= questionLengthMax) remember(key, verdict)
      return verdict
    } catch (error) {
      log.error('authorization webhook failed', { url: webhook.url, error })
      return {
        allowed: false,
        reason: '',
        error: 'authorization webhook failed',
        ...(onFailure === 'no-opinion' && { noOpinion: true }),
      }
    }
  }
  const remember = (key: string, verdict: AuthorizationDecision): void => {
    const [oldest] = remembered.keys()
    if (remembered.size >= cachedDecisionsMax && oldest !== undefined) remembered.delete(oldest)
    remembered.set(key, { verdict, until: clock.monotonic() + (verdict.allowed ? authorizedTtlMs : unauthorizedTtlMs) })
  }
  return Object.assign(authorizer, { rulesFor: () => unknownRules })
}

const unknownRules: SubjectRules = {
  rules: [],
  incomplete: true,
  errors: ['webhook authorizer does not support user rule resolution'],
}

type SendReview = (spec: JsonObject) => Promise<JsonObject>

function makeSendReview(
  { url, caPem, token, timeoutMs }: AuthorizationWebhook,
  { clock, connect, stopping }: AuthorizationWebhookContext,
): SendReview {
  const address = new URL(url)
  const client = new HttpsJsonClient({ clock, caPem, token, timeoutMs, connect, stopping })
  return async (spec) => {
    for (let attempt = 1, pauseMs = firstPauseMs; ; attempt++, pauseMs *= 1.5) {
      try {
        return statusOf(await client.request(address, accessReview(spec)))
      } catch (error) {
        if (attempt === attemptsMax || stopping.aborted) throw error
        await sleep(clock, pauseMs, { signal: stopping })
      }
    }
  }
}

function accessReview(spec: JsonObject): JsonObject {
  return {
    kind: 'SubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: { creationTimestamp: null },
    spec,
    status: { allowed: false },
  }
}

function statusOf(review: JsonValue): JsonObject {
  const status = isJsonObject(review) ? getOwn(review, 'status') : undefined
  if (!isJsonObject(status)) throw new Error('the answer has no status')
  return status
}

function decisionOf(status: JsonObject): AuthorizationDecision {
  const [allowed, denied, reason] = [
    getOwn(status, 'allowed') === true,
    getOwn(status, 'denied') === true,
    getOwn(status, 'reason'),
  ]
  const why = typeof reason === 'string' ? reason : ''
  if (allowed && denied)
    return { allowed: false, reason: why, error: 'webhook subject access review returned both allow and deny response' }
  return { allowed: allowed && !denied, reason: why, ...(!allowed && !denied && { noOpinion: true }) }
}

/** The spec of the SubjectAccessReview for a request, without empty fields. */
export function reviewSpec(question: AuthorizationAttributes): JsonObject {
  const {
    user: { name, uid, groups, extra },
    verb,
    path,
    resourcePath: place,
  } = question
  const about =
    place === undefined
      ? { nonResourceAttributes: { path, verb } }
      : { resourceAttributes: resourceAttributes(question) }
  return withoutEmpty({ ...about, user: name, groups: [...groups], extra, uid })
}

function resourceAttributes({
  verb,
  resourcePath: place,
  fields = [],
  labels = [],
}: AuthorizationAttributes): JsonObject {
  return withoutEmpty({
    namespace: place?.namespace,
    verb,
    group: place?.group,
    version: place?.version,
    resource: place?.resource,
    subresource: place?.subresource,
    name: place?.name,
    ...(fields.length > 0 && { fieldSelector: { requirements: fields.map(fieldRequirement) } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels.map(labelRequirement) } }),
  })
}

function fieldRequirement({ field, operator, value }: FieldRequirement): JsonObject {
  return { key: field, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] }
}

function labelRequirement({ key, operator, values }: LabelRequirement): JsonObject {
  return { key, operator: labelOperators[operator] ?? operator, ...(values.length > 0 && { values: [...values] }) }
}

const labelOperators: Partial<Record<LabelOperator, string>> = {
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  in: 'In',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
}

function withoutEmpty(object: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const entries = Object.entries(object).filter(
    ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(entries) as JsonObject
}
