/**
 * What follows from the outcome of one run of a key: forget, wait, back off or give up.
 *
 *   outcome    runs again           failures   counted as (label `result` of controller_runtime_reconcile_total)
 *   done       no                   forgotten  success
 *   after      after `afterMs`      forgotten  requeue_after
 *   park       no                   forgotten  success
 *   error      after the back-off   one more   error; after `leastMs` if that is longer
 *   terminal   no                   unchanged  error
 *   conflict   after the back-off   one more   requeue, not logged; error from the sixth failure in a row on
 *   deferred   after `afterMs`      unchanged  not counted: the key did not run; it keeps its reasons
 *
 * The rules and the words of `result` are those of controller-runtime, which has no word for `deferred`: a key that did
 * not run is no reconcile there either. Worked example, back-off 5 ms doubled:
 *
 *   error           5 ms later    1 failure
 *   error          10 ms later    2 failures
 *   deferred(300) 300 ms later    2 failures, with the reasons of the run that did not take place
 *   done            not by itself 0 failures
 *
 * A key that runs again keeps its priority unless the outcome names another. An add during the run wins over all of
 * this: such a key is ready, and a delay does not change that. `no` means: until the key is added.
 *
 * `ParkedKeys` lists the keys whose last outcome was `park`. Parking takes no place in the queue and sets no timer: any
 * add makes the key run. The list exists to be shown, and to wake all keys that wait for the same thing. Invariant: a
 * key is in the list from the run that parked it until the end of its next run; `deferred` is no run.
 */
import { unreachable } from '#base'
import type { Backoff } from './backoff.ts'
import type { WorkItem } from './ready-queue.ts'
import type { WorkQueue } from './work-queue.ts'

/** How one run of a key ended. */
export type Outcome =
  /** Success. */
  | { readonly kind: 'done' }
  /** Success; run again later. 0 or less is the same as `done`. */
  | { readonly kind: 'after'; readonly afterMs: number; readonly priority?: number | undefined }
  /** Nothing to do until an event adds the key. */
  | { readonly kind: 'park'; readonly waitingFor: string }
  /** Failure; a retry may help. */
  | {
      readonly kind: 'error'
      readonly error: unknown
      readonly priority?: number | undefined
      /** The shortest wait before the retry, whatever the back-off says. */
      readonly leastMs?: number | undefined
    }
  /** Failure; a retry does not help. */
  | { readonly kind: 'terminal'; readonly error: unknown }
  /** Another writer was faster. */
  | { readonly kind: 'conflict'; readonly error: unknown; readonly priority?: number | undefined }
  /** Not now: the key did not run. It runs in `afterMs`, or earlier if an event adds it. */
  | { readonly kind: 'deferred'; readonly afterMs: number }

/** What was decided about an outcome. */
export interface RequeueDecision {
  /** The value of `result` in `controller_runtime_reconcile_total`; undefined: the key did not run. */
  readonly result: 'success' | 'requeue_after' | 'requeue' | 'error' | undefined
  /** In how long the key runs again; undefined: not by itself. */
  readonly afterMs: number | undefined
  /** Failures in a row, this one included. */
  readonly retries: number
  /** What to log and count as an error; a quiet conflict is not. */
  readonly failure: { readonly error: unknown; readonly isTerminal: boolean } | undefined
}

export interface RequeueOptions<Reason = never> {
  readonly queue: Pick<WorkQueue<Reason>, 'add' | 'addAgain'>
  readonly backoff: Backoff
  /** Lists what parked keys wait for. */
  readonly parked?: ParkedKeys | undefined
}

/** Conflicts in a row that are neither logged nor counted as errors. */
const quietConflicts = 5

