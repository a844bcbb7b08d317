/**
 * Room 7: what would it become? Objects between the form they are kept in and the form they are asked for.
 *
 * Most resources are served in the form they are kept in; then nothing is done and bytes can be sent as they are. Two
 * versions of one kind differ at least in `apiVersion`; kinds with more to translate bring a converter.
 */
import { formatApiVersion } from '#api'
import type { JsonObject, UnstructuredObject } from '#api'
import { converterFor } from './builtin/converters.ts'
import type { Resource } from './resources/resource.ts'
import type { StoredObject } from './storage/bytes.ts'

/** Whether objects go out as they lie in the store. */
export function isStoredForm({ group, version, kind, storage }: Resource): boolean {
  return group === storage.group && version === storage.version && kind === storage.kind
}

/** `apiVersion` and `kind` of the form a resource is kept in. */
function storedType({ storage }: Resource): { apiVersion: string, kind: string } {
  return { apiVersion: formatApiVersion(storage), kind: storage.kind }
}

/** `apiVersion` and `kind` of the form a resource is served in. */
export function servedType(resource: Resource): { apiVersion: string, kind: string } {
  return { apiVersion: formatApiVersion(resource), kind: resource.kind }
}

/**
 * Whether a stored object can be sent as it lies there: it is kept in the form that is served, and was written since the
 * definition of its kind last changed.
 */
export function isCurrent(writtenAt: number, resource: Resource): boolean {
  return isStoredForm(resource) && writtenAt > (resource.reading?.since ?? 0)
}

/** An object from the store, in the form that is asked for. */
export function toServed(stored: StoredObject, resource: Resource): UnstructuredObject {
  if (isCurrent(stored.writtenAt, resource)) return stored.object
  if (resource.reading) return resource.reading.read(stored.object)
  const converted = converterFor(resource)?.fromStored(stored.object) ?? stored.object
  return { ...converted, ...servedType(resource) } as UnstructuredObject
}

/** An object in another version of its kind. */
export function convertBetween(object: JsonObject, from: Resource, to: Resource): JsonObject {
  const stored = toStored(object, from) as unknown as UnstructuredObject
  if (to.reading) return to.reading.read(stored) as unknown as JsonObject
  const converted = isStoredForm(to) ? stored : converterFor(to)?.fromStored(stored) ?? stored
  return { ...converted, ...servedType(to) } as JsonObject
}

/** An object as a client wrote it, in the form it is kept in. */
export function toStored(object: JsonObject, resource: Resource): JsonObject {
  if (isStoredForm(resource)) return object
  const converted = converterFor(resource)?.toStored(object as UnstructuredObject) ?? object
  return { ...converted, ...storedType(resource) } as JsonObject
}
