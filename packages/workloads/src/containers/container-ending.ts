/**
 * One step towards the end of a container: its signal, and SIGKILL after the grace period. A reconcile takes one, and comes back when
 * the container has ended or the grace period is over.
 *
 * Invariant: a container gets the signal once in this Evenkeel; one that is paused goes on first, because it receives no signal.
 */
import type { ReconcileResult } from 'evenkeel'
import type { Clock } from 'evenkeel/unstable/base'
import type { Prober } from '../prober.ts'
import type { ContainerRun, RunMemories } from './container-runs.ts'
import { ignoringEnd } from './container-runtime.ts'
import type { Pass } from './container-starter.ts'
import { reportStopping } from './container-status.ts'

export interface EndStepOptions {
  readonly clock: Clock
  readonly prober: Prober
  readonly memories: RunMemories
}

interface EndPass extends Pass {
  readonly decision: { readonly reason: string; readonly cause: string }
}

const [lookMs, soonMs] = [1000, 10]

export async function takeEndStep(
  run: ContainerRun,
  { object, context, live: { runtime }, owner, decision }: EndPass,
  { clock, prober, memories }: EndStepOptions,
): Promise<ReconcileResult> {
  const { signal = 'SIGTERM', gracePeriodSeconds = 10 } = object.spec.stop ?? {}
  const memory = memories.get(owner.uid)
  const { container } = run
  if (!container || !memory) return { afterMs: lookMs }
  const failed = prober.stateOf(run.mark)?.failed
  memory.stopReason ??= decision.reason
  const graceLeftMs = (memory.stoppingSinceMs ?? Infinity) + gracePeriodSeconds * 1000 - clock.monotonic()
  if (memory.stoppingSinceMs === undefined) {
    context.event({ reason: 'Stopping', note: `run ${run.number} is stopped: ${decision.cause}` })
    if (container.state === 'paused') await ignoringEnd(runtime.unpauseContainer(container.id))
    await ignoringEnd(runtime.killContainer(container.id, signal))
    memory.stoppingSinceMs = clock.monotonic()
  } else if (graceLeftMs <= 0) {
    await ignoringEnd(runtime.killContainer(container.id, 'SIGKILL'))
    if (!memory.isKilled)
      context.event({
        type: 'Warning',
        reason: 'Killed',
        note: `run ${run.number} did not end within ${gracePeriodSeconds} s: its container was killed`,
      })
    memory.isKilled = true
  }
  reportStopping(context.status, { run: { ...run, stopReason: memory.stopReason }, ...(failed && { failed }) })
  return {
    afterMs:
      graceLeftMs > 0 && graceLeftMs < Infinity ? graceLeftMs : Math.min(lookMs, gracePeriodSeconds * 1000 || soonMs),
  }
}
