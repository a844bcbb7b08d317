/**
 * The scale subresource: `autoscaling/v1 Scale`, read from and written to the object that has replicas.
 *
 * A write to a Scale is tracked as a write of a Scale, with the managers of the replicas field as its own; the result is
 * translated back to the managed fields of the object.
 */
import {
  applyConfiguration,
  fieldError,
  FieldPath,
  formatLabelRequirements,
  fromScaleEntries,
  getOwn,
  internalError,
  invalid,
  isJsonObject,
  labelRequirementsOf,
  managedFieldsAfterUpdate,
  parseLabelSelector,
  setOwn,
  toScaleEntries,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type ManagedFieldsEntry,
  type ReplicasPaths,
  type Schema,
  type SchemaNode,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import type { Clock } from '#base'
import { builtinSchemas, columnsFor, schemaName, type ObjectDraft, type Resource } from '@evenkeel/builtins'
import type { WireResponse } from '#wire'
import type { Admission } from '../admission/write-admission.ts'
import { managerName } from '../registry/field-manager.ts'
import type { Registry } from '../registry/registry.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { negotiateResponse, replyObject } from '../response.ts'
import { prepareConversions, servedType, toServed } from '../storage/codec.ts'
import type { Storage } from '../storage/storage.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { readConfiguration, refuseDuplicates, shapeApplied } from './apply.ts'
import { getObject } from './get.ts'
import { isApply, patcher, patchType, readStrictPatch, shapePatched } from './patch.ts'
import { bodyFormat, parseObject, readBody, shapeObject, type ShapeOptions } from './request-body.ts'
import { checkName, type UpdateHandler } from './update.ts'
import { readWriteOptions } from './write-options.ts'

const scaleType = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

interface ScaleServices {
  readonly storage: Storage
  readonly registry: Registry
  readonly admission: Admission
  readonly updates: UpdateHandler
  readonly clock: Clock
}

interface RequestedScale {
  readonly dryRun: boolean
  /** The wanted Scale with its managed fields. */
  from(current: UnstructuredObject): ObjectDraft | Promise<ObjectDraft>
}

/** GET, PUT and PATCH of a Scale. */
export class ScaleHandler {
  readonly #storage: Storage
  readonly #registry: Registry
  readonly #admission: Admission
  readonly #updates: UpdateHandler
  readonly #clock: Clock

  constructor({ storage, registry, admission, updates, clock }: ScaleServices) {
    this.#storage = storage
    this.#registry = registry
    this.#admission = admission
    this.#updates = updates
    this.#clock = clock
  }

  async handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const resource = scaleResource(target.resource)
    const choice = negotiateResponse(context, resource)
    const stored =
      context.verb === 'get'
        ? await getObject(target, this.#storage)
        : await this.#write(target, context, await this.#requested(context, resource, target))
    await prepareConversions([stored], target.resource)
    return replyObject(context, scaleOf(toServed(stored, target.resource), target), {
      resource,
      choice,
      clock: this.#clock,
    })
  }

  async #write(target: ResourceRef, context: RequestContext, wanted: RequestedScale): Promise<StoredObject> {
    const { dryRun } = wanted
    const { stored } = await this.#updates.update(
      async (current) => {
        const paths = replicasPaths(target, current, this.#registry)
        const before = withScaleManagers(scaleOf(current, target), current, paths)
        const next = await wanted.from(before)
        await this.#admission.forWrite('UPDATE', { context, target, dryRun })?.mutate(next, before)
        checkScale(next, target)
        const changed = withReplicas(current, next, target.resource.scale?.specReplicasPath)
        takeScaleManagers(changed, next, { paths, apiVersion: servedType(target.resource).apiVersion })
        return changed
      },
      { context, target, dryRun, admitted: (object) => scaleOf(object, target) },
    )
    return stored
  }

  async #requested(context: RequestContext, resource: Resource, target: ResourceRef): Promise<RequestedScale> {
    const type = context.verb === 'patch' ? patchType(context, target.resource) : undefined
    if (type !== undefined && isApply(type)) return this.#applied(context, resource, target)
    const bytes = await readBody(context.request)
    const { dryRun, fieldValidation, fieldManager } = readWriteOptions(
      context.query,
      type === undefined ? 'UpdateOptions' : 'PatchOptions',
    )
    const manager = managerName(fieldManager, context.request.headers['user-agent'])
    const writer = { manager, schema: scaleSchema, clock: this.#clock }
    const shaping = { fieldValidation, warnings: context.warnings }
    const read =
      type === undefined
        ? readScale(bytes, { context, resource, shaping })
        : patchedScale(bytes, type, { resource, shaping })
    return {
      dryRun,
      async from(current) {
        const next = await read(current)
        checkName(next, target)
        trackScale(next, current, writer)
        return next
      },
    }
  }

  async #applied(context: RequestContext, resource: Resource, target: ResourceRef): Promise<RequestedScale> {
    const bytes = await readBody(context.request)
    const options = readWriteOptions(context.query, 'PatchOptions', { isApply: true })
    const { dryRun, fieldValidation, fieldManager: manager, force } = options
    const { config, repeated } = await readConfiguration(bytes, context.request)
    const shaping = { fieldValidation, warnings: context.warnings }
    return {
      dryRun,
      from: (current) => {
        const object = applyScale(config, current, { manager, schema: scaleSchema, clock: this.#clock, force })
        refuseDuplicates(repeated, shaping)
        const next = shapeApplied(object, resource, shaping)
        checkName(next, target)
        return next
      },
    }
  }
}

type ReadScale = (current: UnstructuredObject) => ObjectDraft | Promise<ObjectDraft>

function readScale(
  bytes: Uint8Array,
  { context, resource, shaping }: { context: RequestContext; resource: Resource; shaping: ShapeOptions },
): ReadScale {
  const format = bodyFormat(context)
  return async () =>
    shapeObject(await parseObject(bytes, format, { kind: resource.kind, request: context.request }), resource, shaping)
}

function patchedScale(
  bytes: Uint8Array,
  type: string,
  { resource, shaping }: { resource: Resource; shaping: ShapeOptions },
): ReadScale {
  const { value, ...strict } = readStrictPatch(bytes, type)
  const apply = patcher(type, value, resource)
  return (current) => shapePatched(apply(current), { ...shaping, ...strict, bytes, resource })
}

function scaleOf(object: UnstructuredObject, { resource }: ResourceRef): UnstructuredObject {
  const { metadata, spec, status } = object as UnstructuredObject & { spec?: JsonObject; status?: JsonObject }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  const selector = resource.scale ? textAt(object, resource.scale.labelSelectorPath) : selectorText(spec?.['selector'])
  const replicas = resource.scale ? specReplicas(object, resource.scale.specReplicasPath) : (spec?.['replicas'] ?? 0)
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    // As upstream writes it, a count of 0 is left out of the spec but not of the status.
    spec: replicas === 0 ? {} : { replicas },
    status: {
      replicas: (resource.scale ? valueAt(object, resource.scale.statusReplicasPath) : status?.['replicas']) ?? 0,
      ...(selector !== '' && { selector }),
    },
  } as UnstructuredObject
}

