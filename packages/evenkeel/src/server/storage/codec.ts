/**
 * Conversion between the stored version of an object and the served one.
 *
 * Most resources are served in the stored version: nothing is done and the stored bytes are sent. Two versions of a
 * kind differ at least in `apiVersion`; kinds with more differences have a converter. Converters of custom kinds may
 * be asynchronous: {@link prepareConversions} waits for them, and then {@link toServed} has the result. Without such
 * a converter nothing waits.
 */
import { formatApiVersion, type UnstructuredObject } from '#api'
import { converterFor, type Resource } from '@evenkeel/builtins'
import type { StoredObject } from './stored-object.ts'

/** Whether objects are served in their stored version. */
export function isStorageVersion({ group, version, kind, storage }: Resource): boolean {
  return group === storage.group && version === storage.version && kind === storage.kind
}

/** `apiVersion` and `kind` of the stored version. */
function storageType({ storage }: Resource): { apiVersion: string; kind: string } {
  return { apiVersion: formatApiVersion(storage), kind: storage.kind }
}

/** `apiVersion` and `kind` of the served version. */
export function servedType(resource: Resource): { apiVersion: string; kind: string } {
  return { apiVersion: formatApiVersion(resource), kind: resource.kind }
}

/**
 * Whether the stored bytes can be sent as they are: they are in the served version, and were written after the last
 * change of the CRD.
 */
export function isCurrent(stored: StoredBytes, resource: Resource): boolean {
  return isStorageVersion(resource) && isFresh(stored, resource)
}

type StoredBytes = Pick<StoredObject, 'bytes' | 'writtenAt'>

/**
 * Whether an object is stored as it would be written now. With several versions its own bytes are checked as well: a
 * server that had not seen the new storage version yet may have written after the change.
 */
export function isFresh({ bytes, writtenAt }: StoredBytes, { reading }: Resource): boolean {
  if (reading === undefined) return true
  return (
    writtenAt > reading.since &&
    (reading.type === undefined || Buffer.compare(reading.type, bytes.subarray(0, reading.type.byteLength)) === 0)
  )
}

/** A stored object in the requested version. A necessary conversion must have been prepared. */
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
  /** The objects are exactly those of the store, so an earlier conversion can be reused. */
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
  // Watchers of the same resource share objects: one of them converts.
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
 * An object of a client, converted to the stored version.
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
  // Defaults of the stored version are stored too, for clients that read that version. Those of its own version were set
  // when it was decoded: parts that were restored from the stored object must not get them here.
  const complete = (kept: UnstructuredObject): UnstructuredObject => reading.read(kept, storage.version)
  if (reading.convert === undefined) return complete(reading.read(object, storage.version, { isTidy: true }))
  return reading.convert([object], storage.version, { isTidy: true }).then(([kept = object]) => complete(kept))
}

/**
 * Completes an object of the stored version that replaces one of an older CRD: parts restored from the old object may
 * lack new defaults. Restored parts never get the defaults of another version; {@link toStored} adds those of the stored
 * one.
 */
export function completeWithDefaults(
  object: UnstructuredObject,
  stored: StoredObject,
  resource: Resource,
): UnstructuredObject {
  if (resource.reading === undefined || !isStorageVersion(resource) || isFresh(stored, resource)) return object
  return resource.reading.read(object, resource.version)
}

function builtinToStored(object: UnstructuredObject, resource: Resource): UnstructuredObject {
  if (isStorageVersion(resource)) return object
  const converted = converterFor(resource)?.toStored(object) ?? object
  return { ...converted, ...storageType(resource) } as UnstructuredObject
}

const storageVersions = new WeakMap<Resource, Resource>()

/** A resource as if it were served in its stored version: for work on stored objects. */
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
