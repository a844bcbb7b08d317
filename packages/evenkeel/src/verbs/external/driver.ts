/**
 * What an author writes to have things of another system kept in step with objects: a driver, and a sheet on what that
 * system can do.
 *
 * A driver is a translator, nothing more: it keeps no state, decides nothing and retries nothing. What it throws may
 * carry `status` (as HTTP has it) and `retryAfterMs`; 404 means that the thing is not there, any other 4xx that nothing
 * was done, everything else that nobody knows.
 */
import type { KubeObject } from '#api'
import type { Clock } from '#base'
import type { OwnershipLabels } from './ownership-labels.ts'

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

/**
 * How `external` reaches another system. A driver keeps no state, decides nothing and retries nothing. An error it
 * throws may have `status` (an HTTP code) and `retryAfterMs`.
 */
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
  setLabels?(id: string, labels: OwnershipLabels, call: DriverCall): Promise<void>
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

/*
 * The sheet on what a system can do, from which follows how a thing is known to be ours:
 *
 *   S1 names that we choose   S2 marks that are there from the first moment   S3 tokens that make a repeated create harmless
 *   S4 an object of ours that is written first   S5 a file of ours that is written first
 *
 * The strongest that the sheet allows is used. A sheet that contradicts its driver is refused when it is declared; one
 * that lies about the system shows when a thing does not look as it should, and then nothing is touched.
 */

export interface Capabilities {
  /** Whether things can carry marks, and since when. @default 'none' */
  readonly labels?: 'atomicOnCreate' | 'afterCreate' | 'none'
  /** Who names things. @default 'assigned' */
  readonly ids?: 'deterministic' | 'assigned'
  /** What makes a second create of the same thing harmless. @default 'no' */
  readonly idempotent?: 'byName' | 'byToken' | 'no'
  /** For how long a look may show what was there before. @default 0 */
  readonly consistencyWindowMs?: number
  /** How many calls are allowed. @default as many as there are */
  readonly quota?: {
    readonly callsPerSecond: number
    /** How many at once after a pause. @default callsPerSecond, at least 1 */
    readonly burst?: number
  }
}

/** How a thing is known to be ours. */
export type Strategy = 'S1' | 'S2' | 'S3' | 'S4' | 'S5'

interface StrategyOptions {
  /** A file is there for what must be remembered. */
  readonly hasCheckpoint: boolean
}

/** The strongest strategy that the sheet allows. */
export function chooseStrategy(
  {
    capabilities: { labels: labels = 'none', ids = 'assigned', idempotent = 'no' },
    identify,
    list,
  }: Pick<Driver, 'capabilities' | 'identify' | 'list'>,
  { hasCheckpoint }: StrategyOptions,
): Strategy {
  // A name of the author's choice says what it is for, not whose it is.
  if (ids === 'deterministic' && !identify) return 'S1'
  if (labels === 'atomicOnCreate' && (list || ids === 'deterministic')) return 'S2'
  if (idempotent === 'byToken') return 'S3'
  return hasCheckpoint ? 'S5' : 'S4'
}

const strategyTexts: Readonly<Record<Strategy, string>> = {
  S1: 'its name is made from the instance and the uid',
  S2: 'it carries our marks from the first moment',
  S3: 'a repeated create with the same token gives the same thing',
  S4: 'an ExternalRef is written before it is made',
  S5: 'a local checkpoint is written before it is made',
}

/** A sentence on the strategy, for logs. */
export function describeStrategy(strategy: Strategy): string {
  return strategyTexts[strategy]
}

/** @throws {RangeError} when the sheet and the driver contradict each other. */
export function checkDriver(driver: Driver): void {
  const { name, capabilities, identify, setLabels: mark } = driver
  const { labels: labels = 'none', ids = 'assigned', idempotent = 'no', consistencyWindowMs = 0, quota } = capabilities
  const refuse = (what: string): never => {
    throw new RangeError(`the driver ${name}: ${what}`)
  }
  if (!/^[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?$/.test(name))
    refuse('its name must be up to 40 letters in lower case, digits and dashes')
  if (!['atomicOnCreate', 'afterCreate', 'none'].includes(labels))
    refuse(`marks must be atomicOnCreate, afterCreate or none, got ${String(labels)}`)
  if (!['deterministic', 'assigned'].includes(ids)) refuse(`ids must be deterministic or assigned, got ${String(ids)}`)
  if (!['byName', 'byToken', 'no'].includes(idempotent))
    refuse(`idempotent must be byName, byToken or no, got ${String(idempotent)}`)
  if (labels === 'afterCreate' && !mark) refuse('marks that are put on after the create need a mark function')
  if (idempotent === 'byName' && ids === 'assigned')
    refuse('a create that is idempotent by name needs ids that are deterministic')
  if (identify && ids === 'assigned')
    refuse(
      'identify gives names, and the sheet says that the system assigns them: say ids: deterministic, or leave identify out',
    )
  if (!(consistencyWindowMs >= 0 && consistencyWindowMs < Infinity))
    refuse(`consistencyWindowMs must be 0 or more, got ${consistencyWindowMs}`)
  if (quota && !(quota.callsPerSecond > 0 && (quota.burst ?? 1) >= 1))
    refuse('a quota must be above 0 calls a second, and a burst at least 1')
}

/*
 * What a failure of a call says: that the thing is not there, that nothing was done, that it was too much, or nothing.
 *
 * Drivers throw whatever their libraries throw. Most carry a status somewhere; where there is none, nobody knows whether
 * the call was carried out, and that is what is assumed.
 */

/** An error with a status, for drivers that have nothing better to throw. */
export class ExternalError extends Error {
  override readonly name = 'ExternalError'
  /** As HTTP has it. */
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

/** Why a call was not even made. */
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

export type Failure = 'absent' | 'refused' | 'throttled' | 'unknown'

/** What is known after a call failed. */
export function failureOf(error: unknown): Failure {
  const status = statusOf(error)
  if (status === undefined) return 'unknown'
  if (status === 404 || status === 410) return 'absent'
  if (status === 429) return 'throttled'
  // 408: it gave up waiting, not necessarily doing.
  return status >= 400 && status < 500 && status !== 408 ? 'refused' : 'unknown'
}

const longestMs = 3_600_000

/** How long the system asked us to stay away. */
export function retryAfterOf(error: unknown): number | undefined {
  const { retryAfterMs } = fieldsOf(error)
  return typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? Math.min(retryAfterMs, longestMs) : undefined
}

/** What to tell people; long answers are cut. */
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
