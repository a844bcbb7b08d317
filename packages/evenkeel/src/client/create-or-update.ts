/**
 * Writes that read first: add and remove finalizers, create or update.
 *
 * Each looks at its argument before it sends a request, writes only if something changes, with the resourceVersion it
 * read, and reads again after a conflict. `retryOnConflict` has the numbers of client-go: five attempts, ten milliseconds
 * and a little more between them.
 */
import {
  addFinalizer,
  deepEqual,
  hasFinalizer,
  isAlreadyExists,
  isConflict,
  notFound,
  removeFinalizer,
  type KubeObject,
} from '#api'
import { randomFraction, sleep, type AbortOptions, type Clock, type Random } from '#base'
import { isObjectMissing, locate, type ClientCore } from './core.ts'
import { findObject, getObject } from './reads.ts'
import type { CreateOptions, WriteOptions } from './request-options.ts'
import { nameOf } from './resource.ts'
import { createObject, patchDifference, updateObject, withOwner } from './writes.ts'

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
  return await changing(core, object, { ...options, change: (current) => addFinalizer(current, finalizer) })
}

/** Returns undefined when the object is deleted, which its last finalizer may have held back. */
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

/** Creates the object, or changes the existing one to the desired state. */
export async function createOrUpdate(
  core: ClientCore,
  seed: KubeObject,
  { change, ...options }: CreateOptions & { change: (current: KubeObject) => KubeObject },
): Promise<CreateOrUpdateResult<KubeObject>> {
  const { owner, ...rest } = options
  return await retryOnConflict(
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
  return await retryOnConflict(
    async (attempt) => {
      const current = attempt === 0 && object.metadata.resourceVersion ? object : await reread(core, object, options)
      return await patchDifference(core, { object: current }, { ...options, to: change(current) })
    },
    { clock: core.clock, random: core.random, signal: options.signal },
  )
}

/** The current object. @throws {ApiError} `NotFound`, also when another object has its name now. */
async function reread(core: ClientCore, object: KubeObject, options: WriteOptions): Promise<KubeObject> {
  const current = await getObject(core, object, { key: nameOf(object), options: { signal: options.signal } })
  if (object.metadata.uid && current.metadata.uid !== object.metadata.uid) {
    const { resource } = await locate(core, object, { key: nameOf(object), signal: options.signal })
    throw notFound({ group: resource.group, kind: resource.plural, name: nameOf(object).name })
  }
  return current
}

interface RetryOnConflictOptions extends AbortOptions {
  readonly clock: Clock
  readonly random: Random
  /** @default 5 */
  readonly attemptsMax?: number
  /**
   * Which errors are retried.
   *
   * @default conflicts
   */
  readonly isRetried?: (error: unknown) => boolean
}

/** Calls until there is no conflict; `attempt` counts from 0, and must read again when it is above that. */
export async function retryOnConflict<T>(
  change: (attempt: number) => Promise<T>,
  { clock, random, signal, attemptsMax = 5, isRetried = isConflict }: RetryOnConflictOptions,
): Promise<T> {
  if (!(attemptsMax >= 1)) throw new RangeError(`attemptsMax must be at least 1, got ${attemptsMax}`)
  for (let attempt = 0; ; attempt++) {
    try {
      return await change(attempt)
    } catch (error) {
      if (!isRetried(error) || attempt + 1 >= attemptsMax) throw error
      await sleep(clock, 10 * (1 + 0.1 * randomFraction(random)), { signal })
    }
  }
}
