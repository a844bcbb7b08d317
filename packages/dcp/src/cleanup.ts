/**
 * Deletes the objects of an application, consumers before what they use, and waits until they are gone.
 *
 *   ContainerExecs · ReplicaSets · Services · tunnels   at once
 *     └▶ Containers, Executables ──▶ connections ──▶ networks, volumes
 *
 * An object that another object of this group controls is left to its owner: to delete it first would make the owner
 * create another one. What is not gone in time is named in the log.
 */
import { isNotFound, type Kind, type KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { deadline, sleep, type Clock, type Logger } from 'evenkeel/unstable/base'
import { cleanupSteps } from './kinds/all.ts'
import { group } from './kinds/group.ts'

interface CleanupOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

const intervalMs = 100

/** Resolves when everything is gone, or the time is over. */
export async function deleteApplication(client: Client, options: CleanupOptions): Promise<void> {
  const { clock, log, timeoutMs } = options
  const { signal, done } = deadline(clock, timeoutMs, { signal: options.signal })
  const gone = new Map<Kind, Promise<void>>()
  for (const { kind, after } of cleanupSteps) {
    const earlier = after.map((one) => gone.get(one) ?? Promise.resolve())
    gone.set(
      kind,
      Promise.all(earlier).then(() => deleteKind(client, kind, { ...options, signal })),
    )
  }
  const outcomes = await Promise.allSettled(gone.values())
  done()
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') log.error('cannot clean up objects', { error: outcome.reason })
}

/** @throws {Error} when objects are still there at the end of the time. */
async function deleteKind(client: Client, kind: Kind, { clock, log, signal }: CleanupOptions): Promise<void> {
  const asked = new Set<string>()
  let left: readonly KubeObject[] = []
  while (!signal.aborted) {
    left = (await client.list(kind, { signal })).items.filter((object) => !hasOwner(object))
    if (left.length === 0) return
    for (const object of left.filter(({ metadata }) => !asked.has(metadata.uid ?? ''))) {
      asked.add(object.metadata.uid ?? '')
      log.debug('deleting', { kind: kind.kind, object: object.metadata.name })
      await deleteIfThere(client, object, signal)
    }
    await sleep(clock, intervalMs, { signal }).catch(() => undefined)
  }
  throw new Error(`still there: ${kind.kind} ${left.map(({ metadata }) => metadata.name).join(', ')}`)
}

async function deleteIfThere(client: Client, object: KubeObject, signal: AbortSignal): Promise<void> {
  try {
    await client.delete(object, { signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function hasOwner({ metadata: { ownerReferences = [] } }: KubeObject): boolean {
  return ownerReferences.some(({ apiVersion, controller }) => controller === true && apiVersion.startsWith(`${group}/`))
}
