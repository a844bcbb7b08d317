/**
 * The context of a reconcile: everything it may use beside its object.
 *
 * Time and random numbers come from here as well: a reconcile that takes them elsewhere cannot be simulated.
 *
 * `PerRun` keeps what a verb needs for one run, found by the context of that run. A verb is a value that an author
 * declares once and uses in every reconcile: `app.resolve(context)`. Its state belongs to the run, never to the verb:
 * runs are concurrent, and none may see the state of another. The key is the signal: each run has its own.
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
  /**
   * The object of this run: namespace and name, also when it no longer exists.
   *
   * @example log.info('working', { object: key.name, namespace: key.namespace })
   */
  readonly key: ObjectKey
  /**
   * In logs, in the ledger, and in the user agent of every write.
   *
   * @example await audit.write({ reconcileId, change })
   */
  readonly reconcileId: string
  /**
   * Reads cached kinds from memory, own writes included; writes are recorded as those of this run.
   *
   * @example const secret = await client.find(Secret, { name: site.spec.secret, namespace: 'default' })
   */
  readonly client: ReconcileClient
  /** Aborts with a `RunAborted` that has the reason. @example const response = await fetch(url, { signal }) */
  readonly signal: AbortSignal
  /**
   * The time, simulated in tests and in the Explorer: use it instead of `Date` and timers.
   *
   * @example const age = clock.now() - Date.parse(site.metadata.creationTimestamp)
   */
  readonly clock: Clock
  /**
   * Random numbers, by seed in tests and in the Explorer: use it instead of `Math.random`.
   *
   * @example const port = 30_000 + (random.uint32() % 1_000)
   */
  readonly random: Random
  /**
   * A logger whose lines name the controller, the object and the run.
   *
   * @example log.info('site deployed', { replicas: site.spec.replicas })
   */
  readonly log: Logger
  /** Why it runs. For people, not for decisions: missed events are not in it. @example log.debug('why', { causes }) */
  readonly causes: readonly RunCause[]
  /**
   * How often it failed in a row before this run.
   *
   * @example if (attempt > 5) status.condition('Degraded', true, { reason: 'ManyFailures' })
   */
  readonly attempt: number
  /**
   * The priority of this run in the queue: below 0 for resyncs and starts, 0 for changes.
   *
   * @example log.debug('runs', { priority })
   */
  readonly priority: number
}

/**
 * What a reconcile is given beside the object: a client that reads from the cache, the status to write, a signal, a
 * clock and a log. For helper functions that take it as a parameter.
 */
export interface ReconcileContext<K extends Kind = Kind> extends BaseContext {
  /**
   * Collects the status; written once, at the end, if it differs.
   *
   * @example status.set({ url: 'http://web' }); status.condition('Ready', true)
   */
  readonly status: StatusWriter<StatusOf<ReadOf<K>>>
}

/** The type of an object's status. */
type StatusOf<T> = T extends { readonly status?: infer S } ? Exclude<S, undefined> : Readonly<Record<string, never>>

/** What a plug-in may know about its run. */
export interface PluginRun {
  readonly controller: string
  readonly kind: Kind
  readonly declaration: ControllerDeclaration
  /** Absent for `reconcileKey`, and when the object does not exist. */
  readonly object: KubeObject | undefined
  /** Collects the status; absent without an object. Only for kinds that have a status. */
  readonly status: StatusWriter | undefined
  /** Whether the object is being deleted and its cleanup runs. */
  readonly isCleanup: boolean
  readonly cache: ObjectCache
  /** Adds a source to the controller of this run, until it is removed. */
  addSource(source: Source): AddedSource
}

/** A verb that later verbs have to wait for. */
export interface ClosedGate {
  /** What is missing, for people. */
  readonly message: string
  /** When to look again: `{ park }` or `{ afterMs }`. */
  readonly result: Reconciled
}

/** What a plug-in adds to one run. */
export interface Extension<Extra extends object> {
  /** Becomes part of the context. */
  readonly context: Extra
  /**
   * Called before the reconcile. With a result (`{ park }`, `{ afterMs }`) the run ends there: neither the reconcile nor
   * any `finish` is called; the status is written. An error fails the run. `closed` is the first gate of an earlier verb
   * that is closed: work with effects must not begin.
   */
  start?(options: { readonly closed: ClosedGate | undefined }): Promise<Reconciled>
  /**
   * Called after `start`: what the work of later verbs has to wait for. The reconcile is called all the same; it decides
   * itself what to do. @default nothing
   */
  gate?(): Promise<ClosedGate | undefined>
  /**
   * Called when the reconcile has returned, before the status is written; not when it threw, stopped or was aborted. An
   * error fails the run. The soonest result counts, that of the reconcile included.
   */
  finish?(): Promise<Reconciled>
  /**
   * Called instead of `finish` when the run ended early (a `start` had a result, or a `StopReconcile` was thrown), before
   * the status is written. An error fails the run; the soonest result counts.
   */
  stopped?(): Promise<Reconciled>
}

/** Adds something to the context of every run. */
export interface ContextPlugin<Extra extends object = object> {
  readonly name: string
  extend(base: BaseContext, run: PluginRun): Extension<Extra>
  /** Cleanup steps that run after those of the declaration. @default none */
  steps?(declaration: ControllerDeclaration, controller: string): readonly CleanupStep[]
  /** Called for a key without an object: what is left to do about it. */
  absent?(base: BaseContext, run: PluginRun): Promise<Reconciled>
  /** Called when a run of an object has failed, after it was logged. */
  failed?(error: unknown, run: { readonly controller: string; readonly object: KubeObject }): void
}

export class PerRun<T extends object> {
  // Stored on the signal: a WeakMap that outlives the run would keep its entries until a major garbage collection.
  readonly #place: symbol
  readonly #name: string

  /** The name of the verb, for the error when it was not declared. */
  constructor(name: string) {
    this.#name = name
    this.#place = Symbol(name)
  }

  set(context: Pick<BaseContext, 'signal'>, value: T): T {
    placesOf(context)[this.#place] = value
    return value
  }

  /** @throws {RangeError} when the controller of this run does not declare the verb. */
  get(context: Pick<BaseContext, 'signal'>): T {
    const value = placesOf(context)[this.#place] as T | undefined
    if (!value)
      throw new RangeError(`${this.#name} is not a verb of this controller: add it to verbs of its declaration`)
    return value
  }
}

function placesOf({ signal }: Pick<BaseContext, 'signal'>): Record<symbol, unknown> {
  return signal as unknown as Record<symbol, unknown>
}
