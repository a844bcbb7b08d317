/**
 * The status of a Process: what its last run does, in words for people and conditions for programs.
 *
 *   phase       Started  Ready            when
 *   Waiting     False    False            a dependency, a port or a passing problem
 *   Running     True     by its probes
 *   Stopping    True     False            it was signalled
 *   BackOff     False    False            it ended and waits for its next run
 *   Stopped     False    False            spec.running is false
 *   Succeeded   False    False            it ended with 0 and stays ended; Completed is True
 *   Failed      False    False            it ended otherwise and stays ended, or cannot be started
 *
 * The phase is a summary for people; only conditions are for decisions.
 */
import type { ReconcileContext } from 'evenkeel'
import { formatTime } from 'evenkeel/unstable/api'
import type { Decision } from './lifecycle.ts'
import type { LogProblems } from './logs/kept-log.ts'
import { formatIdentity, type ProcessEntry } from './process-host.ts'
import type { Process, ProcessObject, ProcessStatus } from './process-kind.ts'
import type { ProbeState } from './prober.ts'
import { describeEnd, type Run } from './runs.ts'

type Writer = ReconcileContext<typeof Process>['status']
type RunStatus = NonNullable<ProcessStatus['run']>

const runsKept = 5

interface Reported {
  readonly process: ProcessObject
  readonly run: Run
}

/** A run that is alive. */
export function reportRun(status: Writer, { run, state }: Reported & { readonly state: ProbeState }): void {
  status.set({
    phase: 'Running',
    run: summaryOf(run),
    restarts: run.restarts,
    nextRestartAt: undefined,
    ...(state.waitsFor && { lastProbe: state.waitsFor }),
  })
  status.condition('Started', true, { reason: 'Running' })
  status.removeCondition('Completed')
  if (state.isReady) status.condition('Ready', true, { reason: 'Ready' })
  else
    status.condition('Ready', false, {
      reason: state.hasStarted ? 'NotReady' : 'Starting',
      message: state.waitsFor?.output ?? 'waits for its probes',
    })
}

/** What is wrong with the logs of a run. */
export function reportLogs(status: Writer, { lost, unbounded }: LogProblems): void {
  if (lost === undefined) status.removeCondition('LogsLost')
  else status.condition('LogsLost', true, { reason: 'DiskFull', message: lost })
  if (unbounded === undefined) status.removeCondition('LogsUnbounded')
  else status.condition('LogsUnbounded', true, { reason: 'NotSupported', message: unbounded })
}

/** A run that is on its way to its end. */
export function reportStopping(
  status: Writer,
  {
    run,
    survivors,
    failed,
  }: Reported & { readonly survivors: readonly ProcessEntry[]; readonly failed?: NonNullable<ProbeState['failed']> },
): void {
  const message =
    survivors.length === 0
      ? 'waits for its end'
      : `waits for the end of ${survivors
          .slice(0, 5)
          .map(({ pid, command }) => `${pid} (${command})`)
          .join(', ')}`
  status.set({ phase: 'Stopping', run: summaryOf(run), restarts: run.restarts, ...(failed && { lastProbe: failed }) })
  status.condition('Started', run.end === undefined, { reason: run.stopReason ?? 'Ended', message })
  status.condition('Ready', false, { reason: run.stopReason ?? 'Ended', message })
}

/** Nothing runs. */
export function reportRest(
  status: Writer,
  {
    run,
    decision,
    nextRestartAtMs,
  }: {
    readonly process: ProcessObject
    readonly run: Run | undefined
    readonly decision: Extract<Decision, { readonly do: 'rest' }>
    readonly nextRestartAtMs?: number | undefined
  },
): void {
  const { phase, reason, message } = decision
  status.set({
    phase,
    ...(run && { run: summaryOf(run), restarts: run.restarts }),
    nextRestartAt: nextRestartAtMs === undefined ? undefined : formatTime(nextRestartAtMs),
  })
  status.condition('Started', false, { reason, message })
  status.condition('Ready', false, { reason, message })
  if (phase === 'Succeeded') status.condition('Completed', true, { reason, message })
  else status.removeCondition('Completed')
}

/** The program ends: nothing is started any more, and what does not run says why. */
export function reportClosing(
  status: Writer,
  { process, run }: { readonly process: ProcessObject; readonly run: Run | undefined },
): void {
  if (run && !run.isOver) return
  const message = 'Evenkeel is shutting down: nothing is started until it runs again'
  const decision = { do: 'rest', phase: run ? 'Stopped' : 'Waiting', reason: 'ShuttingDown', message } as const
  reportRest(status, { process, run, decision })
}

/** Before the status shows the next run: the one before joins the past ones. */
export function withPastRun(
  status: Writer,
  { process, last }: { readonly process: ProcessObject; readonly last: Run | undefined },
): void {
  const past = last ? summaryOf(last) : process.status?.run
  if (!past) return
  const others = (process.status?.runs ?? []).filter(({ number }) => number !== past.number)
  status.set({ runs: [...others, past].slice(-runsKept) })
}

function summaryOf(run: Run): RunStatus {
  const { number, identity, startedAtMs, end, stopReason, logFile, errorFile, cause, isAdopted, ports, variables } = run
  return {
    number,
    ...(identity && { pid: identity.pid, identity: formatIdentity(identity) }),
    startedAt: formatTime(startedAtMs),
    ...(end && { finishedAt: formatTime(end.atMs), message: describeEnd(run) }),
    ...(end?.exitCode !== undefined && { exitCode: end.exitCode }),
    ...(end?.signal !== undefined && { signal: end.signal }),
    reason: end ? (stopReason ?? end.reason) : isAdopted ? 'Adopted' : 'Running',
    cause,
    logFile,
    ...(errorFile !== undefined && { errorFile }),
    ports,
    env: variables,
  }
}

/** An event has room for 1 KiB. */
const shownLength = 80

/** Some processes, for an event. */
export function shortList(entries: readonly { readonly pid: number; readonly command: string }[]): string {
  const shown = entries.slice(0, 5).map(({ pid, command }) => `${pid} (${command.slice(0, shownLength)})`)
  return entries.length > 5 ? `${shown.join(', ')} and ${entries.length - 5} more` : shown.join(', ')
}
