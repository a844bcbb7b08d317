/**
 * The status of an Executable: its state, its run, its health.
 *
 *   (none) ──▶ Starting ──▶ Running ──▶ Stopping ──▶ Finished
 *                 │             └──────────────────▶ Finished
 *                 └──▶ FailedToStart           what was lost: Unknown
 *
 * Invariant: a state with `finishTimestamp` is final; nothing is started for such an object.
 */
import type { Run } from '@evenkeel/workloads'
import type { ReconcileContext } from 'evenkeel'
import { formatMicroTime } from 'evenkeel/unstable/api'
import type { Executable } from '../kinds/executable.ts'
import type { ProbeResult } from './health-probes.ts'
import type { LaunchPlan } from './launch-plan.ts'

type StatusWriter = ReconcileContext<typeof Executable>['status']

const finalStates: ReadonlySet<string> = new Set(['Terminated', 'FailedToStart', 'Finished', 'Unknown'])

interface Status {
  readonly state?: string | null | undefined
  readonly finishTimestamp?: string | null | undefined
}

/** Nothing is started any more. */
export function isDone(status: Status | null | undefined): boolean {
  return finalStates.has(status?.state ?? '') || Boolean(status?.finishTimestamp)
}

/** What is going to be started. */
export function reportStarting(status: StatusWriter, { env, args }: Pick<LaunchPlan, 'env' | 'args'>): void {
  status.set({ state: 'Starting', effectiveEnv: [...env], effectiveArgs: [...args], healthStatus: 'Caution' })
}

/** It waits for something before it can be started. */
export function reportWaiting(status: StatusWriter): void {
  status.set({ state: 'Starting', healthStatus: 'Caution' })
}

/** It was not started and never will be. */
export function reportFailed(status: StatusWriter, nowMs: number): void {
  const now = formatMicroTime(nowMs)
  status.set({
    state: 'FailedToStart',
    executionID: undefined,
    pid: undefined,
    startupTimestamp: now,
    finishTimestamp: now,
    healthStatus: 'Unhealthy',
  })
}

/** Its run is lost: whether its program ended, and how, is not known. */
export function reportLost(status: StatusWriter, nowMs: number): void {
  status.set({ state: 'Unknown', finishTimestamp: formatMicroTime(nowMs), healthStatus: 'Caution' })
}

export interface HealthFacts {
  readonly hasProbes: boolean
  readonly results: readonly ProbeResult[]
}

export function reportRunning(status: StatusWriter, run: Run, health: HealthFacts): void {
  status.set({ ...runFields(run), state: 'Running', healthStatus: healthOf(health), ...resultsField(health) })
}

export function reportStopping(status: StatusWriter, run: Run): void {
  status.set({ ...runFields(run), state: 'Stopping', healthStatus: 'Caution' })
}

/** The exit code of a program that a signal has ended is -1, as a program that was adopted has none. */
export function reportFinished(status: StatusWriter, run: Run): void {
  const { end } = run
  const exitCode = end?.signal === undefined ? end?.exitCode : -1
  status.set({
    ...runFields(run),
    pid: undefined,
    state: 'Finished',
    finishTimestamp: formatMicroTime(end?.atMs ?? run.startedAtMs),
    ...(exitCode !== undefined && { exitCode }),
    healthStatus: exitCode === undefined || exitCode === 0 ? 'Caution' : 'Unhealthy',
  })
}

function runFields({ identity, startedAtMs, logFile, errorFile }: Run) {
  return {
    ...(identity && { executionID: String(identity.pid), pid: identity.pid }),
    startupTimestamp: formatMicroTime(startedAtMs),
    stdOutFile: logFile,
    ...(errorFile !== undefined && { stdErrFile: errorFile }),
  }
}

/** Healthy when every probe was successful; Unhealthy when one failed. */
export function healthOf({ hasProbes, results }: HealthFacts): string {
  if (!hasProbes) return 'Healthy'
  if (results.some(({ outcome }) => outcome === 'Failure')) return 'Unhealthy'
  return results.length > 0 && results.every(({ outcome }) => outcome === 'Success') ? 'Healthy' : 'Caution'
}

export function resultsField({ results }: HealthFacts) {
  return results.length === 0 ? {} : { healthProbeResults: [...results] }
}
