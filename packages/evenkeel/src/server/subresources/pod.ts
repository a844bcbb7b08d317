/**
 * What can be posted to a Pod besides the Pod: an eviction (delete it) and a binding (put it on a node).
 */
import { badRequest, conflict, formatTime, isJsonObject } from '#api'
import type { JsonObject, JsonObjectDraft, JsonValue } from '#api'
import { Query } from '#wire'
import type { WireResponse } from '#wire'
import { admitDocument } from '../admission/write-admission.ts'
import type { RequestContext, ServerContext, ResourceRef } from '../call.ts'
import { readOptionsBody } from '../decode.ts'
import { readDeleteOptions } from '../options/delete-options.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { replyDocument, successStatus } from '../reply.ts'
import type { ObjectDraft } from '../resources/resource.ts'
import { guaranteedUpdate } from '../walks/modify.ts'
import { deleteObject } from '../walks/remove.ts'

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
