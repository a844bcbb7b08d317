/**
 * What to do next about a process: a function of its object, its last run and what it waits for. Nothing here acts.
 *
 *   last run          wanted                        not wanted, or out of date
 *   none              start                         rest
 *   runs              keep                          end, with a reason
 *   its leader ended  end what is left of it        end what is left of it
 *   over              start, wait, or stay ended    rest
 *
 * Invariant: a run is started only when the one before is over, so nothing runs twice, whatever happens in between.
 */
import type { AfterEnd } from './restart-policy.ts'
import { describeEnd, type Run } from './runs.ts'
import type { RestartWish } from './watch/file-changes.ts'

export interface Situation {
  /** `spec.running`. */
  readonly isWanted: boolean
  /** The object is being deleted. */
  readonly isDeleting: boolean
  readonly run: Run | undefined
  /** Why it must not run: the process that it ends with is gone. */
  readonly ownerGone?: string | undefined
  /** What the spec asks for: see {@link changedParts}. */
  readonly fingerprint: string
  /** A restart that was requested and not performed. */
  readonly request?: { readonly token: string; readonly by: string } | undefined
  readonly dependencies: {
    /** What is missing; undefined when nothing is. */
    readonly missing?: { readonly reason: string; readonly message: string } | undefined
    /** One with `whenLost: Stop` is missing. */
    readonly isLost: boolean
  }
  /** Files that changed after it was started, or a process that it depends on and that was restarted for them. */
  readonly wish?: RestartWish | undefined
  /** The probe that asks for a restart. */
  readonly failedProbe?: { readonly probe: string; readonly output: string } | undefined
  /** What the restart policy says about the end of the run, and when it is due. */
  readonly afterEnd: (run: Run) => AfterEnd & { readonly leftMs: number }
}

export type Decision =
  | { readonly do: 'keep' }
  /** Signal the run, or what is left of it. */
  | { readonly do: 'end'; readonly reason: string; readonly cause: string }
  | { readonly do: 'start'; readonly cause: string; readonly failures: number; readonly restarts: number }
  | {
      readonly do: 'rest'
      readonly phase: Phase
      readonly reason: string
      readonly message: string
      readonly afterMs?: number
    }

type Phase = 'Waiting' | 'Running' | 'Stopping' | 'BackOff' | 'Stopped' | 'Succeeded' | 'Failed'

export function decide(situation: Situation): Decision {
  const { run, isWanted, isDeleting, ownerGone, dependencies } = situation
  if (run && !run.isOver) {
    if (run.end) return { do: 'end', reason: run.stopReason ?? run.end.reason, cause: 'its first process has ended' }
    const why = whyToEnd(run, situation)
    return why ? { do: 'end', ...why } : { do: 'keep' }
  }
  if (isDeleting) return { do: 'rest', phase: 'Stopped', reason: 'Deleting', message: 'the object is being deleted' }
  if (!isWanted) return { do: 'rest', phase: 'Stopped', reason: 'Stopped', message: 'spec.running is false' }
  if (ownerGone !== undefined) return { do: 'rest', phase: 'Stopped', reason: 'OwnerGone', message: ownerGone }
  const next = nextStart(situation)
  return next.do === 'start' && dependencies.missing ? { do: 'rest', phase: 'Waiting', ...dependencies.missing } : next
}

/** How much of the output of a probe is in a cause: an event has room for 1 KiB. */
const causeLength = 500

/** Why a run that is alive has to end. */
function whyToEnd(run: Run, situation: Situation): { readonly reason: string; readonly cause: string } | undefined {
  const { isDeleting, isWanted, ownerGone, request, fingerprint, failedProbe, dependencies, wish } = situation
  if (isDeleting) return { reason: 'Deleted', cause: 'the object is being deleted' }
  if (!isWanted) return { reason: 'Stopped', cause: 'spec.running is false' }
  if (ownerGone !== undefined) return { reason: 'OwnerGone', cause: ownerGone }
  // A run that is ending ends, also when it is wanted again: then another one starts.
  if (run.stopReason !== undefined) return { reason: run.stopReason, cause: 'it is stopping' }
  if (isNew(request, run)) return { reason: 'RestartRequested', cause: `a restart was requested by ${request.by}` }
  if (run.fingerprint !== fingerprint) return { reason: 'SpecChanged', cause: changeOf(run, fingerprint) }
  if (wish) return { reason: wish.reason, cause: wish.cause }
  if (failedProbe)
    return {
      reason: 'ProbeFailed',
      cause: `its ${failedProbe.probe} probe failed: ${failedProbe.output.slice(-causeLength)}`,
    }
  return dependencies.isLost
    ? { reason: 'DependencyLost', cause: dependencies.missing?.message ?? 'a dependency is missing' }
    : undefined
}

function isNew(request: Situation['request'], run: Run): request is NonNullable<Situation['request']> {
  return request !== undefined && run.token !== request.token
}

/** After the last run is over, or before the first one. */
function nextStart({ run, request, fingerprint, wish, afterEnd }: Situation): Decision {
  if (!run) return { do: 'start', cause: 'it was created', failures: 0, restarts: 0 }
  const { restarts } = run
  const fresh = (cause: string): Decision => ({ do: 'start', cause, failures: 0, restarts })
  if (isNew(request, run)) return fresh(`a restart was requested by ${request.by}`)
  if (run.fingerprint !== fingerprint) return fresh(changeOf(run, fingerprint))
  if (wish) return fresh(wish.cause)
  if (run.stopReason !== undefined && run.stopReason !== 'ProbeFailed')
    return fresh(`it was stopped (${run.stopReason}) and may run again`)
  const after = afterEnd(run)
  if (after.then === 'stay')
    return { do: 'rest', phase: after.phase, reason: after.reason, message: `its program ${describeEnd(run)}` }
  if (after.leftMs > 0)
    return {
      do: 'rest',
      phase: 'BackOff',
      reason: 'BackOff',
      message: `its program ${describeEnd(run)}; it waits before the next start`,
      afterMs: after.leftMs,
    }
  return {
    do: 'start',
    cause: `its program ${describeEnd(run)}`,
    failures: after.failures,
    restarts: restarts + 1,
  }
}

/**
 * What a run was started from, part by part: `command=1f… env=9a…`. Two of them differ in the parts that were changed, and
 * neither contains a value.
 */
export function fingerprintOf(parts: Readonly<Record<string, unknown>>, hash: (text: string) => string): string {
  return Object.entries(parts)
    .map(([name, value]) => `${name}=${hash(JSON.stringify(value ?? null))}`)
    .join(' ')
}

function changeOf({ fingerprint: before }: Run, after: string): string {
  const known = new Set(before.split(' '))
  const changed = after
    .split(' ')
    .filter((part) => !known.has(part))
    .map((part) => `spec.${part.split('=')[0] ?? ''}`)
  return `${changed.join(', ')} changed`
}
