/**
 * The scale of something that has replicas: `autoscaling/v1 Scale`, read from and written to its owner.
 */
import {
  FieldPath,
  fieldError,
  formatLabelRequirements,
  getOwn,
  internalError,
  invalid,
  isJsonObject,
  labelRequirementsOf,
  parseLabelSelector,
  setOwn,
} from '#api'
import type {
  JsonObject,
  JsonObjectDraft,
  JsonValue,
  LabelSelector,
  Schema,
  SchemaNode,
  UnstructuredObject,
} from '#api'
import type { WireResponse } from '#wire'
import { writeAdmissionFor } from '../admission/write-admission.ts'
import { builtinSchemas, schemaName } from '../builtin/definitions.ts'
import type { RequestContext, ServerContext, ResourceRef } from '../call.ts'
import { prepareConversions, servedType, toServed } from '../convert.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from '../decode.ts'
import type { ShapeOptions } from '../decode.ts'
import { managerName } from '../resources/manage.ts'
import { readWriteOptions } from '../options/write-options.ts'
import { negotiateResponse, replyObject } from '../reply.ts'
import type { ObjectDraft, Resource } from '../resources/resource.ts'
import { columnsFor } from '../tables/index.ts'
import { refuseDuplicates, readConfiguration, shapeApplied } from '../walks/apply.ts'
import { guaranteedUpdate } from '../walks/modify.ts'
import { applyType, patchType, patcher, readPatch, shapePatched } from '../walks/patch.ts'
import { getObject } from '../walks/read.ts'
import { checkName } from '../walks/update.ts'
import {
  applyScale,
  namesOf,
  replicasPaths,
  takeScaleManagers,
  trackScale,
  withScaleManagers,
} from './scale-managers.ts'

const scaleType = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

/** GET, PUT and PATCH of a scale. */
export async function handleScale(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const resource = scaleResource(target.resource)
  const choice = negotiateResponse(call, resource)
  if (call.verb === 'get') {
    const stored = await getObject(target, server)
    await prepareConversions([stored], target.resource)
    return replyObject(call, scaleOf(toServed(stored, target.resource), target), { resource, choice, server })
  }
  const { dryRun, ...wanted } = await requestedScale(call, { resource, target, server })
  const { stored } = await guaranteedUpdate(
    async (current) => {
      const paths = replicasPaths(target, current, server)
      const before = withScaleManagers(scaleOf(current, target), current, paths)
      const next = await wanted.from(before)
      await writeAdmissionFor('UPDATE', { call, target, server, dryRun })?.mutate(next, before)
      checkScale(next, target)
      const changed = withReplicas(current, next, target.resource.scale?.specReplicasPath)
      takeScaleManagers(changed, next, { paths, apiVersion: servedType(target.resource).apiVersion })
      return changed
    },
    { call, target, server, dryRun, admitted: (object) => scaleOf(object, target) },
  )
  await prepareConversions([stored], target.resource)
  return replyObject(call, scaleOf(toServed(stored, target.resource), target), { resource, choice, server })
}

interface RequestedScale {
  readonly dryRun: boolean
  /** The Scale that shall be, and who manages it. */
  from(current: UnstructuredObject): ObjectDraft | Promise<ObjectDraft>
}

interface ScaleContext {
  /** The Scale as a resource. */
  readonly resource: Resource
  readonly target: ResourceRef
  readonly server: ServerContext
}

async function requestedScale(call: RequestContext, scaling: ScaleContext): Promise<RequestedScale> {
  const { resource, target, server } = scaling
  const type = call.verb === 'patch' ? patchType(call, resource) : undefined
  if (type === applyType) return appliedScale(call, scaling)
  const bytes = await readBody(call.request)
  const { dryRun, fieldValidation, fieldManager } = readWriteOptions(
    call.query,
    type === undefined ? 'UpdateOptions' : 'PatchOptions',
  )
  const writer = { manager: managerName(fieldManager, call.request.headers['user-agent']), schema: scaleSchema, server }
  const shaping = { fieldValidation, warnings: call.warnings }
  const read =
    type === undefined
      ? readScale(bytes, { call, resource, shaping })
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

type ReadScale = (current: UnstructuredObject) => ObjectDraft | Promise<ObjectDraft>

function readScale(
  bytes: Uint8Array,
  { call, resource, shaping }: { call: RequestContext; resource: Resource; shaping: ShapeOptions },
): ReadScale {
  const format = bodyFormat(call.request)
  return async () => shapeObject(await parseObject(bytes, format, resource.kind), resource, shaping)
}

function patchedScale(
  bytes: Uint8Array,
  type: string,
  { resource, shaping }: { resource: Resource; shaping: ShapeOptions },
): ReadScale {
  const { value, duplicates } = readPatch(bytes)
  const apply = patcher(type, value, resource)
  return (current) => shapePatched(apply(current), { ...shaping, bytes, duplicates, resource })
}

async function appliedScale(call: RequestContext, { resource, target, server }: ScaleContext): Promise<RequestedScale> {
  const bytes = await readBody(call.request)
  const {
    dryRun,
    fieldValidation,
    fieldManager: manager,
    force,
  } = readWriteOptions(call.query, 'PatchOptions', { isApply: true })
  const { config, repeated } = await readConfiguration(bytes)
  const shaping = { fieldValidation, warnings: call.warnings }
  return {
    dryRun,
    from(current) {
      const object = applyScale(config, current, { manager, schema: scaleSchema, server, force })
      refuseDuplicates(repeated, shaping)
      const next = shapeApplied(object, resource, shaping)
      checkName(next, target)
      return next
    },
  }
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
  const requirements = labelRequirementsOf((wellFormed ? selector : { matchLabels: selector }) as LabelSelector)
  return requirements === undefined
    ? ''
    : formatLabelRequirements(parseLabelSelector(formatLabelRequirements(requirements)))
}

// A custom object is judged as a whole, by what its definition says about scale.
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
  if (typeof value !== 'number')
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

// The version a client names in the scale is the version of the object it scales.
function withReplicas(
  current: UnstructuredObject,
  { spec, metadata }: ObjectDraft,
  path = '.spec.replicas',
): ObjectDraft {
  const draft = JSON.parse(JSON.stringify(current)) as ObjectDraft & { spec?: JsonObject }
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

// What the rooms need to know to read and write a Scale: the rest is the owner's.
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
