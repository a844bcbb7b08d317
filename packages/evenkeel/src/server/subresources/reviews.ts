/**
 * Resources that are questions: nothing is stored, the answer comes back in `status`.
 *
 * Until permissions are built, every caller who authenticated may do everything, and the reviews say so truthfully.
 */
import type { JsonObject, JsonObjectDraft, UnstructuredObject } from '#api'
import { isJsonObject } from '#api'
import type { WireResponse } from '#wire'
import { userInfo } from '../authenticate.ts'
import type { Authenticator } from '../authenticate.ts'
import type { Call, Rooms, Target } from '../call.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from '../decode.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { chooseForm, replyObject } from '../reply.ts'

/** Answers a POST of a review. */
export async function review(call: Call, target: Target, { rooms, authenticators }: { rooms: Rooms, authenticators: readonly Authenticator[] }): Promise<WireResponse> {
  const { resource } = target
  const choice = chooseForm(call, resource, { answer: 'document' })
  const { fieldValidation } = readWriteOptions(call.query, 'CreateOptions')
  const read = await parseObject(await readBody(call.request), bodyFormat(call.request), resource.kind)
  const draft = shapeObject(read, resource, { fieldValidation, warnings: call.warnings })
  const status = await statusOf(draft, { kind: resource.kind, call, authenticators })
  const object = { ...draft, metadata: { ...draft.metadata, creationTimestamp: null }, status }
  return replyObject(call, object as unknown as UnstructuredObject, { status: 201, resource, choice, rooms })
}

interface Asked {
  readonly kind: string
  readonly call: Call
  readonly authenticators: readonly Authenticator[]
}

async function statusOf(draft: JsonObjectDraft, { kind, call, authenticators }: Asked): Promise<JsonObject> {
  switch (kind) {
    case 'SelfSubjectReview': return { userInfo: userInfo(call.user) }
    case 'TokenReview': return await tokenStatus(draft, { call, authenticators })
    case 'SelfSubjectRulesReview': return { resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }], nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }], incomplete: false }
    default: return { allowed: true, reason: 'every authenticated caller is an administrator' }
  }
}

async function tokenStatus({ spec }: JsonObjectDraft, { call, authenticators }: Omit<Asked, 'kind'>): Promise<JsonObject> {
  const token = isJsonObject(spec) && typeof spec['token'] === 'string' ? spec['token'] : ''
  const request = { ...call.request, headers: { authorization: `Bearer ${token}` } }
  for (const authenticator of authenticators) {
    const user = await authenticator({ ...call, request })
    if (user) return { authenticated: true, user: userInfo(user) }
  }
  return { user: {}, error: 'the token is not known to this server' }
}
