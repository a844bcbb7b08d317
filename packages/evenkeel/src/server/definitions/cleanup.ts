/**
 * The end of a definition: its instances go first.
 */
import { isNotFound } from '#api'
import type { ServerContext } from '../call.ts'
import { inStorageVersion } from '../convert.ts'
import type { Resource } from '../resources/resource.ts'
import { StoredObject } from '../storage/bytes.ts'
import { keyPrefix } from '../storage/keys.ts'
import { deleteObject } from '../walks/remove.ts'

const deleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  uid: undefined,
  resourceVersion: undefined,
}

/** Deletes every object of a resource; gives how many are still there because something keeps them. */
export async function deleteInstances(resource: Resource, server: ServerContext): Promise<number> {
  const prefix = keyPrefix(server.cluster, resource.storage)
  const range = await server.store.range(prefix)
  if (!range.ok) return 1
  for (const { value, revision } of range.entries) {
    const {
      metadata: { name = '', namespace = '' },
    } = new StoredObject(value, revision).object
    await deleteObject({ resource: inStorageVersion(resource), name, namespace }, deleteOptions, server).catch(
      (error: unknown) => {
        if (!isNotFound(error)) throw error
      },
    )
  }
  const left = await server.store.range(prefix, { limit: 1 })
  return left.ok ? left.entries.length + left.remaining : 1
}