/** Applies the table. Call it before the queue's `done`, while the key still counts as being worked on. */
export function requeue<Reason>(
  item: Pick<WorkItem<Reason>, 'key' | 'priority' | 'reasons'>,
  outcome: Outcome,
  { queue, backoff, parked }: RequeueOptions<Reason>,
): RequeueDecision {
  const { key, priority } = item
  const checked = check(outcome)
  const decision = decide(key, checked, backoff)
  if (checked.kind === 'deferred') {
    queue.addAgain(item, { afterMs: checked.afterMs })
    return decision
  }
  if (checked.kind === 'park') parked?.park(key, { waitingFor: checked.waitingFor, priority })
  else parked?.unpark(key)
  if (decision.afterMs !== undefined)
    queue.add(key, {
      afterMs: decision.afterMs,
      priority: ('priority' in checked ? checked.priority : undefined) ?? priority,
    })
  return decision
}

/** An invalid delay or priority is a mistake of the code that returned it: the key fails instead of being lost. */
function check(outcome: Outcome): Outcome {
  if ('priority' in outcome && outcome.priority !== undefined && !Number.isFinite(outcome.priority))
    return { kind: 'error', error: new RangeError(`priority must be a finite number, got ${outcome.priority}`) }
  if (outcome.kind !== 'after' && outcome.kind !== 'deferred') return outcome
  if (!Number.isFinite(outcome.afterMs))
    return {
      kind: 'error',
      error: new RangeError(`afterMs must be a finite number of milliseconds, got ${outcome.afterMs}`),
    }
  return outcome.kind === 'deferred' || outcome.afterMs > 0 ? outcome : { kind: 'done' }
}

function decide(key: string, outcome: Outcome, backoff: Backoff): RequeueDecision {
  switch (outcome.kind) {
    case 'done':
    case 'park':
      backoff.forget(key)
      return { result: 'success', afterMs: undefined, retries: 0, failure: undefined }
    case 'after':
      backoff.forget(key)
      return { result: 'requeue_after', afterMs: outcome.afterMs, retries: 0, failure: undefined }
    case 'error':
    case 'conflict':
      return fail(key, outcome, backoff)
    case 'terminal':
      return {
        result: 'error',
        afterMs: undefined,
        retries: backoff.retries(key),
        failure: { error: outcome.error, isTerminal: true },
      }
    case 'deferred':
      return { result: undefined, afterMs: outcome.afterMs, retries: backoff.retries(key), failure: undefined }
    default:
      return unreachable(outcome)
  }
}

function fail(
  key: string,
  outcome: Extract<Outcome, { kind: 'error' | 'conflict' }>,
  backoff: Backoff,
): RequeueDecision {
  const { kind, error } = outcome
  const leastMs = outcome.kind === 'error' ? (outcome.leastMs ?? 0) : 0
  const afterMs = Math.max(backoff.next(key), Number.isFinite(leastMs) ? leastMs : 0)
  const retries = backoff.retries(key)
  if (kind === 'conflict' && retries <= quietConflicts)
    return { result: 'requeue', afterMs, retries, failure: undefined }
  return { result: 'error', afterMs, retries, failure: { error, isTerminal: false } }
}

interface ParkedKey {
  /** What has to happen, in words for people. */
  readonly waitingFor: string
  /** The priority of the run that parked it, and of the run that follows `wake`. */
  readonly priority: number
}

export class ParkedKeys implements Iterable<[key: string, parked: ParkedKey]> {
  readonly #keys = new Map<string, ParkedKey>()

  get size(): number {
    return this.#keys.size
  }

  park(key: string, parked: ParkedKey): void {
    this.#keys.set(key, parked)
  }

  unpark(key: string): void {
    this.#keys.delete(key)
  }

  [Symbol.iterator](): IterableIterator<[key: string, parked: ParkedKey]> {
    return this.#keys.entries()
  }

  /** Adds every parked key that the function selects, and returns how many. */
  wake<Reason>(
    queue: WorkQueue<Reason>,
    selects: (key: string, parked: ParkedKey) => boolean,
    { reason }: { reason?: Reason } = {},
  ): number {
    let woken = 0
    for (const [key, parked] of this.#keys) {
      if (!selects(key, parked)) continue
      this.#keys.delete(key)
      queue.add(key, { priority: parked.priority, reason })
      woken++
    }
    return woken
  }
}
