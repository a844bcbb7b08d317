/**
 * The end of a definition: its instances go first.
 */
import { isNotFound } from '#api'
import type { Rooms } from '../call.ts'
import { inStoredForm } from '../convert.ts'
import type { Resource } from '../resources/resource.ts'
import { StoredObject } from '../storage/bytes.ts'
import { keyPrefix } from '../storage/keys.ts'
import { removeObject } from '../walks/remove.ts'

const options = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  propagation: undefined,
  orphanDependents: undefined,
  uid: undefined,
  resourceVersion: undefined,
}

/** Deletes every object of a resource; gives how many are still there because something keeps them. */
export async function removeInstances(resource: Resource, rooms: Rooms): Promise<number> {
  const prefix = keyPrefix(rooms.cluster, resource.storage)
  const range = await rooms.store.range(prefix)
  if (!range.ok) return 1
  for (const { value, revision } of range.entries) {
    const {
      metadata: { name = '', namespace = '' },
    } = new StoredObject(value, revision).object
    await removeObject({ resource: inStoredForm(resource), name, namespace }, options, rooms).catch(
      (error: unknown) => {
        if (!isNotFound(error)) throw error
      },
    )
  }
  const left = await rooms.store.range(prefix, { limit: 1 })
  return left.ok ? left.entries.length + left.remaining : 1
}
