/**
 * What can be posted to a Pod besides the Pod: an eviction (delete it) and a binding (put it on a node).
 */
import {
  ApiError,
  badRequest,
  conflict,
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '#api'
import type { ObjectDraft } from '#builtins'
import { Query, type WireResponse } from '#wire'
import { admitDocument } from '../admission/write-admission.ts'
import type { RequestContext, ResourceRef, ServerContext } from '../request-context.ts'
import { replyDocument, successStatus } from '../response.ts'
import { deleteObject } from './delete.ts'
import { readOptionsBody } from './request-body.ts'
import { guaranteedUpdate } from './update.ts'
import { readDeleteOptions, readWriteOptions } from './write-options.ts'

/** POST of an eviction: a deletion that asks nicely. Disruption budgets have no say here yet. */
export async function evictPod(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const { dryRun } = readWriteOptions(call.query, 'CreateOptions')
  const body = await admitDocument((await readOptionsBody(call.request)) ?? {}, { call, target, server, dryRun })
  const given = isJsonObject(body['deleteOptions']) ? body['deleteOptions'] : {}
  const options = readDeleteOptions(new Query(), given)
  await deleteObject(target, { ...options, dryRun: dryRun || options.dryRun }, server)
  return replyDocument(call, created(), { status: 201, choice: { format: 'json' } })
}

/** POST of a binding: says which node a Pod runs on, once. */
export async function bindPod(call: RequestContext, target: ResourceRef, server: ServerContext): Promise<WireResponse> {
  const { dryRun } = readWriteOptions(call.query, 'CreateOptions')
  const body = await admitDocument((await readOptionsBody(call.request)) ?? {}, { call, target, server, dryRun })
  const node = isJsonObject(body['target']) ? body['target']['name'] : undefined
  if (typeof node !== 'string' || node === '') throw badRequest('a binding must name the node in target.name')
  await guaranteedUpdate(
    (current) => {
      const draft = JSON.parse(JSON.stringify(current)) as ObjectDraft & { spec?: JsonObject; status?: JsonObject }
      const bound = draft.spec?.['nodeName'] ?? ''
      if (bound !== '')
        throw conflict(
          { kind: 'pods/binding', name: target.name },
          `pod ${target.name} is already assigned to node ${JSON.stringify(bound)}`,
        )
      draft.spec = { ...draft.spec, nodeName: node }
      draft.status = {
        ...draft.status,
        conditions: scheduled(draft.status?.['conditions'], formatTime(server.clock.now())),
      }
      return draft
    },
    { call, target, server, dryRun, admitted: false },
  )
  return replyDocument(call, created(), { status: 201, choice: { format: 'json' } })
}

function scheduled(conditions: JsonValue | undefined, now: string): JsonValue {
  const others = Array.isArray(conditions)
    ? conditions.filter((condition) => isJsonObject(condition) && condition['type'] !== 'PodScheduled')
    : []
  return [...others, { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now }]
}

function created(): JsonObject {
  const document: JsonObjectDraft = { ...(successStatus(undefined) as unknown as JsonObjectDraft), code: 201 }
  return document
}

/*
 * Parts of objects that only a node or a token issuer could serve: known to discovery, refused with a reason.
 */

/** The refusal of a subresource that this server cannot serve. */
export function unsupportedSubresource({ resource: { group, plural }, subresource, name }: ResourceRef): ApiError {
  const what = `${plural}/${subresource?.name ?? ''}`
  return new ApiError(
    'MethodNotAllowed',
    `${what} of ${JSON.stringify(name)} is not available: it needs a node, and this server runs no containers`,
    { subject: { group, kind: plural, name } },
  )
}
