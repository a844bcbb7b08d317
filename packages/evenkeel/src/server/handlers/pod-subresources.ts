/**
 * The subresources of Pods that take a document: an Eviction deletes the Pod, a Binding sets its node. The subresources
 * that only a node could serve are known to discovery and refused with a reason.
 */
import {
  ApiError,
  badRequest,
  conflict,
  formatTime,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type UnstructuredObject,
} from '#api'
import type { Clock } from '#base'
import type { ObjectDraft } from '@evenkeel/builtins'
import { Query, type WireResponse } from '#wire'
import type { Admission } from '../admission/write-admission.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { replyDocument, successStatus } from '../response.ts'
import type { DeleteHandler } from './delete.ts'
import { readOptionsBody } from './request-body.ts'
import type { UpdateHandler } from './update.ts'
import { readDeleteOptions, readWriteOptions } from './write-options.ts'

interface PodServices {
  readonly admission: Admission
  readonly updates: UpdateHandler
  readonly deletes: DeleteHandler
  readonly clock: Clock
}

export class PodSubresources {
  readonly #admission: Admission
  readonly #updates: UpdateHandler
  readonly #deletes: DeleteHandler
  readonly #clock: Clock

  constructor({ admission, updates, deletes, clock }: PodServices) {
    this.#admission = admission
    this.#updates = updates
    this.#deletes = deletes
    this.#clock = clock
  }

  /** POST of an Eviction: a deletion. Disruption budgets are not checked. */
  async evict(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { dryRun } = readWriteOptions(context.query, 'CreateOptions')
    const given = (await readOptionsBody(context.request)) ?? {}
    const body = await this.#admission.admitDocument(given, { context, target, dryRun })
    const options = readDeleteOptions(new Query(), isJsonObject(body['deleteOptions']) ? body['deleteOptions'] : {})
    await this.#deletes.delete(target, { ...options, dryRun: dryRun || options.dryRun })
    return replyDocument(context, created(), { status: 201, choice: { format: 'json' } })
  }

  /** POST of a Binding: sets the node of a Pod, once. */
  async bind(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { dryRun } = readWriteOptions(context.query, 'CreateOptions')
    const given = (await readOptionsBody(context.request)) ?? {}
    const body = await this.#admission.admitDocument(given, { context, target, dryRun })
    const node = isJsonObject(body['target']) ? body['target']['name'] : undefined
    if (typeof node !== 'string' || node === '') throw badRequest('a binding must name the node in target.name')
    const now = formatTime(this.#clock.now())
    await this.#updates.update((current) => bound(current, node, now), { context, target, dryRun, admitted: false })
    return replyDocument(context, created(), { status: 201, choice: { format: 'json' } })
  }
}

function bound(current: UnstructuredObject, node: string, now: string): ObjectDraft {
  const draft = JSON.parse(JSON.stringify(current)) as ObjectDraft & { spec?: JsonObject; status?: JsonObject }
  const before = draft.spec?.['nodeName'] ?? ''
  const { name = '' } = current.metadata
  if (before !== '')
    throw conflict({ kind: 'pods/binding', name }, `pod ${name} is already assigned to node ${JSON.stringify(before)}`)
  draft.spec = { ...draft.spec, nodeName: node }
  draft.status = { ...draft.status, conditions: scheduled(draft.status?.['conditions'], now) }
  return draft
}

function scheduled(conditions: JsonValue | undefined, now: string): JsonValue {
  const others = Array.isArray(conditions)
    ? conditions.filter((condition) => isJsonObject(condition) && condition['type'] !== 'PodScheduled')
    : []
  return [...others, { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now }]
}

function created(): JsonObject {
  return { ...successStatus(undefined), code: 201 }
}

/** The refusal of a subresource that this server cannot serve. */
export function unsupportedSubresource({ resource: { group, plural }, subresource, name }: ResourceRef): ApiError {
  const what = `${plural}/${subresource?.name ?? ''}`
  return new ApiError(
    'MethodNotAllowed',
    `${what} of ${JSON.stringify(name)} is not available: it needs a node, and this server runs no containers`,
    { subject: { group, kind: plural, name } },
  )
}
