/**
 * A driver translates between objects and the external resources of one system, and declares what that system can do.
 *
 * A driver keeps no state, decides nothing and retries nothing. An error may have `status` (an HTTP status code) and
 * `retryAfterMs`: 404 means that the resource does not exist, 429 that the system throttles, any other 4xx that the call
 * had no effect. After every other error, and without a status, the outcome is unknown.
 *
 * The capabilities decide how ownership of a resource is proven; the strongest possible strategy is used:
 *
 *   S1 the resource has a name that we derive from the UID     S2 the create call stores ownership labels
 *   S3 a create call with the same token is idempotent         S4 an ExternalRef object is written before the create call
 *   S5 a local checkpoint is written before the create call
 *
 * Example: `{ labels: 'atomicOnCreate' }` with a `list` function is S2. Without `list` the labels cannot be searched, so
 * it is S4, or S5 with a checkpoint. Capabilities that contradict the driver are refused when the verb is declared.
 */
import type { KubeObject, ObjectMeta } from '#api'
import type { Clock } from '#base'
import type { OwnershipLabels } from './ownership-labels.ts'

/** An object that the server stored: it has a name and a UID, also while it is being deleted. */
export type ExternalObject<T extends KubeObject> = T & {
  readonly metadata: ObjectMeta & { readonly name: string; readonly uid: string }
}

export function isStored<T extends KubeObject>(object: T): object is ExternalObject<T> {
  return object.metadata.name !== undefined && object.metadata.uid !== undefined
}

/** The context of every call of a driver. */
export interface DriverCall {
  /** Aborts the call on timeout, or when its result is no longer needed. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** The result of `connect` for the object; undefined for calls that concern no single object. */
  readonly connection: unknown
}

/** The context of `connect`. */
export interface ConnectCall<Needs extends object = object> extends Omit<DriverCall, 'connection'> {
  /** While the object is being deleted, those that still exist. */
  readonly needs: { readonly [Name in keyof Needs]: Needs[Name] | undefined }
}

/** An external resource as the system shows it. */
export interface Observation<Observed> {
  readonly id: string
  readonly observed: Observed
  /** The ownership labels as stored by the system; they are validated, not trusted. @default none */
  readonly labels?: unknown
}

export interface CreateCall extends DriverCall {
  /** The name it must have; undefined if the system assigns ids. */
  readonly id: string | undefined
  /** To be stored with the resource, in the same call if the capabilities say `atomicOnCreate`. */
  readonly labels: OwnershipLabels
  /** The same for every attempt to create the same resource. */
  readonly idempotencyKey: string
}

export interface UpdateCall<Observed> extends DriverCall {
  /** The current state. */
  readonly observed: Observed
  /** Which fields differ. */
  readonly paths: readonly string[]
  readonly labels: OwnershipLabels
}

/** Which resources to list: those with these labels, or all in a scope. */
export interface ListQuery {
  /** Resources whose ownership labels have these values. Results are filtered again, so extra results only cost time. */
  readonly labels: Partial<OwnershipLabels>
  /** All resources in this scope, labelled or not: set for exclusive use only. */
  readonly scope?: string
}

/** A resource has changed; without an id, any resource may have changed. */
export interface DriverEvent {
  readonly id?: string
  readonly labels?: unknown
  /** Where a later watch continues. */
  readonly cursor?: string
}

/** Whether a resource is ready, and why not. */
export type ExternalReadiness =
  | boolean
  | { readonly ready: boolean; readonly reason?: string; readonly message?: string }

/**
 * How `external` reaches another system. A driver keeps no state, decides nothing and retries nothing. An error it
 * throws may have `status` (an HTTP code) and `retryAfterMs`.
 */
export interface Driver<
  T extends KubeObject = KubeObject,
  Desired = unknown,
  Observed = unknown,
  Needs extends object = object,
