/**
 * What a write to a part of an object may change: everything else is put back as it was.
 */
import { isJsonObject } from '#api'
import type { JsonObject, JsonObjectDraft, JsonValue, UnstructuredObject } from '#api'
import type { ObjectDraft, Resource } from '../resources/resource.ts'

/** Puts back what a write to `part` may not touch. Parts that are no part of the object itself are left alone. */
export function keepOnlySubresource(
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

/** Parts whose rules are not those of the whole object. */
export const subresourcesWithOwnRules: ReadonlySet<string> = new Set(['binding', 'ephemeralcontainers', 'resize'])

function restoreExcept(object: ObjectDraft, old: UnstructuredObject, free: readonly string[]): void {
  const kept = old as unknown as JsonObjectDraft
  for (const field of new Set([...Object.keys(object), ...Object.keys(kept)])) {
    if (free.includes(field)) continue
    if (kept[field] === undefined) delete object[field]
    else object[field] = kept[field]
  }
}

// Most built-in kinds let metadata pass with the status; some keep all of it, or a part. Custom ones keep all.
function keepStatusMetadata(object: ObjectDraft, old: UnstructuredObject, { custom, strategy: rules }: Resource): void {
  const kept = old.metadata as unknown as JsonObjectDraft
  const { resourceVersion, managedFields } = object.metadata
  if (custom || rules.statusKeeps === 'metadata') object.metadata = { ...kept, resourceVersion, managedFields }
  else if (rules.statusKeeps !== undefined) {
    const { [rules.statusKeeps]: value } = kept
    if (value === undefined) delete object.metadata[rules.statusKeeps]
    else object.metadata[rules.statusKeeps] = value
  }
}

function keepInSpec(
  object: ObjectDraft,
  old: UnstructuredObject,
  change: (next: JsonObject, before: JsonObject) => JsonObjectDraft,
): void {
  const [next, before] = [objectOf(object['spec']), objectOf(old['spec'] as JsonValue | undefined)]
  const spec = { ...before, ...change(next, before) }
  restoreExcept(object, old, ['metadata'])
  object['spec'] = JSON.parse(JSON.stringify(spec)) as JsonObject
}

function resized(before: JsonValue | undefined, next: JsonValue | undefined): JsonValue {
  const wanted = listOf(next)
  return listOf(before).map((container) => {
    const same = wanted.find((one) => objectOf(one)['name'] === objectOf(container)['name'])
    return same === undefined ? container : { ...objectOf(container), resources: objectOf(same)['resources'] ?? {} }
  })
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
