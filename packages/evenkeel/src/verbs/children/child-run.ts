/**
 * What the parts of one run share: the parent, whom to ask, and what the controller keeps from run to run and may lose.
 */
import { isApiError } from '#api'
import type { Owner } from '#api'
import type { BaseContext, PluginRun } from '#controller'
import type { AppliedCache } from './making/likeness.ts'
import type { ChildWatches } from './watches.ts'

export interface ChildRun {
  readonly base: BaseContext
  readonly run: PluginRun
  readonly parent: Owner
  /** Under which name it reports, where another controller has reported children of this kind of parent before it. */
  readonly reporter: string | undefined
  readonly applied: AppliedCache
  readonly watches: ChildWatches
}

/** What the cache says; undefined when it does not hold that, or not yet. */
export function ifCached<T>(read: () => T): { readonly value: T } | undefined {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof RangeError || isApiError(error)) return undefined
    throw error
  }
}

/** The parent as we know it now, our own writes of this run included. */
export function newestParent({ run, parent }: ChildRun): Owner {
  const { name, namespace, uid } = parent.metadata
  const newest = ifCached(() => run.cache.find(run.kind, { name, ...(namespace !== undefined && { namespace }) }))
    ?.value as Owner | undefined
  return newest?.metadata.uid === uid ? (newest as Owner) : parent
}
