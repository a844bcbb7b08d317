/**
 * What follows from the way a piece of work ended: forget, wait, back off, or give up.
 *
 *   outcome    again                failures   counted as
 *   done       no                   forgotten  success
 *   after      after `afterMs`      forgotten  requeue_after
 *   park       no                   forgotten  success
 *   error      after the back-off   one more   error; after `leastMs` if that is longer
 *   terminal   no                   kept       error
 *   conflict   after the back-off   one more   requeue, quietly; error from the sixth failure in a row on
 *
 * The rules and the words are controller-runtime's, where they have one. A key that goes again keeps the priority of
 * the run, unless the outcome names another. Whatever was added while the work went on wins over all of this: such a
 * key is ready, so a delay changes nothing. `no` means: until somebody adds the key.
 */
import { unreachable } from '#base'
import type { Backoff } from './backoff.ts'
import type { WorkItem } from './ready-queue.ts'
import type { WorkQueue } from './work-queue.ts'

/** How a piece of work ended. */
export type Outcome =
  /** All is as it should be. */
  | { readonly kind: 'done' }
  /** All is as it should be; look again later. 0 or less is the same as `done`. */
  | { readonly kind: 'after'; readonly afterMs: number; readonly priority?: number | undefined }
  /** Nothing can be done until something happens that will add the key. */
  | { readonly kind: 'park'; readonly waitingFor: string }
  /** It failed; trying again may help. */
  | {
      readonly kind: 'error'
      readonly error: unknown
      readonly priority?: number | undefined
      /** Not before so long, whatever the back-off says. */ readonly leastMs?: number | undefined
    }
  /** It failed, and trying again does not help. */
  | { readonly kind: 'terminal'; readonly error: unknown }
  /** Somebody else was faster; that is nobody's mistake. */
  | { readonly kind: 'conflict'; readonly error: unknown; readonly priority?: number | undefined }

/** What was done about an outcome. */
export interface RequeueDecision {
  /** The word for `controller_runtime_reconcile_total`. */
  readonly result: 'success' | 'requeue_after' | 'requeue' | 'error'
  /** In how long the key goes again; undefined: not by itself. */
  readonly afterMs: number | undefined
  /** Failures in a row, this one included. */
  readonly retries: number
  /** What went wrong, if it is to be logged and counted as an error; a quiet conflict is not. */
  readonly failure: { readonly error: unknown; readonly isTerminal: boolean } | undefined
}

export interface RequeueOptions {
  readonly queue: Pick<WorkQueue<never>, 'add'>
  readonly backoff: Backoff
  /** Remembers what parked keys wait for. */
  readonly parked?: ParkedKeys | undefined
}

/** Conflicts in a row that are nothing to write home about. */
const quietConflicts = 5

/** Does what the table says. To be called while the key is still being worked on, before `done`. */
export function requeue(
  { key, priority }: Pick<WorkItem, 'key' | 'priority'>,
  outcome: Outcome,
  { queue, backoff, parked }: RequeueOptions,
): RequeueDecision {
  const checked = check(outcome)
  const settled = decide(key, checked, backoff)
  if (checked.kind === 'park') parked?.park(key, { waitingFor: checked.waitingFor, priority })
  else parked?.unpark(key)
  if (settled.afterMs !== undefined)
    queue.add(key, {
      afterMs: settled.afterMs,
      priority: ('priority' in checked ? checked.priority : undefined) ?? priority,
    })
  return settled
}

/** A delay or a priority that is no number is a mistake of whoever gave it: the key fails instead of being lost. */
function check(outcome: Outcome): Outcome {
  if ('priority' in outcome && outcome.priority !== undefined && !Number.isFinite(outcome.priority))
    return { kind: 'error', error: new RangeError(`a priority must be a finite number, got ${outcome.priority}`) }
  if (outcome.kind !== 'after') return outcome
  if (!Number.isFinite(outcome.afterMs))
    return {
      kind: 'error',
      error: new RangeError(`afterMs must be a finite number of milliseconds, got ${outcome.afterMs}`),
    }
  return outcome.afterMs > 0 ? outcome : { kind: 'done' }
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

/*
 * Keys that said they can do nothing until something happens, and what they wait for.
 *
 * Parking takes no place in the queue and sets no timer: any `add` makes the key run. This list is there to be shown,
 * and to wake all who wait for the same thing. Invariant: a key is here from the run that parked it until the end of
 * its next run.
 */

export interface ParkedKey {
  /** For people: what has to happen. */
  readonly waitingFor: string
  /** The priority of the run that parked it; it is woken at the same. */
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

  /** Adds every parked key that the function picks, and says how many it were. */
  wake<Reason>(
    queue: WorkQueue<Reason>,
    picks: (key: string, parked: ParkedKey) => boolean,
    { reason }: { reason?: Reason } = {},
  ): number {
    let woken = 0
    for (const [key, parked] of this.#keys) {
      if (!picks(key, parked)) continue
      this.#keys.delete(key)
      queue.add(key, { priority: parked.priority, reason })
      woken++
    }
    return woken
  }
}
