/**
 * The Processes that an object of this package owns: what Tasks and ProcessSets do with them.
 */
import { isConditionTrue, type Client, type KubeObject } from 'evenkeel'
import type { Children } from 'evenkeel/verbs'
import type { ProcessObject } from './process-kind.ts'

/** The number of a Process among those of its owner. */
export const indexLabel = 'workloads.evenkeel.dev/index'

/** By their number. */
export function ownedProcesses(children: Pick<Children, 'list'>): readonly ProcessObject[] {
  return children
    .list()
    .filter((child): child is ProcessObject => child.kind === 'Process')
    .toSorted((a, b) => indexOf(a) - indexOf(b))
}

export function indexOf({ metadata: { labels } }: Pick<KubeObject, 'metadata'>): number {
  return Number(labels?.[indexLabel] ?? 0)
}

export function isDeleting({ metadata }: Pick<KubeObject, 'metadata'>): boolean {
  return metadata.deletionTimestamp !== undefined
}

/** Whether its last run ended for good: no further one starts by itself. */
export function hasSucceeded({ status }: ProcessObject): boolean {
  return isConditionTrue(status?.conditions, 'Completed')
}

export function hasFailed({ status, metadata }: ProcessObject): boolean {
  return status?.phase === 'Failed' && status.observedGeneration === metadata.generation
}

/** Why a Process with nothing left to try has failed; with any other reason (`NotFound`) it is looked at again. */
const finalReasons: ReadonlySet<string> = new Set([
  'ExitCode',
  'Signaled',
  'RestartLimit',
  'AdoptedExitUnknown',
  'StartUnknown',
])

/** Whether it never starts again by itself. */
export function isAtRest(process: ProcessObject): boolean {
  if (isDeleting(process)) return false
  const reason = process.status?.conditions?.find(({ type }) => type === 'Ready')?.reason ?? ''
  return hasSucceeded(process) || (hasFailed(process) && finalReasons.has(reason))
}

/**
 * Ends the Processes of an object that is being deleted, so that it is gone when they are. With the policy Orphan they stay.
 *
 * @returns what is left
 */
export async function endOwned(
  owner: KubeObject,
  context: RemoveContext & { readonly children: Pick<Children, 'list'> },
): Promise<readonly ProcessObject[]> {
  if (owner.metadata.finalizers?.includes('orphan')) return []
  const processes = ownedProcesses(context.children)
  for (const process of processes) await removeOwned(process, context)
  return processes
}

interface RemoveContext {
  readonly client: Pick<Client, 'delete'>
  readonly signal: AbortSignal
}

/** Deletes exactly this object, unless that has begun. `Foreground`: it goes after everything that it owns. */
export async function removeOwned(
  object: KubeObject,
  { client, signal }: RemoveContext,
  { propagationPolicy = 'Background' }: { readonly propagationPolicy?: 'Background' | 'Foreground' } = {},
): Promise<void> {
  const { uid } = object.metadata
  if (isDeleting(object)) return
  await client.delete(object, {
    ...(uid !== undefined && { preconditions: { uid } }),
    propagationPolicy,
    ignoreNotFound: true,
    signal,
  })
}
