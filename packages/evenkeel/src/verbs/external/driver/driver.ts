/**
 * What an author writes to have things of another system kept in step with objects: a driver, and a sheet on what that
 * system can do.
 *
 * A driver is a translator, nothing more: it keeps no state, decides nothing and retries nothing. What it throws may
 * carry `status` (as HTTP has it) and `retryAfterMs`; 404 means that the thing is not there, any other 4xx that nothing
 * was done, everything else that nobody knows.
 */
import type { Clock } from '#base'
import type { KubeObject } from '#api'
import type { Capabilities } from './capabilities.ts'
import type { OwnershipLabels } from './marks.ts'

/** What every call is given. */
export interface DriverCall {
  /** Ends the call: its time is over, or nobody waits for it any more. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** What `connect` gave for the object; undefined for calls that are about no object in particular. */
  readonly connection: unknown
}

/** A thing as it is outside. */
export interface Observation<Observed> {
  readonly id: string
  readonly observed: Observed
  /** The marks it carries, as the system gives them back; they are checked, not trusted. @default none */
  readonly labels?: unknown
}

export interface CreateCall extends DriverCall {
  /** The name it must have; undefined where the system chooses. */
  readonly id: string | undefined
  /** To be stored with the thing, in the same call where the sheet says `atomicOnCreate`. */
  readonly labels: OwnershipLabels
  /** The same for every attempt to make the same thing. */
  readonly idempotencyKey: string
}

export interface UpdateCall<Observed> extends DriverCall {
  /** What is there now. */
  readonly observed: Observed
  /** Which fields differ. */
  readonly paths: readonly string[]
  readonly labels: OwnershipLabels
}

/** What a list is about: everything that carries these marks, or everything in a scope. */
export interface ListQuery {
  /** Things whose marks have these values. The engine looks again, so giving too many is only slow. */
  readonly labels: Partial<OwnershipLabels>
  /** Everything in here, marked or not: only asked for exclusive use. */
  readonly scope?: string
}

/** Something happened to a thing; without an id: anything may have. */
export interface DriverEvent {
  readonly id?: string
  readonly labels?: unknown
  /** Where to go on after this. */
  readonly cursor?: string
}

/** Whether a thing does what it is for, and why not. */
export type ExternalReadiness =
  | boolean
  | { readonly ready: boolean; readonly reason?: string; readonly message?: string }

export interface Driver<T extends KubeObject = KubeObject, Desired = unknown, Observed = unknown> {
  /** What the system is called, in names, logs and conditions: `shapes`. */
  readonly name: string
  readonly capabilities: Capabilities
  /** What the thing of this object should be like; the same for the same object. */
  desired(object: T): Desired
  /** The name that the author wants for it, where names can be chosen. @default a name made from the instance and the uid */
  identify?(object: T): string | undefined
  /** The thing of this id, or undefined when it is not there. */
  observe(id: string, call: DriverCall): Promise<Observation<Observed> | undefined>
  create(desired: Desired, call: CreateCall): Promise<{ readonly id: string }>
  update(id: string, desired: Desired, call: UpdateCall<Observed>): Promise<void>
  /** May return before the thing is gone. */
  remove(id: string, call: DriverCall): Promise<void>
  /**
   * Makes sure that nothing comes of a create with this token: what it has made goes, and it is refused from now on.
   * @default the create is repeated, to learn what to remove
   */
  cancel?(idempotencyKey: string, call: DriverCall): Promise<void>
  /** Writes other marks on a thing. @default marks change only with `update` */
  setLabels?(id: string, marks: OwnershipLabels, call: DriverCall): Promise<void>
  /** All things of a query, page by page. */
  list?(query: ListQuery, call: DriverCall): AsyncIterable<readonly Observation<Observed>[]>
  /** What happens from now on, or since a cursor. May end or fail at any time. */
  watch?(since: string | undefined, call: DriverCall): AsyncIterable<DriverEvent>
  /** Paths at which a thing is not as desired. @default those of `desired` whose values differ */
  diff?(desired: Desired, observed: Observed): readonly string[]
  /** @default a thing that is there is ready */
  ready?(observed: Observed): ExternalReadiness
  /** Credentials, or a client of its own, for one object. @default none */
  connect?(object: T, call: Omit<DriverCall, 'connection'>): Promise<unknown>
}
