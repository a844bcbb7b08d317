/**
 * Conversion between the stored version of an object and the served one.
 *
 * Most resources are served in the stored version: nothing is done and the stored bytes are sent. Two versions of a
 * kind differ at least in `apiVersion`; kinds with more differences have a converter. Converters of custom kinds may
 * be asynchronous: {@link prepareConversions} waits for them, and then {@link toServed} has the result. Without such
 * a converter nothing waits.
 */
import { formatApiVersion, type UnstructuredObject } from '#api'
import { converterFor, type Resource } from '#builtins'
import type { StoredObject } from './stored-object.ts'

/** Whether objects go out as they lie in the store. */
export function isStorageVersion({ group, version, kind, storage }: Resource): boolean {
  return group === storage.group && version === storage.version && kind === storage.kind
}

/** `apiVersion` and `kind` of the form a resource is kept in. */
function storageType({ storage }: Resource): { apiVersion: string; kind: string } {
  return { apiVersion: formatApiVersion(storage), kind: storage.kind }
}

/** `apiVersion` and `kind` of the form a resource is served in. */
export function servedType(resource: Resource): { apiVersion: string; kind: string } {
  return { apiVersion: formatApiVersion(resource), kind: resource.kind }
}

/**
 * Whether a stored object can be sent as it lies there: it is kept in the form that is served, and was written since the
 * definition of its kind last changed.
 */
export function isCurrent(stored: StoredBytes, resource: Resource): boolean {
  return isStorageVersion(resource) && isFresh(stored, resource)
}

type StoredBytes = Pick<StoredObject, 'bytes' | 'writtenAt'>

/**
 * Whether an object lies in the store as it would be written today. Where there are several versions its own bytes are
 * asked as well: a writer that had not heard of a new stored version yet may have written after it.
 */
export function isFresh({ bytes, writtenAt }: StoredBytes, { reading }: Resource): boolean {
  if (reading === undefined) return true
  return (
    writtenAt > reading.since &&
    (reading.type === undefined || Buffer.compare(reading.type, bytes.subarray(0, reading.type.byteLength)) === 0)
  )
}

/** An object from the store, in the form that is asked for. What has to be converted must have been prepared. */
export function toServed(stored: StoredObject, resource: Resource): UnstructuredObject {
  if (isCurrent(stored, resource)) return stored.object
  if (resource.reading)
    return (
      converted.get(stored)?.get(resource) ??
      resource.reading.read(stored.object, resource.version, { isTidy: isFresh(stored, resource) })
    )
  const object = converterFor(resource)?.fromStored(stored.object) ?? stored.object
  return { ...object, ...servedType(resource) } as UnstructuredObject
}

/** Results of converters, as long as the stored objects are referenced. */
const converted = new WeakMap<StoredObject, Map<Resource, UnstructuredObject>>()
const converting = new WeakMap<StoredObject, Promise<void>>()

interface PrepareConversionsOptions {
  /** The objects are exactly what the store holds, so an earlier conversion will do. */
  readonly reuse?: boolean
}

/**
 * Prepares objects for {@link toServed}; returns undefined when they are ready, so that the caller does not wait.
 *
 * @throws {ApiError} 500, when a converter failed.
 */
export function prepareConversions(
  items: readonly StoredObject[],
  resource: Resource,
  { reuse = false }: PrepareConversionsOptions = {},
): Promise<void> | undefined {
  const convert = resource.reading?.convert
  if (convert === undefined) return undefined
  const { apiVersion } = servedType(resource)
  const missing = items.filter(
    (stored) =>
      !isCurrent(stored, resource) && stored.object.apiVersion !== apiVersion && !converted.get(stored)?.has(resource),
  )
  return missing.length === 0 ? undefined : convertAll(missing, resource, { reuse })
}

async function convertAll(
  items: readonly StoredObject[],
  resource: Resource,
  { reuse = false }: PrepareConversionsOptions,
): Promise<void> {
  // Many who watch the same hold the same objects: one of them asks.
  const others = new Set(items.flatMap((stored) => converting.get(stored) ?? []))
  await Promise.allSettled(others)
  const missing = items.filter((stored) => !converted.get(stored)?.has(resource))
  if (missing.length === 0) return
  const work = requestConversions(missing, resource, { reuse })
  for (const stored of missing) converting.set(stored, work)
  await work
}

async function requestConversions(
  items: readonly StoredObject[],
  resource: Resource,
  options: PrepareConversionsOptions,
): Promise<void> {
  const objects =
    (await resource.reading?.convert?.(
      items.map(({ object }) => object),
      resource.version,
      options,
    )) ?? []
  for (const [index, stored] of items.entries()) {
    const object = objects[index]
    if (object !== undefined) conversionsOf(stored).set(resource, object)
  }
}

function conversionsOf(stored: StoredObject): Map<Resource, UnstructuredObject> {
  let objects = converted.get(stored)
  if (objects === undefined) converted.set(stored, (objects = new Map()))
  return objects
}

/** An object of a built-in kind, in another version. */
export function convertBetween(object: UnstructuredObject, from: Resource, to: Resource): UnstructuredObject {
  const stored = builtinToStored(object, from)
  const converted = isStorageVersion(to) ? stored : (converterFor(to)?.fromStored(stored) ?? stored)
  return { ...converted, ...servedType(to) } as UnstructuredObject
}

/**
 * An object as a client wrote it, in the form it is kept in.
 *
 * @throws {ApiError} 500, when a converter failed.
 */
export function toStored(
  object: UnstructuredObject,
  resource: Resource,
): UnstructuredObject | Promise<UnstructuredObject> {
  const { reading, storage } = resource
  if (isStorageVersion(resource)) return object
  if (reading === undefined) return builtinToStored(object, resource)
  // Defaults of the stored version are stored too, for clients that read that version.
  const complete = (kept: UnstructuredObject): UnstructuredObject => reading.read(kept, storage.version)
  if (reading.convert === undefined) return complete(reading.read(object, storage.version))
  return reading.convert([object], storage.version).then(([kept = object]) => complete(kept))
}

/**
 * What takes the place of a stored object, complete by the definition of today: what was put back from one that was
 * written under an earlier definition lacks defaults that are new.
 */
export function completeWithDefaults(
  object: UnstructuredObject,
  stored: StoredObject,
  resource: Resource,
): UnstructuredObject {
  if (resource.reading === undefined || isFresh(stored, resource)) return object
  return resource.reading.read(object, resource.version)
}

function builtinToStored(object: UnstructuredObject, resource: Resource): UnstructuredObject {
  if (isStorageVersion(resource)) return object
  const converted = converterFor(resource)?.toStored(object) ?? object
  return { ...converted, ...storageType(resource) } as UnstructuredObject
}

const storageVersions = new WeakMap<Resource, Resource>()

/** A resource as if it were served in the form it is kept in: for work on what lies in the store. */
export function inStorageVersion(resource: Resource): Resource {
  if (isStorageVersion(resource)) return resource
  let form = storageVersions.get(resource)
  if (form === undefined) {
    const {
      storage: { group, version, kind },
    } = resource
    storageVersions.set(resource, (form = { ...resource, group, version, kind }))
  }
  return form
}
