/**
 * The status of a Container: what the runtime says about it, in the words of dcp.
 *
 *   (none) ──▶ Building ──▶ Starting ──▶ Running ⇄ Paused ──▶ Stopping ──▶ Exited
 *                 └────────────┴──▶ FailedToStart        removed by another program: Unknown
 *   no runtime: RuntimeUnhealthy until it answers        nothing to reuse: NotFound
 *
 * Invariant: FailedToStart and Unknown are final; nothing is made for such an object any more.
 */
import type { ContainerFacts } from '@evenkeel/workloads'
import type { ReconcileContext } from 'evenkeel'
import { formatMicroTime } from 'evenkeel/unstable/api'
import { healthOf, resultsField, type HealthFacts } from '../controllers/executable-status.ts'
import type { Container } from '../kinds/container.ts'

type StatusWriter = ReconcileContext<typeof Container>['status']

const finalStates: ReadonlySet<string> = new Set(['FailedToStart', 'Unknown'])

export function isFinal(status: { readonly state?: string | null | undefined } | null | undefined): boolean {
  return finalStates.has(status?.state ?? '')
}

/** It is on its way, or waits for something. */
export function reportBefore(
  status: StatusWriter,
  state: 'Building' | 'Starting' | 'NotFound' | 'RuntimeUnhealthy',
  fields: { readonly startupStdOutFile?: string; readonly startupStdErrFile?: string } = {},
): void {
  status.set({ ...fields, state, healthStatus: state === 'RuntimeUnhealthy' ? 'Unhealthy' : 'Caution' })
}

/** It was not started and never will be. */
export function reportFailed(status: StatusWriter, message: string, nowMs: number): void {
  const now = formatMicroTime(nowMs)
  status.set({ state: 'FailedToStart', message, finishTimestamp: now, healthStatus: 'Unhealthy' })
}

/** Another program has removed it: how it ended is not known. */
export function reportLost(status: StatusWriter, nowMs: number): void {
  const finishTimestamp = formatMicroTime(nowMs)
  status.set({ state: 'Unknown', finishTimestamp, networks: undefined, healthStatus: 'Caution' })
}

const states: Readonly<Record<ContainerFacts['state'], string>> = {
  created: 'Starting',
  running: 'Running',
  paused: 'Paused',
  removing: 'Stopping',
  exited: 'Exited',
}

interface Seen {
  readonly health: HealthFacts
  /** Of the ContainerNetworks that it is in. */
  readonly networks: readonly string[]
  /** It is being stopped by us. */
  readonly isStopping: boolean
  readonly lifecycleKey?: string | undefined
}

/** What there is in the runtime. */
export function reportContainer(
  status: StatusWriter,
  facts: ContainerFacts,
  { health, networks, isStopping, lifecycleKey }: Seen,
): void {
  const { id, name, startedAtMs, finishedAtMs, exitCode, env, args } = facts
  const hasEnded = facts.state === 'exited'
  const state = isStopping && !hasEnded ? 'Stopping' : states[facts.state]
  status.set({
    state,
    message: undefined,
    containerId: id,
    containerName: name,
    startupTimestamp: startedAtMs === undefined ? undefined : formatMicroTime(startedAtMs),
    finishTimestamp: hasEnded && finishedAtMs !== undefined ? formatMicroTime(finishedAtMs) : undefined,
    exitCode: hasEnded ? exitCode : undefined,
    effectiveEnv: Object.entries(env)
      .map(([variable, value]) => ({ name: variable, value }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    effectiveArgs: [...args],
    networks: [...networks],
    ...(lifecycleKey !== undefined && { lifecycleKey }),
    healthStatus: healthAt(state, exitCode, health),
    ...(state === 'Running' && resultsField(health)),
  })
}

function healthAt(state: string | undefined, exitCode: number | undefined, health: HealthFacts): string {
  if (state === 'Running') return healthOf(health)
  return state === 'Exited' && (exitCode ?? 0) !== 0 ? 'Unhealthy' : 'Caution'
}
