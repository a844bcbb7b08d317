/**
 * What an earlier run has left in the status of objects, before the controllers of this one begin.
 *
 *   Running, but its process is gone     doubtful until its controller has written: the earlier run was killed
 *   Succeeded, Failed                    it is requested to run again: a run of an application runs all of it
 *   Running, and its process lives       persistent: nothing to do
 *
 * Invariant: a status of an earlier run never counts as ready, and never ends this run.
 */
import type { Client } from 'evenkeel/client'
import type { WorkloadsPackage } from '../modules.ts'
import { requestWorkloadAction } from './workload-lookup.ts'
import { readWorkloads } from './workload-lookup.ts'
import type { WorkloadRow } from './workload-row.ts'

/** By uid: the version of an object whose status says nothing about this run. */
export type Doubtful = ReadonlyMap<string, string>

interface LeftoverOptions {
  readonly namespace: string
  readonly signal: AbortSignal
  readonly workloads: Pick<WorkloadsPackage, 'systemTable'>
}

/** How a finished one is run again. */
const again: Readonly<Record<string, string>> = { Process: 'restart', Task: 'rerun' }

export async function takeLeftovers(
  client: Client,
  { namespace, signal, workloads }: LeftoverOptions,
): Promise<Doubtful> {
  const rows = await readWorkloads(client, { namespace, signal })
  const finished = rows.filter(
    ({ kind, phase, isOwned }) => again[kind] !== undefined && !isOwned && ['Succeeded', 'Failed'].includes(phase),
  )
  for (const row of finished) await requestWorkloadAction(client, { ...row, action: again[row.kind] ?? '', signal })
  const table = workloads.systemTable()
  const isGone = ({ phase, identity }: WorkloadRow): boolean => {
    if (identity === undefined || !['Running', 'Stopping'].includes(phase)) return false
    const [pid = '', startTicks = ''] = identity.split('-')
    return table.find(Number(pid))?.startTicks !== Number(startTicks)
  }
  const gone = rows.filter((row) => isGone(row))
  if (finished.length + gone.length === 0) return new Map()
  const uids = new Set([...finished, ...gone].map(({ uid }) => uid))
  // The request is a change of the object as well.
  const now = await readWorkloads(client, { namespace, signal })
  return new Map(now.flatMap(({ uid, resourceVersion }) => (uids.has(uid) ? [[uid, resourceVersion] as const] : [])))
}

/** The row as it counts in this run. */
export function withoutDoubt(row: WorkloadRow, doubtful: Doubtful): WorkloadRow {
  if (doubtful.get(row.uid) !== row.resourceVersion) return row
  return {
    ...row,
    phase: 'Pending',
    ready: '',
    isSettled: false,
    hasFailed: false,
    hasEnded: false,
    pid: undefined,
    startedAt: undefined,
    logFile: undefined,
    why: 'its controller has not seen it yet',
  }
}