> {
  /** Name of the system in object names, logs and conditions: `shapes`. */
  readonly name: string
  readonly capabilities: Capabilities
  /** The desired state of the resource: a pure function of the object and of the objects that it needs (option `needs`). */
  desired(object: ExternalObject<T>, needs: Needs): Desired
  /** A name for the resource, if the system lets clients choose. @default a name derived from the instance and the UID */
  identify?(object: ExternalObject<T>): string | undefined
  /** The resource of this id, or undefined if it does not exist. */
  observe(id: string, call: DriverCall): Promise<Observation<Observed> | undefined>
  create(desired: Desired, call: CreateCall): Promise<{ readonly id: string }>
  update(id: string, desired: Desired, call: UpdateCall<Observed>): Promise<void>
  /** Deletes the resource. May return before it is gone. */
  remove(id: string, call: DriverCall): Promise<void>
  /**
   * Cancels a create call with this token: deletes its result, and refuses the token from now on.
   * @default the create call is repeated to learn which resource to delete
   */
  cancel?(idempotencyKey: string, call: DriverCall): Promise<void>
  /** Replaces the ownership labels of a resource. @default labels change only with `update` */
  setLabels?(id: string, labels: OwnershipLabels, call: DriverCall): Promise<void>
  /** All resources of a query, page by page. */
  list?(query: ListQuery, call: DriverCall): AsyncIterable<readonly Observation<Observed>[]>
  /** Events from now on, or since a cursor. May end or fail at any time. */
  watch?(since: string | undefined, call: DriverCall): AsyncIterable<DriverEvent>
  /** Paths at which a resource differs from the desired state. @default the paths of `desired` whose values differ */
  diff?(desired: Desired, observed: Observed): readonly string[]
  /** @default an existing resource is ready */
  ready?(observed: Observed): ExternalReadiness
  /**
   * Credentials, or a client, for one object. `needs` has the objects that it needs; while the object is being deleted,
   * those that still exist.
   *
   * @default none
   */
  connect?(object: ExternalObject<T>, call: ConnectCall<Needs>): Promise<unknown>
}

/** What a system can do. */
export interface Capabilities {
  /** Whether resources can carry ownership labels, and from when on. @default 'none' */
  readonly labels?: 'atomicOnCreate' | 'afterCreate' | 'none'
  /** Whether the client chooses ids, or the system assigns them. @default 'assigned' */
  readonly ids?: 'deterministic' | 'assigned'
  /** What makes a repeated create call idempotent. @default 'no' */
  readonly idempotent?: 'byName' | 'byToken' | 'no'
  /** For how long a read may return an older state. @default 0 */
  readonly consistencyWindowMs?: number
  /** Rate limit of the system. @default unlimited */
  readonly quota?: {
    readonly callsPerSecond: number
    /** @default callsPerSecond, at least 1 */
    readonly burst?: number
  }
}

/** How ownership of a resource is proven, see the file header. */
export type Strategy = 'S1' | 'S2' | 'S3' | 'S4' | 'S5'

interface StrategyOptions {
  readonly hasCheckpoint: boolean
}

/** The strongest strategy that the capabilities allow. */
export function chooseStrategy(
  {
    capabilities: { labels = 'none', ids = 'assigned', idempotent = 'no' },
    identify,
    list,
  }: Pick<Driver, 'capabilities' | 'identify' | 'list'>,
  { hasCheckpoint }: StrategyOptions,
): Strategy {
  // A name chosen by the author does not prove who owns the resource.
  if (ids === 'deterministic' && !identify) return 'S1'
  if (labels === 'atomicOnCreate' && (list || ids === 'deterministic')) return 'S2'
  if (idempotent === 'byToken') return 'S3'
  return hasCheckpoint ? 'S5' : 'S4'
}

const strategyTexts: Readonly<Record<Strategy, string>> = {
  S1: 'resource names are derived from the instance and the UID',
  S2: 'the create call stores ownership labels',
  S3: 'a create call with the same token is idempotent',
  S4: 'an ExternalRef is written before the create call',
  S5: 'a local checkpoint is written before the create call',
}

