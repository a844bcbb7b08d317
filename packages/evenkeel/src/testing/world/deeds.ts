/**
 * What somebody else does to the world: the user, another controller, an administrator with an editor.
 *
 * Each is carried out at once and in full; that the object is not there (any more) is not an error.
 */
import { isAlreadyExists, isConflict, isForbidden, isInvalid, isNotFound } from '#api'
import type { JsonObject, JsonValue, UnstructuredObject } from '#api'
import type { Client } from '#client'
import type { Deed, ObjectPlace } from '../faults/deviation.ts'

/** The mark of somebody else: whoever takes it away has overwritten what is not theirs. */
export const foreignMark = 'somebody-else.example.com/mark'
/** On what somebody else made beside the children, to look like one. */
export const neighbourLabel = 'somebody-else.example.com/neighbour'
export const foreignFinalizer = 'somebody-else.example.com/hold'

type ForeignDeed = Extract<Deed, { readonly object: ObjectPlace }>

/** @returns whether it was possible */
export async function doDeed(deed: ForeignDeed, client: Client): Promise<boolean> {
  try {
    const { apiVersion, kind, namespace, name } = deed.object
    const place = { name, ...namespace !== '' && { namespace } }
    const object = await client.find({ apiVersion, kind }, place) as UnstructuredObject | undefined
    if (object === undefined) return false
    await carryOut(deed.type, object, client)
    return true
  } catch (error) {
    if (isNotFound(error) || isConflict(error) || isForbidden(error) || isInvalid(error) || isAlreadyExists(error)) return false
    throw error
  }
}

async function carryOut(type: ForeignDeed['type'], object: UnstructuredObject, client: Client): Promise<void> {
  switch (type) {
    case 'delete':
      await client.delete(object)
      return
    case 'recreate':
      await client.delete(object)
      await client.create(asNew(object))
      return
    case 'neighbour':
      await client.create(neighbourOf(object))
      return
    case 'touch':
      await client.patch(object, { metadata: { annotations: { [foreignMark]: 'set' }, labels: { [foreignMark]: 'set' } } })
      return
    case 'finalize':
      if (object.metadata.deletionTimestamp !== undefined) return
      await client.patch(object, { metadata: { finalizers: [...object.metadata.finalizers ?? [], foreignFinalizer] } })
      return
    default:
      await client.update({ ...object, ...drifted(object) })
  }
}

/** The same labels and contents under another name, without an owner. */
function neighbourOf(object: UnstructuredObject): UnstructuredObject {
  const { metadata, ...rest } = asNew(object)
  return { ...rest, metadata: { ...metadata, name: `${object.metadata.name ?? ''}-neighbour`, annotations: { ...metadata.annotations, [neighbourLabel]: 'yes' } } } as UnstructuredObject
}

/** Takes the foreign finalizers away again, so that the world can end. */
export async function releaseForeign(objects: Iterable<UnstructuredObject>, client: Client): Promise<void> {
  for (const object of objects) {
    const { finalizers = [] } = object.metadata
    if (!finalizers.includes(foreignFinalizer)) continue
    await client.patch(object, { metadata: { finalizers: finalizers.filter((name) => name !== foreignFinalizer) } }).catch(() => undefined)
  }
}

function asNew({ metadata: { name, namespace, labels, annotations }, status: _, ...rest }: UnstructuredObject): UnstructuredObject {
  return { ...rest, metadata: { name, ...namespace !== undefined && { namespace }, ...labels && { labels }, ...annotations && { annotations } } } as UnstructuredObject
}

/** The same object with one value changed that a controller may have set: the first text or number outside metadata and status. */
function drifted(object: UnstructuredObject): JsonObject {
  for (const [field, value] of Object.entries(object)) {
    if (['apiVersion', 'kind', 'metadata', 'status', 'type', 'immutable'].includes(field)) continue
    const changed = otherwise(value as JsonValue)
    if (changed !== undefined) return { [field]: changed }
  }
  return {}
}

function otherwise(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string') return /^[A-Za-z0-9+/]+=*$/.test(value) && value.length % 4 === 0 ? 'ZHJpZnQ=' : `${value}-drifted`
  if (typeof value === 'boolean' || value === null || value === undefined) return undefined
  if (Array.isArray(value)) return undefined
  for (const [name, inner] of Object.entries(value as JsonObject)) {
    const changed = otherwise(inner)
    if (changed !== undefined) return { ...value as JsonObject, [name]: changed }
  }
  return undefined
}
