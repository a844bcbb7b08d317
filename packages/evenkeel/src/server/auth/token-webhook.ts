/**
 * The token webhook: authenticates tokens by TokenReview and caches the result.
 *
 * When the webhook fails the token is not recognized, and the failure is not cached.
 */
import { getOwn, isJsonObject, setOwn, type JsonObject, type JsonValue } from '#api'
import type { Clock, Logger } from '#base'
import type { User } from '../request-context.ts'
import type { TokenWebhookOptions } from './authentication-options.ts'
import {
  commonAudiences,
  TokenCache,
  type TokenAuthenticator,
  type TokenReviewRequest,
  type TokenReviewResult,
} from './bearer-tokens.ts'
import { HttpsJsonClient, httpsUrl, type HttpsJsonOptions } from '../webhooks/https-json-client.ts'

interface TokenWebhookContext extends HttpsJsonOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly audiences: readonly string[]
}

/** @throws {RangeError} when the address is not https. */
export function tokenWebhook(
  { url, caPem, cacheMs = 120_000 }: TokenWebhookOptions,
  context: TokenWebhookContext,
): TokenAuthenticator {
  const { clock, log } = context
  const address = httpsUrl(url, 'the url of the authentication webhook')
  const calls = new HttpsJsonClient({ ...context, caPem })
  const remembered = new TokenCache(clock)
  const ask = async (question: TokenReviewRequest): Promise<TokenReviewResult | undefined> => {
    const { token, audiences } = question
    try {
      const verdict = readReview(
        await calls.request(address, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          spec: { token, audiences: [...audiences] },
        }),
        question,
        context.audiences,
      )
      remembered.set(question, verdict, clock.now() + cacheMs)
      return verdict
    } catch (error) {
      log.error('authentication webhook failed', { url, error })
      return undefined
    }
  }
  return (question) => {
    const known = remembered.get(question)
    return known ? known.verdict : ask(question)
  }
}

/** A webhook that returns no audiences does not support them: the token is then valid for this server only. */
function readReview(
  review: JsonValue,
  { audiences }: TokenReviewRequest,
  own: readonly string[],
): TokenReviewResult | undefined {
  const status = isJsonObject(review) ? review['status'] : undefined
  if (!isJsonObject(status)) return undefined
  const { authenticated, error } = status
  if (authenticated !== true) return typeof error === 'string' && error !== '' ? { error } : undefined
  const user = isJsonObject(status['user']) ? readUser(status['user']) : undefined
  const named = textsOf(status['audiences'])
  const common = commonAudiences(audiences, named.length === 0 ? own : named)
  return user === undefined || common.length === 0 ? undefined : { user, audiences: common }
}

function readUser(info: JsonObject): User | undefined {
  const { username, uid, groups } = info
  if (typeof username !== 'string' || username === '') return undefined
  const given = isJsonObject(info['extra']) ? info['extra'] : {}
  const extra: Record<string, string[]> = {}
  for (const key of Object.keys(given)) setOwn(extra, key, textsOf(getOwn(given, key)))
  return {
    name: username,
    groups: textsOf(groups),
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}
