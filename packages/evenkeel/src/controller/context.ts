/**
 * What a reconcile is given beside its object: everything it may use, so that it needs nothing else.
 *
 * Time and chance come from here as well: a reconcile that takes them elsewhere cannot be simulated.
 */
import type { Kind, KubeObject, ObjectKey } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { ObjectCache } from '#cache'
import type { ReadOf } from '#client'
import type { CleanupStep, ControllerDeclaration, Reconciled } from './declaration.ts'
import type { ReconcileClient } from './reconcile-client.ts'
import type { RunCause } from './run-record.ts'
import type { AddedSource, Source } from './sources.ts'
import type { StatusWriter } from './status.ts'

export interface BaseContext {
  readonly key: ObjectKey
  /** In logs, in the ledger, and in the user agent of every write. */
  readonly reconcileId: string
  /** Reads what is followed from memory, own writes included; writes are recorded as this run's. */
  readonly client: ReconcileClient
  /** Aborts with a `RunAborted` that says why. */
  readonly signal: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Why this run. For people, not for decisions: what was missed is not in it. */
  readonly causes: readonly RunCause[]
  /** How often it failed in a row before this. */
  readonly attempt: number
  readonly priority: number
}

/**
 * What a reconcile is given beside the object: a client that reads from the cache, the status to write, a signal, a
 * clock and a log. For helper functions that take it as a parameter.
 */
export interface ReconcileContext<K extends Kind = Kind> extends BaseContext {
  /** Collects what was observed; written once, at the end, if it differs. */
  readonly status: StatusWriter<StatusOf<ReadOf<K>>>
}

/** The type of an object's status. */
export type StatusOf<T> = T extends { readonly status?: infer S }
  ? Exclude<S, undefined>
  : Readonly<Record<string, never>>

/** What a plug-in may know about the run it serves. */
export interface PluginRun {
  readonly controller: string
  readonly kind: Kind
  readonly declaration: ControllerDeclaration
  /** Absent for `reconcileKey`, and when there is no such object any more. */
  readonly object: KubeObject | undefined
  /** Where to say what was seen; absent without an object. Only for kinds that have a status. */
  readonly status: StatusWriter | undefined
  /** Whether the object is on its way out and its cleanup runs. */
  readonly isCleanup: boolean
  readonly cache: ObjectCache
  /** One more source for the controller of this run, from now on and until it is removed. */
  addSource(source: Source): AddedSource
}

/** What a plug-in adds to one run. */
export interface Extension<Extra extends object> {
  /** Becomes part of the context. */
  readonly context: Extra
  /**
   * Called before the reconcile. With a result (`{ park }`, `{ afterMs }`) the run ends there: neither the reconcile nor
   * any `finish` is called; what was said about the status is written. What it throws fails the run.
   */
  start?(): Promise<Reconciled>
  /**
   * Called when the reconcile has returned, before the status is written; not when it threw, stopped or was aborted. What
   * it throws fails the run. A result counts when the reconcile itself gave none.
   */
  finish?(): Promise<Reconciled>
}

/** Adds something to the context of every run. */
export interface ContextPlugin<Extra extends object = object> {
  readonly name: string
  extend(base: BaseContext, run: PluginRun): Extension<Extra>
  /** Steps of the cleanup that come after those of the declaration. @default none */
  steps?(declaration: ControllerDeclaration, controller: string): readonly CleanupStep[]
  /** A key was asked for and no object has it (any more): what is left to do about it. */
  absent?(base: BaseContext, run: PluginRun): Promise<Reconciled>
}

/*
 * What a verb keeps for one run, found again from the context of that run.
 *
 * A verb is a value that an author declares once and asks in every reconcile: `app.resolve(context)`. Its state belongs
 * to the run, never to the verb: runs go on side by side, and none may see another's. The signal of a run is its own.
 */

export class PerRun<T extends object> {
  // Kept by the signal itself: a weak map that outlives the run would keep all of it until old memory is cleared.
  readonly #place: symbol
  readonly #name: string

  /** The name of the verb, for people who forgot to declare it. */
  constructor(name: string) {
    this.#name = name
    this.#place = Symbol(name)
  }

  set(context: Pick<BaseContext, 'signal'>, value: T): T {
    placesOf(context)[this.#place] = value
    return value
  }

  /** @throws {RangeError} when the controller of this run does not have the verb. */
  get(context: Pick<BaseContext, 'signal'>): T {
    const value = placesOf(context)[this.#place] as T | undefined
    if (!value)
      throw new RangeError(
        `${this.#name} is not among the verbs of this controller: add it to verbs of its declaration`,
      )
    return value
  }
}

function placesOf({ signal }: Pick<BaseContext, 'signal'>): Record<symbol, unknown> {
  return signal as unknown as Record<symbol, unknown>
}
