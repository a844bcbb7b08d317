/**
 * The subresources of Pods that take a document: an Eviction deletes the Pod, a Binding sets its node. A Binding can also
 * be posted to `bindings`, with the name of the Pod in its metadata.
 */
import {
  ApiError,
  badRequest,
  conflict,
  fieldError,
  FieldPath,
  formatFieldErrors,
  formatTime,
  isJsonObject,
  notFound,
  objectIn,
  objectsIn,
  textIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import type { Clock } from '#base'
import type { ObjectDraft } from '@evenkeel/builtins'
import { Query, type WireResponse } from '#wire'
import { bodyResource } from '../admission/conversion.ts'
import type { Admission } from '../admission/write-admission.ts'
import type { Registry } from '../registry/registry.ts'
import { prepareMetadataForUpdate } from '../registry/strategy.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { replyDocument, successStatus } from '../response.ts'
import type { DeleteHandler } from './delete.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from './request-body.ts'
import type { UpdateHandler } from './update.ts'
import { readDeleteOptions, readWriteOptions } from './write-options.ts'

interface PodServices {
  readonly admission: Admission
  readonly registry: Registry
  readonly updates: UpdateHandler
  readonly deletes: DeleteHandler
  readonly clock: Clock
}

export class PodSubresources {
  readonly #admission: Admission
  readonly #registry: Registry
  readonly #updates: UpdateHandler
  readonly #deletes: DeleteHandler
  readonly #clock: Clock

  constructor({ admission, registry, updates, deletes, clock }: PodServices) {
    this.#admission = admission
    this.#registry = registry
    this.#updates = updates
    this.#deletes = deletes
    this.#clock = clock
  }

  /** POST of an Eviction: a deletion. Disruption budgets are not checked. */
  async evict(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { dryRun } = readWriteOptions(context.query, 'CreateOptions')
    const given = await readDocument(context, target)
    const body = await this.#admission.admitDocument(given, { context, target, dryRun })
    checkPodName(body, target)
    const options = readDeleteOptions(new Query(), isJsonObject(body['deleteOptions']) ? body['deleteOptions'] : {})
    await this.#deletes.delete(target, { ...options, dryRun: dryRun || options.dryRun })
    return replyDocument(context, created(), { status: 201, choice: { format: 'json' } })
  }

  /** POST of a Binding to a Pod: sets its node, once. */
  async bind(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { dryRun } = readWriteOptions(context.query, 'CreateOptions')
    const given = await readDocument(context, target)
    const binding = await this.#admission.admitDocument(given, { context, target, dryRun })
    checkPodName(binding, target)
    return this.#setNode(binding, { context, target, dryRun })
  }

  /**
   * POST of a Binding to the collection.
   *
   * @throws {ApiError} `BadRequest`, when it does not name a Pod; what {@link PodSubresources.bind} throws.
   */
  async bindNamed(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { dryRun } = readWriteOptions(context.query, 'CreateOptions')
    const given = await readDocument(context, target)
    const name = textIn(given.metadata, 'name')
    const binding = await this.#admission.admitDocument(given, { context, target: { ...target, name }, dryRun })
    requireValid(binding)
    if (name === '') throw badRequest('Name parameter required.')
    const pods = this.#registry.find('', 'v1', 'pods')
    const subresource = pods?.subresources.find(({ role }) => role === 'binding')
    if (!pods || !subresource) throw notFound({ kind: 'pods', name })
    return this.#setNode(binding, { context, target: { ...target, resource: pods, subresource, name }, dryRun })
  }

  async #setNode(binding: JsonObject, { context, target, dryRun }: BindOptions): Promise<WireResponse> {
    requireValid(binding)
    const now = formatTime(this.#clock.now())
    await this.#updates.update((current) => bound(current, binding, now), {
      context,
      target,
      dryRun,
      requiresUid: true,
      admitted: false,
    })
    return replyDocument(context, created(), { status: 201, choice: { format: 'json' } })
  }
}

