/**
 * The scale of something that has replicas: `autoscaling/v1 Scale`, read from and written to its owner.
 */
import { FieldPath, fieldError, formatLabelRequirements, invalid, isJsonObject, labelRequirementsOf, parseLabelSelector } from '#api'
import type { JsonObject, LabelSelector, Schema, SchemaNode, UnstructuredObject } from '#api'
import type { WireResponse } from '#wire'
import { builtinDefinitions, definitionName } from '../builtin/definitions.ts'
import type { Call, Rooms, Target } from '../call.ts'
import { toServed } from '../convert.ts'
import { bodyFormat, parseObject, readBody, shapeObject } from '../decode.ts'
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
  const { dryRun, fieldValidation } = readWriteOptions(call.query, call.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions')
  const wanted = await wantedScale(call, { resource, target, fieldValidation })
  const { stored } = await modify(async (current, before) => {
    const next = await wanted(scaleOf(before, target))
    checkScale(next, target)
    return withReplicas(current, next)
  }, { call, target, rooms, dryRun })
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
  const { metadata, spec, status } = toServed(stored, resource) as UnstructuredObject & { spec?: JsonObject, status?: JsonObject }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  const selector = selectorText(spec?.['selector'])
  return {
    kind: 'Scale', apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: spec?.['replicas'] ?? 0 },
    status: { replicas: status?.['replicas'] ?? 0, ...selector !== '' && { selector } },
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

// The version a client names in the scale is the version of the object it scales.
function withReplicas(current: UnstructuredObject, { spec, metadata }: ObjectDraft): ObjectDraft {
  const draft = JSON.parse(JSON.stringify(current)) as ObjectDraft & { spec?: JsonObject }
  const replicas = isJsonObject(spec) ? spec['replicas'] ?? 0 : 0
  draft.spec = { ...draft.spec, replicas }
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