// A ReplicationController selects by a plain map, everything else by a label selector.
function selectorText(selector: unknown): string {
  if (!isJsonObject(selector)) return ''
  const wellFormed = isJsonObject(selector['matchLabels']) || Array.isArray(selector['matchExpressions'])
  const requirements = labelRequirementsOf(wellFormed ? selector : { matchLabels: selector })
  return requirements === undefined
    ? ''
    : formatLabelRequirements(parseLabelSelector(formatLabelRequirements(requirements)))
}

// A custom object is validated as a whole, by the scale paths of its CRD.
function checkScale({ spec, metadata }: ObjectDraft, { name, resource }: ResourceRef): void {
  if (resource.custom) return
  const replicas = isJsonObject(spec) ? (spec['replicas'] ?? 0) : 0
  if (Number(replicas) >= 0) return
  throw invalid({ group: 'autoscaling', kind: 'Scale', name: String(metadata['name'] ?? name) }, [
    fieldError.invalid(FieldPath.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0'),
  ])
}

function specReplicas(object: UnstructuredObject, path: string): JsonValue {
  const value = valueAt(object, path)
  if (typeof value !== 'number' && typeof value !== 'bigint')
    throw internalError(new Error(`the spec replicas field ${JSON.stringify(path)} does not exist`))
  return value
}

function valueAt(object: UnstructuredObject, path: string): JsonValue | undefined {
  let value: unknown = object
  for (const name of namesOf(path)) value = isJsonObject(value) ? getOwn(value, name) : undefined
  return value as JsonValue | undefined
}

function textAt(object: UnstructuredObject, path: string | undefined): string {
  const value = path === undefined ? '' : valueAt(object, path)
  return typeof value === 'string' ? value : ''
}

function putAt(draft: JsonObjectDraft, path: string, value: JsonValue): void {
  const names = namesOf(path)
  let place = draft
  for (const name of names.slice(0, -1)) {
    if (!isJsonObject(place[name])) setOwn(place, name, {})
    place = place[name] as JsonObjectDraft
  }
  setOwn(place, names.at(-1) ?? '', value)
}

// The resource version in a Scale is that of the scaled object.
function withReplicas(
  current: UnstructuredObject,
  { spec, metadata }: ObjectDraft,
  path = '.spec.replicas',
): ObjectDraft {
  const draft = parseJson(stringifyJson(current)) as ObjectDraft & { spec?: JsonObject }
  const replicas = isJsonObject(spec) ? (spec['replicas'] ?? 0) : 0
  putAt(draft, path, replicas)
  const { resourceVersion, uid } = metadata
  if (resourceVersion) draft.metadata['resourceVersion'] = resourceVersion
  if (uid) draft.metadata['uid'] = uid
  return draft
}

const scaleSchema: Schema = {
  name: schemaName(scaleType),
  definitions: builtinSchemas,
  get root(): SchemaNode {
    return builtinSchemas(schemaName(scaleType)) ?? {}
  },
}

// The resource of a Scale; other properties are those of its owner.
function scaleResource(owner: Resource): Resource {
  return {
    ...owner,
    ...scaleType,
    listKind: 'ScaleList',
    schema: scaleSchema,
    custom: false,
    columns: columnsFor(scaleType.group, scaleType.kind),
    storage: { ...scaleType, plural: 'scales' },
  }
}

interface ScaleWriter {
  readonly manager: string
  readonly schema: Schema
  readonly clock: Clock
}

/** Tracks the field manager of the replicas in a Scale that replaces another. */
function trackScale(next: ObjectDraft, live: UnstructuredObject, writer: ScaleWriter): void {
  const entries = managedFieldsAfterUpdate({
    ...managedRequestOf(writer),
    live: live,
    next: next,
  })
  setEntries(next, entries)
}

/**
 * Applies a configuration to a Scale.
 *
 * @throws {ApiError} `Conflict`, when another manager owns the replicas.
 */
function applyScale(
  config: JsonObject,
  live: UnstructuredObject,
  { force, ...writer }: ScaleWriter & { readonly force: boolean },
): JsonObject {
  return applyConfiguration({
    ...managedRequestOf(writer),
    kind: 'Scale',
    live: live,
    config,
    force,
  })
}

function managedRequestOf({ manager, schema, clock }: ScaleWriter): {
  manager: string
  schema: Schema
  apiVersion: string
  subresource: string
  nowMs: number
} {
  return { manager, schema, apiVersion: 'autoscaling/v1', subresource: 'scale', nowMs: clock.now() }
}

/** A Scale with those managers of its object that own the replicas. */
function withScaleManagers(
  scale: UnstructuredObject,
  object: UnstructuredObject,
  paths: ReplicasPaths,
): UnstructuredObject {
  const managedFields = toScaleEntries(object.metadata.managedFields, paths)
  return { ...scale, metadata: { ...scale.metadata, ...(managedFields && { managedFields }) } }
}

/** Updates the managed fields of an object after a write to its Scale. */
function takeScaleManagers(
  object: ObjectDraft,
  scale: ObjectDraft,
  { paths, apiVersion }: { paths: ReplicasPaths; apiVersion: string },
): void {
  const parent = object.metadata['managedFields']
  setEntries(
    object,
    fromScaleEntries(
      {
        parent,
        scale: scale.metadata['managedFields'],
        apiVersion,
      },
      paths,
    ),
  )
}

/** The path of the replicas in each version of a kind. Managers of versions without one are not changed. */
function replicasPaths(
  { resource }: ResourceRef,
  { metadata: { managedFields = [] } }: UnstructuredObject,
  registry: Registry,
): ReplicasPaths {
  const paths = new Map<string, readonly string[] | null>()
  for (const { apiVersion = '' } of managedFields) {
    // A version that is no longer served may still be known: its managed fields are kept unchanged.
    if (isKnownVersion(apiVersion, resource)) paths.set(apiVersion, null)
  }
  for (const other of registry.all()) {
    if (other.storage.group !== resource.storage.group || other.storage.plural !== resource.storage.plural) continue
    const hasScale = other.subresources.some(({ name }) => name === 'scale')
    paths.set(
      servedType(other).apiVersion,
      hasScale ? namesOf(other.scale?.specReplicasPath ?? '.spec.replicas') : null,
    )
  }
  return paths
}

function isKnownVersion(apiVersion: string, { group, reading }: Resource): boolean {
  return apiVersion.startsWith(`${group}/`) && reading?.schemaOf(apiVersion.slice(group.length + 1)) !== undefined
}

/** The names in a simple path. */
function namesOf(path: string): string[] {
  return path.split('.').filter((name) => name !== '')
}

function setEntries({ metadata }: ObjectDraft, entries: readonly ManagedFieldsEntry[] | undefined): void {
  if (entries) metadata['managedFields'] = entries
  else delete metadata['managedFields']
}