/** A description of the strategy, for logs. */
export function describeStrategy(strategy: Strategy): string {
  return strategyTexts[strategy]
}

/** @throws {RangeError} if the capabilities contradict the driver. */
export function checkDriver(driver: Driver): void {
  const { name, capabilities, identify, setLabels } = driver
  const { labels = 'none', ids = 'assigned', idempotent = 'no', consistencyWindowMs = 0, quota } = capabilities
  const refuse = (what: string): never => {
    throw new RangeError(`driver ${name}: ${what}`)
  }
  if (!/^[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?$/.test(name))
    refuse('name must be at most 40 lower-case letters, digits and dashes')
  if (!['atomicOnCreate', 'afterCreate', 'none'].includes(labels))
    refuse(`labels must be atomicOnCreate, afterCreate or none, got ${String(labels)}`)
  if (!['deterministic', 'assigned'].includes(ids)) refuse(`ids must be deterministic or assigned, got ${String(ids)}`)
  if (!['byName', 'byToken', 'no'].includes(idempotent))
    refuse(`idempotent must be byName, byToken or no, got ${String(idempotent)}`)
  if (labels === 'afterCreate' && !setLabels) refuse("labels: 'afterCreate' needs the function setLabels")
  if (idempotent === 'byName' && ids === 'assigned') refuse("idempotent: 'byName' needs ids: 'deterministic'")
  if (identify && ids === 'assigned')
    refuse("identify chooses names, but the system assigns ids: set ids: 'deterministic', or remove identify")
  if (!(consistencyWindowMs >= 0 && consistencyWindowMs < Infinity))
    refuse(`consistencyWindowMs must be 0 or more, got ${consistencyWindowMs}`)
  if (quota && !(quota.callsPerSecond > 0 && (quota.burst ?? 1) >= 1))
    refuse('quota.callsPerSecond must be above 0, and quota.burst at least 1')
}

/** An error with a status, for drivers whose client library throws none. */
export class ExternalError extends Error {
  override readonly name = 'ExternalError'
  /** An HTTP status code. */
  readonly status: number
  readonly retryAfterMs: number | undefined

  constructor(
    message: string,
    { status, retryAfterMs, cause }: { status: number; retryAfterMs?: number; cause?: unknown },
  ) {
    super(message, { cause })
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** A call was not sent, because the circuit breaker of its system is open. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
  readonly retryAfterMs: number

  constructor(message: string, { retryAfterMs, cause }: { retryAfterMs: number; cause?: unknown }) {
    super(message, { cause })
    this.retryAfterMs = retryAfterMs
  }
}

export function isProviderUnavailable(error: unknown): error is ProviderUnavailable {
  return error instanceof ProviderUnavailable
}

/** What a failed call says about its effect: no such resource, no effect, throttled, or unknown. */
export type Failure = 'absent' | 'refused' | 'throttled' | 'unknown'

/** Classifies an error of a driver by its status. */
export function failureOf(error: unknown): Failure {
  const status = statusOf(error)
  if (status === undefined) return 'unknown'
  if (status === 404 || status === 410) return 'absent'
  if (status === 429) return 'throttled'
  // 408: the system stopped waiting, but may still carry out the call.
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'unknown'
}

const longestMs = 3_600_000

/** The back-off that the system asked for, at most one hour. */
export function retryAfterOf(error: unknown): number | undefined {
  const { retryAfterMs } = fieldsOf(error)
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.min(retryAfterMs, longestMs) : undefined
}

/** The message of an error, cut to 300 characters. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.length > 300 ? `${text.slice(0, 297)}...` : text
}

function statusOf(error: unknown): number | undefined {
  const { status, statusCode, code } = fieldsOf(error)
  return [status, statusCode, code].find(
    (value): value is number => typeof value === 'number' && value >= 100 && value < 600,
  )
}

function fieldsOf(error: unknown): { readonly [name: string]: unknown } {
  return typeof error === 'object' && error !== null ? (error as { readonly [name: string]: unknown }) : {}
}