interface BindOptions {
  readonly context: RequestContext
  /** The Pod. */
  readonly target: ResourceRef
  readonly dryRun: boolean
}

/** The posted document, decoded as its own kind, with the namespace of the path. */
async function readDocument(context: RequestContext, target: ResourceRef): Promise<ObjectDraft> {
  const { fieldValidation } = readWriteOptions(context.query, 'CreateOptions')
  const resource = bodyResource(target)
  const read = await parseObject(await readBody(context.request), bodyFormat(context), {
    kind: resource.kind,
    request: context.request,
  })
  const { value } = read
  // Clients may still send the Eviction of this version, which has the same fields.
  if (isJsonObject(value) && resource.kind === 'Eviction' && value['apiVersion'] === 'policy/v1beta1')
    (value as JsonObjectDraft)['apiVersion'] = 'policy/v1'
  const draft = shapeObject(read, resource, { fieldValidation, warnings: context.warnings })
  prepareMetadataForUpdate(draft, { context, target })
  return draft
}

/** @throws {ApiError} `BadRequest`, when the document names another Pod than the path, or none. */
function checkPodName(document: JsonObject, target: ResourceRef): void {
  if (textIn(objectIn(document, 'metadata'), 'name') !== target.name)
    throw badRequest(`name in URL does not match name in ${bodyResource(target).kind} object`)
}

/** @throws {ApiError} 500 without a reason, as upstream, when the target is not a node. */
function requireValid(binding: JsonObject): void {
  const errors = validateBinding(binding)
  if (errors.length > 0) throw new ApiError('Unknown', formatFieldErrors(errors))
}

function validateBinding(binding: JsonObject): FieldError[] {
  const [node, path] = [objectIn(binding, 'target'), FieldPath.of('target')]
  const kind = textIn(node, 'kind')
  return [
    ...(kind === '' || kind === 'Node' ? [] : [fieldError.notSupported(path.child('kind'), kind, ['Node', '<empty>'])]),
    ...(textIn(node, 'name') === '' ? [fieldError.required(path.child('name'))] : []),
  ]
}

/** The Pod on its node. Labels and annotations of the Binding are copied; its uid and resourceVersion must fit. */
function bound(current: UnstructuredObject, binding: JsonObject, now: string): ObjectDraft {
  const draft = parseJson(stringifyJson(current)) as ObjectDraft & { spec?: JsonObject; status?: JsonObject }
  refuseBound(current)
  const { uid, resourceVersion, labels, annotations } = objectIn(binding, 'metadata')
  Object.assign(draft.metadata, {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(isJsonObject(labels) && { labels: { ...objectIn(draft.metadata, 'labels'), ...labels } }),
    ...(isJsonObject(annotations) && { annotations: { ...objectIn(draft.metadata, 'annotations'), ...annotations } }),
  })
  draft.spec = { ...draft.spec, nodeName: textIn(objectIn(binding, 'target'), 'name') }
  draft.status = { ...draft.status, conditions: scheduled(draft.status?.['conditions'], now) }
  return draft
}

/** @throws {ApiError} `Conflict`, when the Pod cannot get a node now. */
function refuseBound(pod: UnstructuredObject): void {
  const { name = '', deletionTimestamp } = pod.metadata
  const spec = objectIn(pod, 'spec')
  const node = textIn(spec, 'nodeName')
  const subject = { kind: 'pods/binding', name }
  if (deletionTimestamp !== undefined)
    throw conflict(subject, `pod ${name} is being deleted, cannot be assigned to a host`)
  if (node !== '') throw conflict(subject, `pod ${name} is already assigned to node ${JSON.stringify(node)}`)
  if (objectsIn(spec, 'schedulingGates').length > 0)
    throw conflict(subject, `pod ${name} has non-empty .spec.schedulingGates`)
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
