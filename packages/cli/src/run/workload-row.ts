/**
 * One workload as a row: what `ps`, the live view and events show of an object of any of its kinds.
 */
import { isJsonObject, type JsonObject } from 'evenkeel/unstable/api'
import type { KubeObject } from 'evenkeel'
import type { Client, DiscoveredResource } from 'evenkeel/client'
import { conditionsOf } from '../object-state.ts'

export const workloadsGroup = 'workloads.evenkeel.dev'

/** The kinds with something that starts, is ready and stops; the first ones first. */
const kindOrder = ['Process', 'ProcessSet', 'Task', 'Schedule', 'Container', 'Service']

export interface WorkloadRow {
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly resourceVersion: string
  /** Part of another one, as the Processes of a set are. */
  readonly isOwned: boolean
  readonly phase: string
  /** `spec.running`: no person has stopped it. */
  readonly isWanted: boolean
  /** `True`, `False`, or `3/5` of a set; empty when it does not say. */
  readonly ready: string
  /** Ready, completed, or stopped by a person: nothing is missing. */
  readonly isSettled: boolean
  readonly hasFailed: boolean
  readonly restarts: number
  readonly run: number | undefined
  readonly pid: number | undefined
  /** Pid, start time and boot, as the status has them. */
  readonly identity: string | undefined
  readonly startedAt: string | undefined
  readonly exitCode: number | undefined
  /** The last run has ended. */
  readonly hasEnded: boolean
  readonly logFile: string | undefined
  /** `http:8080`, or an address. */
  readonly addresses: readonly string[]
  /** Why it is not ready; empty when it is. */
  readonly why: string
}

/** The kinds of workloads that the server has. */
export async function workloadResources(client: Client, signal: AbortSignal): Promise<readonly DiscoveredResource[]> {
  const resources = await client.resources({ signal })
  return resources
    .filter(({ group, kind }) => group === workloadsGroup && kindOrder.includes(kind))
    .toSorted((a, b) => kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind))
}

export function rowOf(object: KubeObject): WorkloadRow {
  const { kind, metadata } = object
  const { spec = {}, status = {} } = object as { spec?: JsonObject; status?: JsonObject }
  const run = isJsonObject(status['run']) ? status['run'] : {}
  const isStale =
    typeof status['observedGeneration'] === 'number' && status['observedGeneration'] < (metadata.generation ?? 0)
  const ready = conditionsOf(object).find(({ type }) => type === 'Ready')
  const isReady = ready?.status === 'True' && !isStale
  const isDone = conditionsOf(object).some(({ type, status: is }) => type === 'Completed' && is === 'True')
  const phase = metadata.deletionTimestamp === undefined ? (textOf(status['phase']) ?? '') : 'Deleting'
  const isStopped = spec['running'] === false && phase === 'Stopped'
  const hasFailed = phase === 'Failed'
  return {
    kind,
    name: metadata.name ?? '',
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    isOwned: (metadata.ownerReferences ?? []).some(({ controller }) => controller === true),
    phase: phase === '' ? (isReady ? 'Ready' : 'Pending') : phase,
    isWanted: spec['running'] !== false,
    ready: readyOf(status, spec, ready?.status),
    isSettled: (isReady || isDone || isStopped) && metadata.deletionTimestamp === undefined,
    hasFailed,
    restarts: numberOf(status['restarts']) ?? 0,
    run: numberOf(run['number']),
    pid: phase === 'Running' || phase === 'Stopping' ? numberOf(run['pid']) : undefined,
    identity: textOf(run['identity']),
    startedAt: phase === 'Running' || phase === 'Stopping' ? textOf(run['startedAt']) : undefined,
    exitCode: numberOf(run['exitCode']),
    hasEnded: textOf(run['finishedAt']) !== undefined,
    logFile: textOf(run['logFile']),
    addresses: addressesOf(status, run),
    why: isReady || isDone ? '' : isStale ? 'its controller has not seen the last change yet' : whyOf(ready),
  }
}

function readyOf(status: JsonObject, spec: JsonObject, ready: string | undefined): string {
  const [have, want] = [numberOf(status['readyReplicas']), numberOf(spec['replicas'])]
  return want === undefined || status['readyReplicas'] === undefined ? (ready ?? '') : `${have ?? 0}/${want}`
}

function addressesOf(status: JsonObject, run: JsonObject): readonly string[] {
  const own = [status['url'], status['address']].flatMap((text) => textOf(text) ?? []).slice(0, 1)
  const ports = Array.isArray(run['ports']) ? run['ports'].filter(isJsonObject) : []
  return [...own, ...ports.map(({ name, port }) => `${String(name)}:${String(port)}`)]
}

function whyOf(ready: { readonly reason?: string; readonly message?: string } | undefined): string {
  if (!ready) return 'its controller has not seen it yet'
  const { reason = '', message = '' } = ready
  return message === '' ? reason : `${reason}: ${message}`
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** `process/web`. */
export function refOf({ kind, name }: Pick<WorkloadRow, 'kind' | 'name'>): string {
  return `${kind.toLowerCase()}/${name}`
}
