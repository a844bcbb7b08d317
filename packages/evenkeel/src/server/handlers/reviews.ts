/**
 * Resources that are questions: nothing is stored, the answer comes back in `status`.
 *
 * What is asked about permission is answered in `permission/reviews`; here is what all reviews have in common.
 */
import {
  badRequest,
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
} from '#api'
import type { ObjectDraft } from '#builtins'
import type { WireResponse } from '#wire'
import { admitDocument } from '../admission/write-admission.ts'
import { isAuthenticatedToken, type BearerTokenAuthenticator } from '../auth/bearer-tokens.ts'
import { audiencesOf } from '../auth/service-account-claims.ts'
import { userInfo } from '../auth/user.ts'
import { accessStatus, rulesStatus } from '../authz/access-reviews.ts'
import type { RequestContext, ResourceRef, ServerContext } from '../request-context.ts'
import { negotiateResponse, replyObject } from '../response.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import { readWriteOptions } from './write-options.ts'

/** Answers a POST of a review. */
export async function createReview(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const { resource } = target
  const choice = negotiateResponse(call, resource, { answer: 'document' })
  const { fieldValidation } = readWriteOptions(call.query, 'CreateOptions')
  const read = await parseObject(await readBody(call.request), bodyFormat(call.request), resource.kind)
  const shaped = shapeObject(read, resource, { fieldValidation, warnings: call.warnings })
  const draft = (await admitDocument(shaped as JsonObject, { call, target, server, dryRun: false })) as ObjectDraft
  const status = await reviewStatus(draft, { kind: resource.kind, call, target, server })
  const object = { ...draft, ...emptyMetadata(resource.kind, server), status }
  return replyObject(call, object as unknown as UnstructuredObject, { status: 201, resource, choice, server })
}

interface ReviewContext {
  readonly kind: string
  readonly call: RequestContext
  readonly target: ResourceRef
  readonly server: ServerContext
}

async function reviewStatus(
  draft: ObjectDraft,
  { kind, call, target, server: { authorizer, authentication } }: ReviewContext,
): Promise<JsonObject> {
  switch (kind) {
    case 'SelfSubjectReview':
      return { userInfo: userInfo(call.user) }
    case 'TokenReview':
      return await tokenReviewStatus(draft, authentication.tokens)
    case 'SelfSubjectRulesReview':
      return rulesStatus(draft, { call, target, authorizer })
    default:
      return await accessStatus(draft, { call, target, authorizer })
  }
}

/** What an answer about the caller does not repeat: it says nothing but that. */
function emptyMetadata(kind: string, { clock }: ServerContext): object {
  if (kind === 'SelfSubjectReview') return { metadata: { creationTimestamp: formatTime(clock.now()) } }
  return kind === 'SelfSubjectRulesReview' ? { metadata: {}, spec: {} } : {}
}

/*
 * Answers to the two questions about identity: whose token is this, and who am I?
 */

/**
 * The status of a TokenReview.
 *
 * @throws {ApiError} `BadRequest`, without a token.
 */
async function tokenReviewStatus({ spec }: JsonObjectDraft, tokens: BearerTokenAuthenticator): Promise<JsonObject> {
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
