/**
 * Resources that are questions: nothing is stored, the answer comes back in `status`.
 *
 * What is asked about permission is answered in `permission/reviews`; here is what all reviews have in common.
 */
import type { JsonObject, UnstructuredObject } from '#api'
import { formatTime } from '#api'
import type { WireResponse } from '#wire'
import { admitDocument } from '../admission/write-admission.ts'
import { userInfo } from '../authentication/person.ts'
import { tokenReviewStatus } from '../authentication/reviews.ts'
import type { RequestContext, ServerContext, ResourceRef } from '../call.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from '../decode.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { accessStatus, rulesStatus } from '../permission/reviews/access-review.ts'
import { negotiateResponse, replyObject } from '../reply.ts'
import type { ObjectDraft } from '../resources/resource.ts'

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
