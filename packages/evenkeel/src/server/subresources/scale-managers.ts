/**
 * Who manages the count, on the way from an object to its Scale and back.
 *
 * A write to a Scale is tracked as a write of a Scale, with the managers of the count as its own; what comes out of
 * that is told to the object in its own words.
 */
import { applyConfiguration, fromScaleEntries, managedFieldsAfterUpdate, toScaleEntries } from '#api'
import type { JsonObject, JsonValue, ManagedFieldsEntry, ReplicasPaths, Schema, UnstructuredObject } from '#api'
import type { ServerContext, ResourceRef } from '../call.ts'
import { servedType } from '../convert.ts'
import type { ObjectDraft, Resource } from '../resources/resource.ts'

interface ScaleWriter {
  readonly manager: string
  readonly schema: Schema
  readonly server: Pick<ServerContext, 'clock'>
}

/** Writes into a Scale that is about to take the place of another who now manages its count. */
export function trackScale(next: ObjectDraft, live: UnstructuredObject, writer: ScaleWriter): void {
  const entries = managedFieldsAfterUpdate({
    ...managedRequestOf(writer),
    live: live as unknown as JsonObject,
    next: next as JsonObject,
  })
  setEntries(next, entries)
}

/**
 * What an applied configuration makes of a Scale.
 *
 * @throws {ApiError} `Conflict`, when another one manages the count.
 */
export function applyScale(
  config: JsonObject,
  live: UnstructuredObject,
  { force, ...writer }: ScaleWriter & { readonly force: boolean },
): JsonObject {
  return applyConfiguration({
    ...managedRequestOf(writer),
    kind: 'Scale',
    live: live as unknown as JsonObject,
    config,
    force,
  })
}

function managedRequestOf({ manager, schema, server }: ScaleWriter): {
  manager: string
  schema: Schema
  apiVersion: string
  subresource: string
  nowMs: number
} {
  return { manager, schema, apiVersion: 'autoscaling/v1', subresource: 'scale', nowMs: server.clock.now() }
}

/** A Scale with those managers of its object that manage the count. */
export function withScaleManagers(
  scale: UnstructuredObject,
  object: UnstructuredObject,
  paths: ReplicasPaths,
): UnstructuredObject {
  const managedFields = toScaleEntries(object.metadata.managedFields, paths)
  return { ...scale, metadata: { ...scale.metadata, ...(managedFields && { managedFields }) } } as UnstructuredObject
}

/** Writes into an object who manages it, after its Scale was written. */
export function takeScaleManagers(
  object: ObjectDraft,
  scale: ObjectDraft,
  { paths, apiVersion }: { paths: ReplicasPaths; apiVersion: string },
): void {
  const parent = object.metadata['managedFields'] as unknown as readonly ManagedFieldsEntry[] | undefined
  setEntries(
    object,
    fromScaleEntries(
      {
        parent,
        scale: scale.metadata['managedFields'] as unknown as readonly ManagedFieldsEntry[] | undefined,
        apiVersion,
      },
      paths,
    ),
  )
}

/** Where each version of a kind has its count. Managers of versions that have none of that are left alone. */
export function replicasPaths(
  { resource }: ResourceRef,
  { metadata: { managedFields = [] } }: UnstructuredObject,
  { registry }: Pick<ServerContext, 'registry'>,
): ReplicasPaths {
  const paths = new Map<string, readonly string[] | null>()
  for (const { apiVersion = '' } of managedFields) {
    // A version that is no longer served may still be known: what it says is kept, whatever it is.
    if (isKnownVersion(apiVersion, resource)) paths.set(apiVersion, null)
  }
  for (const other of registry.all()) {
    if (other.storage.group !== resource.storage.group || other.storage.plural !== resource.storage.plural) continue
    const hasScale = other.subresources.some(({ name }) => name === 'scale')
    paths.set(
      servedType(other).apiVersion,
      hasScale ? namesOf(other.scale?.specReplicasPath ?? '.spec.replicas') : null,
    )
  }
  return paths
}

function isKnownVersion(apiVersion: string, { group, reading }: Resource): boolean {
  return apiVersion.startsWith(`${group}/`) && reading?.schemaOf(apiVersion.slice(group.length + 1)) !== undefined
}

/** The names in a simple path. */
export function namesOf(path: string): string[] {
  return path.split('.').filter((name) => name !== '')
}

function setEntries({ metadata }: ObjectDraft, entries: readonly ManagedFieldsEntry[] | undefined): void {
  if (entries) metadata['managedFields'] = entries as unknown as JsonValue
  else delete metadata['managedFields']
}
