/**
 * POST of a review: nothing is stored, the answer is in `status`.
 *
 * Reviews of authorization are answered in `authz/access-reviews.ts`, reviews of identity (TokenReview, SelfSubjectReview)
 * here.
 */
import { ApiError, badRequest, formatTime, isJsonObject, type JsonObject, type JsonObjectDraft } from '#api'
import type { Clock } from '#base'
import type { ObjectDraft } from '@evenkeel/builtins'
import type { WireResponse } from '#wire'
import type { Admission } from '../admission/write-admission.ts'
import { isAuthenticatedToken, type BearerTokenAuthenticator } from '../auth/bearer-tokens.ts'
import { audiencesOf } from '../auth/service-account-claims.ts'
import { userInfo } from '../auth/user.ts'
import { accessStatus, rulesStatus } from '../authz/access-reviews.ts'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyObject } from '../response.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import { readWriteOptions } from './write-options.ts'

interface ReviewServices {
  readonly admission: Admission
  readonly authorizer: AuthorizerChain
  readonly tokens: BearerTokenAuthenticator
  readonly clock: Clock
}

export class ReviewHandler {
  readonly #admission: Admission
  readonly #authorizer: AuthorizerChain
  readonly #tokens: BearerTokenAuthenticator
  readonly #clock: Clock

  constructor({ admission, authorizer, tokens, clock }: ReviewServices) {
    this.#admission = admission
    this.#authorizer = authorizer
    this.#tokens = tokens
    this.#clock = clock
  }

  /** Answers a POST of a review. */
  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource } = target
    const choice = negotiateResponse(context, resource, { answer: 'document' })
    const { fieldValidation } = readWriteOptions(context.query, 'CreateOptions')
    const read = await parseObject(await readBody(context.request), bodyFormat(context), {
      kind: resource.kind,
      request: context.request,
    })
    const shaped = shapeObject(read, resource, { fieldValidation, warnings: context.warnings })
    const draft = (await this.#admission.admitDocument(shaped, {
      context,
      target,
      dryRun: false,
    })) as ObjectDraft
    const status = await this.#statusOf(draft, context, target)
    const object = { ...draft, ...emptyMetadata(resource.kind, this.#clock), status }
    return replyObject(context, object, {
      status: 201,
      resource,
      choice,
      clock: this.#clock,
    })
  }

  async #statusOf(draft: ObjectDraft, context: RequestContext, target: ResourceRef): Promise<JsonObject> {
    const authorizer = this.#authorizer
    switch (target.resource.kind) {
      case 'SelfSubjectReview':
        return { userInfo: userInfo(context.user) }
      case 'TokenReview':
        return await tokenReviewStatus(draft, this.#tokens)
      case 'SelfSubjectRulesReview':
        return rulesStatus(draft, { context, target, authorizer })
      case 'SubjectAccessReview':
      case 'LocalSubjectAccessReview':
      case 'SelfSubjectAccessReview':
        return await accessStatus(draft, { context, target, authorizer })
      default:
        // A kind without an answer here must not get that of another one.
        throw new ApiError('InternalError', `${target.resource.kind} cannot be created`)
    }
  }
}

/** Parts that the response to a review of the own user leaves empty, as upstream. */
function emptyMetadata(kind: string, clock: Clock): object {
  if (kind === 'SelfSubjectReview') return { metadata: { creationTimestamp: formatTime(clock.now()) } }
  return kind === 'SelfSubjectRulesReview' ? { metadata: {}, spec: {} } : {}
}

/**
 * The status of a TokenReview.
 *
 * @throws {ApiError} `BadRequest`, without a token.
 */
async function tokenReviewStatus({ spec }: JsonObjectDraft, tokens: BearerTokenAuthenticator): Promise<JsonObject> {
  const { token, audiences } = isJsonObject(spec) ? spec : {}
  if (typeof token !== 'string' || token === '') throw badRequest('token is required for TokenReview in authentication')
  const wanted = audiencesOf(audiences)
  // A token in a header has no spaces, so none is valid here.
  const verdict = /\s/.test(token)
    ? { error: 'invalid bearer token' }
    : await tokens.review(token, wanted.length === 0 ? tokens.audiences : wanted)
  if (!isAuthenticatedToken(verdict)) return { user: {}, error: verdict.error }
  return { authenticated: true, user: userInfo(verdict.user), audiences: [...verdict.audiences] }
}
