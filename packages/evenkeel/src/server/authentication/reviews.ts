/**
 * Answers to the two questions about identity: whose token is this, and who am I?
 */
import { badRequest, isJsonObject } from '#api'
import type { JsonObject, JsonObjectDraft } from '#api'
import { audiencesOf } from './accounts/account-claims.ts'
import type { BearerTokenAuthenticator } from './bearer/bearer.ts'
import { isAuthenticatedToken } from './bearer/token.ts'
import { userInfo } from './person.ts'

/**
 * The status of a TokenReview.
 *
 * @throws {ApiError} `BadRequest`, without a token.
 */
export async function tokenReviewStatus(
  { spec }: JsonObjectDraft,
  tokens: BearerTokenAuthenticator,
): Promise<JsonObject> {
  const { token, audiences } = isJsonObject(spec) ? spec : {}
  if (typeof token !== 'string' || token === '') throw badRequest('token is required for TokenReview in authentication')
  const wanted = audiencesOf(audiences)
  // What is sent as one word in a header is one word here.
  const verdict = /\s/.test(token)
    ? { error: 'invalid bearer token' }
    : await tokens.review(token, wanted.length === 0 ? tokens.audiences : wanted)
  if (!isAuthenticatedToken(verdict)) return { user: {}, error: verdict.error }
  return { authenticated: true, user: userInfo(verdict.user), audiences: [...verdict.audiences] }
}
