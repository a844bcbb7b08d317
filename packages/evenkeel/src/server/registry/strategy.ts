/**
 * Defaults and system fields, before an object is validated.
 *
 * Fields that only the server may set (uid, timestamps, generation, deletion) are set here, whatever the client
 * sent. A write to a subresource changes only its part of the object: everything else is restored from the old
 * object.
 */
import {
  badRequest,
  canonicalApiVersion,
  dedupeOwnerReferences,
  deepEqual,
  fieldError,
  FieldPath,
  finalizerWarnings,
  generateName,
  invalid,
  isJsonObject,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import { randomInt, randomUuid, type Random } from '#base'
import type { ObjectDraft, ObjectMetaDraft, Resource, WriteContext } from '@evenkeel/builtins'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import { servedType } from '../storage/codec.ts'

/** The context of a strategy, beside the object. */
interface StrategyContext {
  readonly context: Pick<RequestContext, 'warnings'>
  readonly target: ResourceRef
  readonly write: WriteContext
}

/** Removes from a new object the metadata that clients may not set, before any other stage reads it. */
export function prepareMetadataForCreate(
  { metadata }: ObjectDraft,
  { context, target: { resource, namespace } }: Pick<StrategyContext, 'context' | 'target'>,
): void {
  wipeSystemFields(metadata)
  completeNamespace(metadata, resource.scope === 'Cluster' ? '' : namespace)
  dedupeOwners(metadata, context)
}

/** Prepares a client's object for a create. */
export function beforeCreate(object: ObjectDraft, mutation: StrategyContext & { readonly random: Random }): void {
  const {
    target: { resource },
    random,
    write,
  } = mutation
  const { metadata } = object
  prepareMetadataForCreate(object, mutation)
  warnAboutFinalizers(metadata, mutation)
  if (!metadata['name'] && typeof metadata['generateName'] === 'string' && metadata['generateName'] !== '') {
    metadata['name'] = generateName(metadata['generateName'], (below) => randomInt(random, below))
  }
  metadata['uid'] = randomUuid(random)
  metadata['creationTimestamp'] = write.now
  delete metadata['generation']
  if (resource.strategy.generation) metadata['generation'] = 1
  if (hasStatus(resource) && resource.strategy.statusOnCreate !== 'keep') delete object['status']
  resource.strategy.prepareForCreate?.(object, write)
  addEmptyParts(object, resource)
}

/** The same for an update. */
export function prepareMetadataForUpdate(
  { metadata }: ObjectDraft,
  { context, target: { resource, namespace } }: Pick<StrategyContext, 'context' | 'target'>,
): void {
  completeNamespace(metadata, resource.scope === 'Cluster' ? '' : namespace)
  dedupeOwners(metadata, context)
}

/** Prepares a client's object for an update of `old`. */
export function beforeUpdate(object: ObjectDraft, old: UnstructuredObject, mutation: StrategyContext): void {
  const {
    target: { resource, subresource },
    write,
  } = mutation
  const { metadata } = object
  prepareMetadataForUpdate(object, mutation)
  warnAboutFinalizers(metadata, mutation)
  restoreSystemFields(metadata, old)
  if (subresource === undefined && hasStatus(resource)) restore(object, old, 'status')
  if (subresource) keepOnlySubresource(subresource.name, object, { old, resource })
  resource.strategy.prepareForUpdate?.(object, old, write)
  addEmptyParts(object, resource)
  if (resource.strategy.generation && countsGeneration(subresource?.name) && changesSpec(object, old, resource)) {
    metadata['generation'] = (old.metadata.generation ?? 0) + 1
  }
}

/** Applies the defaults of the kind. Runs after every decode and every patch. */
export function applyDefaults(object: ObjectDraft, resource: Resource): void {
  resource.strategy.default?.(object)
}

/**
 * Checks that an object has the served kind, and completes its type and metadata.
 *
 * @throws {ApiError} `BadRequest` or `Invalid`, when it has another type.
 */
export function completeTypeMeta(object: JsonObjectDraft, resource: Resource): asserts object is ObjectDraft {
  const { apiVersion, kind } = servedType(resource)
  const [givenVersion, givenKind] = [canonicalApiVersion(textOf(object, 'apiVersion')), textOf(object, 'kind')]
  if (givenVersion !== '' && givenVersion !== apiVersion) {
    throw badRequest(
      `the API version in the data (${givenVersion}) does not match the expected API version (${apiVersion})`,
    )
  }
  if (givenKind !== '' && givenKind !== kind) {
    if (resource.custom)
      throw invalid({ group: resource.group, kind: givenKind, name: nameOf(object) }, [
        fieldError.invalid(FieldPath.of('kind'), givenKind, `must be ${kind}`),
      ])
    throw badRequest(
      `${givenKind} in version "${resource.version}" cannot be handled as a ${kind}: the kind in the data does not match the kind that is served here`,
    )
  }
  object['apiVersion'] = apiVersion
  object['kind'] = kind
  // Metadata of a wrong type stays: decoding refuses it.
  object['metadata'] ??= {}
}

function nameOf({ metadata }: JsonObjectDraft): string {
  return isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : ''
}

function textOf(object: JsonObjectDraft, field: string): string {
  const value = object[field] ?? ''
  if (typeof value !== 'string')
    throw badRequest(`couldn't get version/kind; json parse error: ${field} must be a text`)
  return value
}

/** Objects of built-in kinds always show their spec and status, even when empty. */
function addEmptyParts(object: ObjectDraft, { custom, schema }: Resource): void {
  if (custom) return
  for (const part of ['spec', 'status'])
    if (object[part] === undefined && schema.root.properties?.[part] !== undefined) object[part] = {}
}

function wipeSystemFields(metadata: JsonObjectDraft): void {
  for (const field of ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink'])
    delete metadata[field]
}

function completeNamespace(metadata: JsonObjectDraft, namespace: string): void {
  const given = metadata['namespace'] ?? ''
  if (namespace === '') delete metadata['namespace']
  else if (given === '') metadata['namespace'] = namespace
  else if (given !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

function restoreSystemFields(metadata: ObjectMetaDraft, { metadata: old }: UnstructuredObject): void {
  if (!metadata.uid && old.uid !== undefined) metadata.uid = old.uid
  for (const field of ['creationTimestamp', 'generation', 'selfLink']) keepField(metadata, old, field)
  if (old.deletionTimestamp !== undefined) metadata['deletionTimestamp'] = old.deletionTimestamp
  if (old.deletionGracePeriodSeconds !== undefined)
    metadata['deletionGracePeriodSeconds'] ??= old.deletionGracePeriodSeconds
}

function keepField(target: JsonObjectDraft, source: JsonObject, field: string): void {
  if (source[field] === undefined) delete target[field]
  else target[field] = source[field]
}

function restore(object: ObjectDraft, old: UnstructuredObject, field: string): void {
  keepField(object, old, field)
}

function hasStatus({ subresources }: Resource): boolean {
  return subresources.some(({ name }) => name === 'status')
}

/** The node of a Pod is a result of scheduling, not a wish of its author: a binding keeps the generation. */
function countsGeneration(subresource: string | undefined): boolean {
  return subresource !== 'status' && subresource !== 'binding'
}

function changesSpec(object: ObjectDraft, old: UnstructuredObject, resource: Resource): boolean {
  if (resource.strategy.changesGeneration) return resource.strategy.changesGeneration(object, old)
  const ignored = hasStatus(resource) ? ['metadata', 'status'] : ['metadata']
  const fields = new Set([...Object.keys(object), ...Object.keys(old)])
  return [...fields].some((field) => !ignored.includes(field) && !deepEqual(object[field], old[field]))
}

// Built-in kinds refuse such names; custom ones only get a warning.
function warnAboutFinalizers(
  { finalizers }: JsonObjectDraft,
  { context: { warnings }, target: { resource } }: StrategyContext,
): void {
  if (!resource.custom || !Array.isArray(finalizers)) return
  for (const text of finalizerWarnings(
    finalizers.filter((name) => typeof name === 'string'),
    FieldPath.of('metadata', 'finalizers'),
  ))
    warnings.add(text)
}

function dedupeOwners(metadata: JsonObjectDraft, { warnings }: Pick<RequestContext, 'warnings'>): void {
  const references = metadata['ownerReferences']
  if (!Array.isArray(references) || references.length < 2) return
  const { kept, duplicateUids } = dedupeOwnerReferences(references)
  if (duplicateUids.length === 0) return
  warnings.add(
    `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${duplicateUids.join(', ')}`,
  )
  metadata['ownerReferences'] = kept
}

/** Restores everything that a write to `part` may not change. Subresources with their own type are left alone. */
function keepOnlySubresource(
  part: string,
  object: ObjectDraft,
  { old, resource }: { old: UnstructuredObject; resource: Resource },
): void {
  switch (part) {
    case 'status':
    case 'approval':
      restoreExcept(object, old, ['status', 'metadata'])
      keepStatusMetadata(object, old, resource)
      break
    case 'finalize':
      restoreExcept(object, old, ['spec', 'metadata'])
      break
    case 'ephemeralcontainers':
      keepInSpec(object, old, (next) => ({ ephemeralContainers: next['ephemeralContainers'] }))
      break
    case 'resize':
      keepInSpec(object, old, (next, before) => ({ containers: resized(before['containers'], next['containers']) }))
      break
    default:
  }
}

/** Subresources whose rules differ from those of the whole object. */
export const subresourcesWithOwnRules: ReadonlySet<string> = new Set(['binding', 'ephemeralcontainers', 'resize'])

function restoreExcept(object: ObjectDraft, old: UnstructuredObject, free: readonly string[]): void {
  for (const field of new Set([...Object.keys(object), ...Object.keys(old)]))
    if (!free.includes(field)) keepField(object, old, field)
}

// Most built-in kinds accept metadata changes in a status write; some keep all of it, or a part. Custom ones keep all.
function keepStatusMetadata(object: ObjectDraft, old: UnstructuredObject, { custom, strategy: rules }: Resource): void {
  const kept = old.metadata
  if (custom || rules.statusKeeps === 'metadata') {
    const metadata: ObjectMetaDraft = { ...kept }
    for (const field of ['resourceVersion', 'managedFields']) keepField(metadata, object.metadata, field)
    object.metadata = metadata
  } else if (rules.statusKeeps !== undefined) keepField(object.metadata, kept, rules.statusKeeps)
}

function keepInSpec(
  object: ObjectDraft,
  old: UnstructuredObject,
  change: (next: JsonObject, before: JsonObject) => JsonObjectDraft,
): void {
  const [next, before] = [objectOf(object['spec']), objectOf(old['spec'])]
  const spec = { ...before, ...change(next, before) }
  restoreExcept(object, old, ['metadata'])
  object['spec'] = parseJson(stringifyJson(spec)) as JsonObject
}

function resized(before: JsonValue | undefined, next: JsonValue | undefined): JsonValue {
  // Of several containers with one name, the first counts.
  const wanted = new Map(
    listOf(next)
      .toReversed()
      .map((one) => [objectOf(one)['name'], one]),
  )
  return listOf(before).map((container) => {
    const same = wanted.get(objectOf(container)['name'])
    return same === undefined ? container : { ...objectOf(container), resources: objectOf(same)['resources'] ?? {} }
  })
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
