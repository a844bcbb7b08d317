/**
 * What a reconcile is given beside its object: everything it may use, so that it needs nothing else.
 *
 * Time and chance come from here as well: a reconcile that takes them elsewhere cannot be simulated.
 */
import type { Clock, Logger, Random } from '#base'
import type { Kind, KubeObject, ObjectKey } from '#api'
import type { ReadOf } from '#client'
import type { RunCause } from '../ledger/cause.ts'
import type { ReconcileClient } from './reconcile-client.ts'
import type { StatusWriter } from './status-writer.ts'

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

export interface ReconcileContext<K extends Kind = Kind> extends BaseContext {
  /** Collects what was observed; written once, at the end, if it differs. */
  readonly status: StatusWriter<StatusOf<ReadOf<K>>>
}

/** The type of an object's status. */
export type StatusOf<T> = T extends { readonly status?: infer S } ? Exclude<S, undefined> : Readonly<Record<string, never>>

/** What a plug-in may know about the run it serves. */
export interface PluginRun {
  readonly controller: string
  readonly kind: Kind
  /** Absent for `reconcileKey`. */
  readonly object: KubeObject | undefined
}

/** What a plug-in adds to one run. */
export interface Extension<Extra extends object> {
  /** Becomes part of the context. */
  readonly context: Extra
  /** Called when the reconcile is done, before the status is written. What it throws fails the run. */
  finish?(): Promise<void>
}

/** Adds something to the context of every run. */
export interface ContextPlugin<Extra extends object = object> {
  readonly name: string
  extend(base: BaseContext, run: PluginRun): Extension<Extra>
}
