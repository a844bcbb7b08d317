/**
 * The status of a Container: phases and conditions as those of a Process, and two more conditions.
 *
 *   RuntimeReady   the container runtime answers
 *   ImageReady     the image is there: else Pulling, Building, ImageNotFound, PullDenied, PullFailed, BuildFailed
 *
 * A container that is paused by another program is `Paused`: Started is True, Ready is False, and nothing is done about it.
 */
import type { ReconcileContext } from 'evenkeel'
import { formatTime } from 'evenkeel/unstable/api'
import type { Decision } from '../lifecycle.ts'
import type { ProbeState } from '../prober.ts'
import { describeEnd } from '../runs.ts'
import type { Container, ContainerObject, ContainerStatus } from './container-kind.ts'
import type { ContainerRun } from './container-runs.ts'

type Writer = ReconcileContext<typeof Container>['status']
type RunStatus = NonNullable<ContainerStatus['run']>

const runsKept = 5

/** A run that is alive, and its probes. */
export function reportRun(
  status: Writer,
  { run, state }: { readonly run: ContainerRun; readonly state: ProbeState | undefined },
): void {
  const isPaused = run.container?.state === 'paused'
  status.set({
    phase: isPaused ? 'Paused' : 'Running',
    run: summaryOf(run),
    restarts: run.restarts,
    nextRestartAt: undefined,
    ...(state?.waitsFor && { lastProbe: state.waitsFor }),
  })
  status.condition('ImageReady', true, { reason: 'Present', message: run.container?.image ?? '' })
  status.condition('Started', true, { reason: 'Running' })
  status.removeCondition('Completed')
  if (isPaused)
    status.condition('Ready', false, {
      reason: 'Paused',
      message: `the container ${run.container?.name ?? ''} was paused by another program: unpause it`,
    })
  else if (state?.isReady) status.condition('Ready', true, { reason: 'Ready' })
  else
    status.condition('Ready', false, {
      reason: state?.hasStarted ? 'NotReady' : 'Starting',
      message: state?.waitsFor?.output ?? 'waits for its probes',
    })
}

/** A run that is on its way to its end. */
export function reportStopping(
  status: Writer,
  { run, failed }: { readonly run: ContainerRun; readonly failed?: ProbeState['failed'] },
): void {
  const reason = run.stopReason ?? 'Ended'
  const message = `waits for the end of the container ${run.container?.name ?? ''}`
  status.set({
    phase: 'Stopping',
    run: { ...summaryOf(run), reason },
    restarts: run.restarts,
    ...(failed && { lastProbe: failed }),
  })
  status.condition('Started', true, { reason, message })
  status.condition('Ready', false, { reason, message })
}

/** Nothing runs. */
export function reportRest(
  status: Writer,
  {
    run,
    decision,
    nextRestartAtMs,
  }: {
    readonly run: ContainerRun | undefined
    readonly decision: Extract<Decision, { readonly do: 'rest' }>
    readonly nextRestartAtMs?: number | undefined
  },
): void {
  const { phase, reason } = decision
  const isOutOfMemory = run?.end?.reason === 'OOMKilled' && run.stopReason === undefined
  const message = isOutOfMemory
    ? `${decision.message}; the kernel killed it because its memory was used up: raise spec.limits.memory`
    : decision.message
  status.set({
    phase,
    ...(run && { run: summaryOf(run), restarts: run.restarts }),
    nextRestartAt: nextRestartAtMs === undefined ? undefined : formatTime(nextRestartAtMs),
  })
  const shown = { reason: isOutOfMemory && (phase === 'BackOff' || phase === 'Failed') ? 'OOMKilled' : reason, message }
  status.condition('Started', false, shown)
  status.condition('Ready', false, shown)
  if (phase === 'Succeeded') status.condition('Completed', true, shown)
  else status.removeCondition('Completed')
}

/** The program ends: nothing is started any more, and what does not run says why. */
export function reportClosing(
  status: Writer,
  { object, run }: { readonly object: ContainerObject; readonly run: ContainerRun | undefined },
): void {
  const phase = run || object.status?.run ? 'Stopped' : 'Waiting'
  const message = 'Evenkeel is shutting down: nothing is started until it runs again'
  reportRest(status, { run, decision: { do: 'rest', phase, reason: 'ShuttingDown', message } })
}

/** The runtime does not answer: what was known stays, and is not vouched for. */
export function reportUnavailable(status: Writer, problem: string): void {
  status.condition('RuntimeReady', false, { reason: 'Unavailable', message: problem })
  status.condition('Ready', false, { reason: 'RuntimeUnavailable', message: 'the container runtime does not answer' })
}

/** Before the status shows the next run: the one before joins the past ones. */
export function withPastRun(
  status: Writer,
  { object, last }: { readonly object: ContainerObject; readonly last: ContainerRun | undefined },
): void {
  const past = last ? summaryOf(last) : object.status?.run
  if (!past) return
  const others = (object.status?.runs ?? []).filter(({ number }) => number !== past.number)
  status.set({ runs: [...others, past].slice(-runsKept) })
}

function summaryOf(run: ContainerRun): RunStatus {
  const { number, container, label, startedAtMs, end, stopReason, cause } = run
  return {
    number,
    ...(container && { containerId: container.id, containerName: container.name, imageId: container.image }),
    startedAt: formatTime(startedAtMs),
    ...(end && { finishedAt: formatTime(end.atMs), message: describeEnd(run) }),
    ...(end?.exitCode !== undefined && { exitCode: end.exitCode }),
    ...(end?.signal !== undefined && { signal: end.signal }),
    reason: end ? (stopReason ?? end.reason) : container?.state === 'paused' ? 'Paused' : 'Running',
    cause,
    specHash: label.fingerprint,
    ...(label.token !== undefined && { token: label.token }),
    ports: label.ports,
    ...(container && { networks: container.networks }),
    env: label.variables,
  }
}
