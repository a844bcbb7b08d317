/**
 * Removes what `evenkeel run` has applied, consumers before providers, and ends the run in the background.
 *
 *   objects of the inventory ─▶ deleted in order, each waited for until it is gone ─▶ SIGTERM to the run ─▶ it is gone
 *                                └ the time is over: SIGTERM twice, which kills everything
 *
 * Invariant: only an object that still has fields of `evenkeel run` is deleted.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { sleep, type Clock } from 'evenkeel/unstable/base'
import type { StoppableNode, WorkloadObject } from '@evenkeel/workloads'
import { Failure } from '../failure.ts'
import type { WorkloadsPackage } from '../modules.ts'
import { forgetApplied, isOurs, readInventory, untilGone, type AppliedObject } from './inventory.ts'
import { isAlive, type RunRecord } from './run-record.ts'

/** An object that is to be deleted. */
interface RemovableNode extends StoppableNode {
  readonly object: KubeObject & WorkloadObject
}

export interface Removal {
  readonly namespace: string
  readonly nodes: readonly RemovableNode[]
  /** Persistent ones that go on. */
  readonly kept: readonly AppliedObject[]
}

interface PlanOptions {
  readonly namespace: string
  readonly keepsPersistent: boolean
  readonly workloads: WorkloadsPackage
  readonly signal: AbortSignal
}

interface Persisting {
  readonly lifetime?: string
}

/** What there is to remove from a namespace, and in which order. */
export async function planRemoval(
  client: Client,
  { namespace, keepsPersistent, workloads, signal }: PlanOptions,
): Promise<Removal> {
  const kept: AppliedObject[] = []
  const removed: RemovableNode[] = []
  for (const one of await readInventory(client, { namespace, signal })) {
    const { apiVersion, kind, ...key } = one
    const found = await client.find({ apiVersion, kind }, key, { signal })
    if (!found || !isOurs(found as KubeObject)) continue
    const object = { ...found, apiVersion, kind } as RemovableNode['object']
    const { lifetime } = (object.spec ?? {}) as Persisting
    if (keepsPersistent && lifetime === 'Persistent') kept.push(one)
    else removed.push({ object, key: workloads.workloadKey(kind, one), providers: [] })
  }
  const nodes = removed.map((node) => ({
    ...node,
    providers: workloads.providersAmong(node.object, removed).map(({ key }) => key),
  }))
  return { namespace, nodes, kept }
}

interface RemoveOptions {
  readonly workloads: WorkloadsPackage
  readonly timeoutMs: number
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Called for each object when it is gone. */
  readonly onGone: (object: KubeObject, tookMs: number) => void
}

/** Whether everything was gone in time. */
export async function remove(
  client: Client,
  { namespace, nodes, kept }: Removal,
  { workloads, timeoutMs, clock, signal, onGone }: RemoveOptions,
): Promise<boolean> {
  const limit = new AbortController()
  const cancel = clock.after(timeoutMs, () => {
    limit.abort(new Error('the time is over'))
  })
  const both = AbortSignal.any([signal, limit.signal])
  try {
    await workloads.stopInOrder(nodes, async ({ object }) => {
      const begunMs = clock.monotonic()
      await client.delete(object, { ignoreNotFound: true, signal: both })
      await untilGone(client, object, { signal: both, clock })
      onGone(object, Math.round(clock.monotonic() - begunMs))
    })
    await forgetApplied(client, kept, { namespace, signal: both })
    return true
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error
    return false
  } finally {
    cancel()
  }
}

interface EndOptions {
  readonly workloads: WorkloadsPackage
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The objects are not gone in time: a second signal kills everything. */
  readonly isLate: boolean
}

const lookMs = 20
/** Two signals that come together are one. */
const signalGapMs = 500
const endMs = 60_000

/** Ends the run in the background. @throws {Failure} `timeout` when it does not end */
export async function endRun(active: RunRecord, { workloads, clock, signal, isLate }: EndOptions): Promise<void> {
  process.kill(active.pid, 'SIGTERM')
  if (isLate) {
    await sleep(clock, signalGapMs, { signal })
    if (isAlive(active, workloads)) process.kill(active.pid, 'SIGTERM')
  }
  const untilMs = clock.monotonic() + endMs
  while (isAlive(active, workloads)) {
    if (clock.monotonic() > untilMs)
      throw new Failure('timeout', `evenkeel run with pid ${active.pid} does not end`, {
        hint: `kill -9 ${active.pid}`,
      })
    await sleep(clock, lookMs, { signal })
  }
}
