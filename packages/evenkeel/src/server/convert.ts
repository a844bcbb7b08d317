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

/** Whether objects go out as they lie in the store. */
export function isStoredForm({ group, version, kind, storage }: Resource): boolean {
  return group === storage.group && version === storage.version && kind === storage.kind
}

/** `apiVersion` and `kind` of the form a resource is kept in. */
export function storedType({ storage }: Resource): { apiVersion: string, kind: string } {
  return { apiVersion: formatApiVersion(storage), kind: storage.kind }
}

/** `apiVersion` and `kind` of the form a resource is served in. */
export function servedType(resource: Resource): { apiVersion: string, kind: string } {
  return { apiVersion: formatApiVersion(resource), kind: resource.kind }
}

/** An object from the store, in the form that is asked for. */
export function toServed(object: UnstructuredObject, resource: Resource): UnstructuredObject {
  if (isStoredForm(resource)) return object
  const converted = converterFor(resource)?.fromStored(object) ?? object
  return { ...converted, ...servedType(resource) } as UnstructuredObject
}

/** An object as a client wrote it, in the form it is kept in. */
export function toStored(object: JsonObject, resource: Resource): JsonObject {
  if (isStoredForm(resource)) return object
  const converted = converterFor(resource)?.toStored(object as UnstructuredObject) ?? object
  return { ...converted, ...storedType(resource) } as JsonObject
}
