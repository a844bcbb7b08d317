/**
 * The shape every object has: type, metadata, and what a server adds when it stores one.
 *
 * Everything is readonly: objects read from a server are frozen and shared, and the functions of this layer give back
 * new objects that share what did not change.
 *
 * The parts of metadata are type aliases, not interfaces: TypeScript gives only aliases an implicit index signature, and
 * that makes every {@link UnstructuredObject} a `JsonObject` without a cast.
 */
import type { JsonObject, JsonValue } from '@evenkeel/cel/primitives'

/** The kind of an object and the group and version that its fields are from, as every object names them. */
export type TypeMeta = {
  readonly apiVersion: string
  readonly kind: string
}

/** Who an object belongs to; the garbage collector follows `uid`, never `name`. */
export type OwnerReference = TypeMeta & {
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** Which fields one manager has written, in the notation of server-side apply. */
export type ManagedFieldsEntry = {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: 'FieldsV1'
  readonly fieldsV1?: JsonObject
  readonly subresource?: string
}

/** What a client may say about an object, and what the server says back. Times are RFC 3339 texts. */
export type ObjectMeta = {
  readonly name?: string
  readonly generateName?: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string | null
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
  readonly selfLink?: string
}

export type ListMeta = {
  readonly resourceVersion?: string
  readonly continue?: string
  readonly remainingItemCount?: number
  readonly selfLink?: string
}

/** Any object of any kind. */
export type KubeObject = TypeMeta & {
  readonly metadata: ObjectMeta
}

/** An object whose kind is not known at compile time: everything beside type and metadata is plain JSON. */
export interface UnstructuredObject extends KubeObject {
  readonly [field: string]: JsonValue | undefined
}

/** What is always there once a server has stored an object. */
type StoredMeta = ObjectMeta & {
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly creationTimestamp: string
}

/**
 * An object that was read from a server: name, uid, resourceVersion and creationTimestamp are there, and so is
 * generation if the object has a spec (ConfigMaps, Secrets, Leases and their like are not counted by the server).
 */
export type Stored<T extends KubeObject> = T & {
  readonly metadata: T extends { readonly spec: unknown } ? StoredMeta & { readonly generation: number } : StoredMeta
}

export type ObjectList<T extends KubeObject> = TypeMeta & {
  readonly metadata: ListMeta
  readonly items: readonly T[]
}

/**
 * An object as plain JSON. Every object of the API is JSON; its type only names some of the fields, which TypeScript
 * cannot see for interfaces.
 */
export function asJson(object: object): JsonObject {
  return object as JsonObject
}

/** A JSON object as an object of any kind. The caller has checked that it has metadata. */
export function asKubeObject(json: JsonObject): KubeObject {
  return json as object as KubeObject
}
