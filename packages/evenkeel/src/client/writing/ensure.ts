/**
 * Writes that read first: finalizers on and off, create or update.
 *
 * Each looks at what it was given before it asks anybody, writes only if something changes, locks what it writes, and
 * reads again after a conflict.
 */
import { addFinalizer, deepEqual, hasFinalizer, isAlreadyExists, isConflict, notFound, removeFinalizer } from '#api'
import type { KubeObject } from '#api'
import type { CreateOptions, WriteOptions } from '../options.ts'
import { isObjectMissing, locate } from '../core.ts'
import type { ClientCore } from '../core.ts'
import { findObject, getObject } from '../reading.ts'
import { nameOf } from './object-ref.ts'
import { retryOnConflict } from './retry-on-conflict.ts'
import { createObject, withOwner, patchDifference, updateObject } from './send.ts'

/** What {@link createOrUpdate} did. */
export interface CreateOrUpdateResult<T> {
  readonly object: T
  readonly operation: 'created' | 'updated' | 'unchanged'
}

/** @throws {RangeError} when the object is being deleted: no finalizer can be added then, and nothing is sent. */
export async function ensureFinalizer(
  core: ClientCore,
  object: KubeObject,
  { finalizer, ...options }: WriteOptions & { finalizer: string },
): Promise<KubeObject> {
  if (hasFinalizer(object, finalizer)) return object
  return changing(core, object, { ...options, change: (current) => addFinalizer(current, finalizer) })
}

/** Gives undefined when the object is gone, which is what its last finalizer waited for. */
export async function dropFinalizer(
  core: ClientCore,
  object: KubeObject,
  { finalizer, ...options }: WriteOptions & { finalizer: string },
): Promise<KubeObject | undefined> {
  if (!hasFinalizer(object, finalizer)) return object
  try {
    return await changing(core, object, { ...options, change: (current) => removeFinalizer(current, finalizer) })
  } catch (error) {
    if (isObjectMissing(error)) return undefined
    throw error
  }
}

/** Creates the object, or brings the one that is there into the wanted state. */
export async function createOrUpdate(
  core: ClientCore,
  seed: KubeObject,
  { change, ...options }: CreateOptions & { change: (current: KubeObject) => KubeObject },
): Promise<CreateOrUpdateResult<KubeObject>> {
  const { owner, ...rest } = options
  return retryOnConflict(
    async () => {
      const current = await findObject(core, seed, { key: nameOf(seed), options: { signal: options.signal } })
      if (current === undefined)
        return { object: await createObject(core, { object: change(seed) }, options), operation: 'created' }
      const wanted = withOwner(change(current), owner)
      if (nameOf(wanted).name !== nameOf(current).name)
        throw new RangeError(`the change of ${current.kind} ${nameOf(current).name} must not rename it`)
      if (deepEqual(current, wanted)) return { object: current, operation: 'unchanged' }
      return { object: await updateObject(core, { object: wanted }, rest), operation: 'updated' }
    },
    {
      clock: core.clock,
      random: core.random,
      signal: options.signal,
      isRetried: (error) => isConflict(error) || isAlreadyExists(error),
    },
  )
}

async function changing(
  core: ClientCore,
  object: KubeObject,
  { change, ...options }: WriteOptions & { change: (current: KubeObject) => KubeObject },
): Promise<KubeObject> {
  return retryOnConflict(
    async (attempt) => {
      const current = attempt === 0 && object.metadata.resourceVersion ? object : await reread(core, object, options)
      return patchDifference(core, { object: current }, { ...options, to: change(current) })
    },
    { clock: core.clock, random: core.random, signal: options.signal },
  )
}

/** The object as it is now. @throws {ApiError} `NotFound`, also when another one has taken its name. */
async function reread(core: ClientCore, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
  const current = await getObject(core, object, { key: nameOf(object), options: { signal: options.signal } })
  if (object.metadata.uid && current.metadata.uid !== object.metadata.uid) {
    const { resource } = await locate(core, object, { key: nameOf(object), signal: options.signal })
    throw notFound({ group: resource.group, kind: resource.plural, name: nameOf(object).name })
  }
  return current
}
