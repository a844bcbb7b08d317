/**
 * The scale of something that has replicas: `autoscaling/v1 Scale`, read from and written to its owner.
 */
import {
  FieldPath, fieldError, formatLabelRequirements, getOwn, internalError, invalid, isJsonObject, labelRequirementsOf, parseLabelSelector, setOwn,
} from '#api'
import type { JsonObject, JsonObjectDraft, JsonValue, LabelSelector, Schema, SchemaNode, UnstructuredObject } from '#api'
import type { WireResponse } from '#wire'
import { builtinDefinitions, definitionName } from '../builtin/definitions.ts'
import type { Call, Rooms, Target } from '../call.ts'
import { toServed } from '../convert.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from '../decode.ts'
import { managerName } from '../resources/manage.ts'
import { readWriteOptions } from '../options/write-options.ts'
import type { FieldValidation } from '../options/write-options.ts'
import { chooseForm, replyObject } from '../reply.ts'
import type { ObjectDraft, Resource } from '../resources/resource.ts'
import type { StoredObject } from '../storage/bytes.ts'
import { columnsFor } from '../tables/index.ts'
import { modify } from '../walks/modify.ts'
import { patchType, patcher, readPatch, shapePatched } from '../walks/patch.ts'
import { readObject } from '../walks/read.ts'
import { checkName } from '../walks/update.ts'

const type = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

/** GET, PUT and PATCH of a scale. */
export async function scale(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const resource = scaleResource(target.resource)
  const choice = chooseForm(call, resource)
  if (call.verb === 'get') {
    const stored = await readObject(target, rooms)
    return replyObject(call, scaleOf(stored, target), { resource, choice, rooms })
  }
  const { dryRun, fieldValidation, fieldManager } = readWriteOptions(call.query, call.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions')
  const wanted = await wantedScale(call, { resource, target, fieldValidation })
  const { stored } = await modify(async (current, before) => {
    const next = await wanted(scaleOf(before, target))
    checkScale(next, target)
    return withReplicas(current, next, target.resource.scale?.specReplicasPath)
  }, { call, target, rooms, dryRun, manager: managerName(fieldManager, call.request.headers['user-agent']) })
  return replyObject(call, scaleOf(stored, target), { resource, choice, rooms })
}

type WantedScale = (current: UnstructuredObject) => ObjectDraft | Promise<ObjectDraft>

async function wantedScale(call: Call, { resource, target, fieldValidation }: { resource: Resource, target: Target, fieldValidation: FieldValidation }): Promise<WantedScale> {
  const shaping = { fieldValidation, warnings: call.warnings }
  if (call.verb === 'patch') {
    const bytes = await readBody(call.request)
    const { value, duplicates } = readPatch(bytes)
    const apply = patcher(patchType(call, resource), value, resource)
    return (current) => shapePatched(apply(current), { ...shaping, bytes, duplicates, resource })
  }
  const format = bodyFormat(call.request)
  const bytes = await readBody(call.request)
  return async () => {
    const draft = shapeObject(await parseObject(bytes, format, resource.kind), resource, shaping)
    checkName(draft, target)
    return draft
  }
}

function scaleOf(stored: StoredObject, { resource }: Target): UnstructuredObject {
  const object = toServed(stored, resource)
  const { metadata, spec, status } = object as UnstructuredObject & { spec?: JsonObject, status?: JsonObject }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  const selector = resource.scale ? textAt(object, resource.scale.labelSelectorPath) : selectorText(spec?.['selector'])
  return {
    kind: 'Scale', apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: resource.scale ? specReplicas(object, resource.scale.specReplicasPath) : spec?.['replicas'] ?? 0 },
    status: { replicas: (resource.scale ? valueAt(object, resource.scale.statusReplicasPath) : status?.['replicas']) ?? 0, ...selector !== '' && { selector } },
  } as UnstructuredObject
}

// A ReplicationController selects by a plain map, everything else by a label selector.
function selectorText(selector: unknown): string {
  if (!isJsonObject(selector)) return ''
  const wellFormed = isJsonObject(selector['matchLabels']) || Array.isArray(selector['matchExpressions'])
  const requirements = labelRequirementsOf((wellFormed ? selector : { matchLabels: selector }) as LabelSelector)
  return requirements === undefined ? '' : formatLabelRequirements(parseLabelSelector(formatLabelRequirements(requirements)))
}

function checkScale({ spec, metadata }: ObjectDraft, { name }: Target): void {
  const replicas = isJsonObject(spec) ? spec['replicas'] ?? 0 : 0
  if (Number(replicas) >= 0) return
  throw invalid({ group: 'autoscaling', kind: 'Scale', name: String(metadata['name'] ?? name) }, [fieldError.invalid(FieldPath.of('spec', 'replicas'), replicas, 'must be greater than or equal to 0')])
}

function specReplicas(object: UnstructuredObject, path: string): JsonValue {
  const value = valueAt(object, path)
  if (typeof value !== 'number') throw internalError(new Error(`the spec replicas field ${JSON.stringify(path)} does not exist`))
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

function namesOf(path: string): string[] {
  return path.split('.').filter((name) => name !== '')
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
function withReplicas(current: UnstructuredObject, { spec, metadata }: ObjectDraft, path = '.spec.replicas'): ObjectDraft {
  const draft = JSON.parse(JSON.stringify(current)) as ObjectDraft & { spec?: JsonObject }
  const replicas = isJsonObject(spec) ? spec['replicas'] ?? 0 : 0
  putAt(draft, path, replicas)
  const { resourceVersion, uid } = metadata
  if (resourceVersion) draft.metadata['resourceVersion'] = resourceVersion
  if (uid) draft.metadata['uid'] = uid
  return draft
}

const scaleSchema: Schema = {
  definitions: builtinDefinitions,
  get root(): SchemaNode { return builtinDefinitions(definitionName(type)) ?? {} },
}

// What the rooms need to know to read and write a Scale: the rest is the owner's.
function scaleResource(owner: Resource): Resource {
  return { ...owner, ...type, listKind: 'ScaleList', schema: scaleSchema, custom: false, columns: columnsFor(type.group, type.kind), storage: { ...type, plural: 'scales' } }
}
