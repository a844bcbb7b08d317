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
import type { Call, Rooms, Target } from '../call.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from '../decode.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { accessStatus, rulesStatus } from '../permission/reviews/access-review.ts'
import { chooseForm, replyObject } from '../reply.ts'
import type { ObjectDraft } from '../resources/resource.ts'

/** Answers a POST of a review. */
export async function review(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const { resource } = target
  const choice = chooseForm(call, resource, { answer: 'document' })
  const { fieldValidation } = readWriteOptions(call.query, 'CreateOptions')
  const read = await parseObject(await readBody(call.request), bodyFormat(call.request), resource.kind)
  const shaped = shapeObject(read, resource, { fieldValidation, warnings: call.warnings })
  const draft = (await admitDocument(shaped as JsonObject, { call, target, rooms, dryRun: false })) as ObjectDraft
  const status = await statusOf(draft, { kind: resource.kind, call, target, rooms })
  const object = { ...draft, ...emptied(resource.kind, rooms), status }
  return replyObject(call, object as unknown as UnstructuredObject, { status: 201, resource, choice, rooms })
}

interface Asked {
  readonly kind: string
  readonly call: Call
  readonly target: Target
  readonly rooms: Rooms
}

async function statusOf(
  draft: ObjectDraft,
  { kind, call, target, rooms: { access, authentication } }: Asked,
): Promise<JsonObject> {
  switch (kind) {
    case 'SelfSubjectReview':
      return { userInfo: userInfo(call.user) }
    case 'TokenReview':
      return await tokenReviewStatus(draft, authentication.tokens)
    case 'SelfSubjectRulesReview':
      return rulesStatus(draft, { call, target, access })
    default:
      return await accessStatus(draft, { call, target, access })
  }
}

/** What an answer about the caller does not repeat: it says nothing but that. */
function emptied(kind: string, { clock }: Rooms): object {
  if (kind === 'SelfSubjectReview') return { metadata: { creationTimestamp: formatTime(clock.now()) } }
  return kind === 'SelfSubjectRulesReview' ? { metadata: {}, spec: {} } : {}
}
