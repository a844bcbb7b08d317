/**
 * One look at one object and its thing: the parts that finding, bringing and removing it share.
 */
import { conflict, type Kind, type KubeObject } from '#api'
import { randomFraction } from '#base'
import type { BaseContext, StatusWriter } from '#controller'
import type { DriverCalls } from './calls.ts'
import {
  failureOf,
  isProviderUnavailable,
  messageOf,
  type Driver,
  type DriverCall,
  type Failure,
  type Observation,
  type Strategy,
} from './driver.ts'
import { makeOwnershipLabels, type OwnershipIdentity, type OwnershipLabels } from './ownership-labels.ts'
import { policyFor, type ExternalPolicy, type ExternalSettings } from './policy.ts'
import type { RecordStore, ResourceRecord } from './record.ts'

/** A verb in one controller. */
export interface ExternalEnvironment {
  readonly driver: Driver
  readonly kind: Kind
  readonly strategy: Strategy
  readonly settings: ExternalSettings
  readonly calls: DriverCalls
  readonly observations: ObservationCache
  readonly identity: OwnershipIdentity
  /** Whether the kind has `status.external`. */
  readonly hasStatus: boolean
}

export type DriverOperation = 'connect' | 'observe' | 'create' | 'update' | 'remove' | 'mark' | 'list'

/** A call to the outside that failed, and what that says. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  readonly operation: DriverOperation
  readonly failure: Failure

  constructor(operation: DriverOperation, cause: unknown) {
    super(messageOf(cause), { cause })
    this.operation = operation
    this.failure = failureOf(cause)
  }
}

interface ConditionText {
  readonly holds: boolean
  readonly reason: string
  readonly message: string
}

interface ExternalSessionOptions {
  readonly environment: ExternalEnvironment
  readonly base: BaseContext
  readonly object: KubeObject
  readonly store: RecordStore
  readonly status: StatusWriter | undefined
}

export class ExternalSession {
  readonly environment: ExternalEnvironment
  readonly base: BaseContext
  readonly object: KubeObject
  readonly store: RecordStore
  readonly status: StatusWriter | undefined
  readonly uid: string
  readonly labels: OwnershipLabels
  /** What is to be said in conditions, by type. */
  readonly conditions = new Map<string, ConditionText>()
  #policy: ExternalPolicy | undefined
  #connection: unknown

  constructor({ environment: parts, base, object, store: memory, status }: ExternalSessionOptions) {
    this.environment = parts
    this.base = base
    this.object = object
    this.store = memory
    this.status = status
    this.uid = object.metadata.uid ?? ''
    this.labels = makeOwnershipLabels(object, parts.identity)
  }

  /** @throws {PolicyError} when an annotation is not understood */
  get policy(): ExternalPolicy {
    return (this.#policy ??= policyFor(this.object as never, this.environment.settings.policy))
  }

  get nowMs(): number {
    return this.base.clock.monotonic()
  }

  /** Of the object; 0 where the server does not count. */
  get generation(): number {
    return this.object.metadata.generation ?? 0
  }

  get windowMs(): number {
    return this.environment.driver.capabilities.consistencyWindowMs ?? 0
  }

  /** After how long nothing more can come of a call that nobody has heard of since. */
  get settleMs(): number {
    return this.windowMs + this.environment.settings.callTimeoutMs
  }

  /** About so long: many who wait for the same do not come back at once. */
  jittered(ms: number): number {
    return Math.round(ms * (0.9 + 0.2 * randomFraction(this.base.random)))
  }

  /** What is remembered; what this process has made itself it need not be told. */
  async readRecord({ live = false }: { live?: boolean } = {}): Promise<ResourceRecord> {
    const remembered = await this.store.read({ live })
    const { made } = this.environment.observations.of(this.uid)
    const { attempt, id } = remembered
    const isMine = made !== undefined && attempt?.key === made.key && id === undefined
    return isMine ? { ...remembered, id: made.id, attempt: { ...attempt, outcome: 'Created' } } : remembered
  }

  /** Credentials and the like, for everything that follows. */
  async connect(): Promise<void> {
    const { driver } = this.environment
    if (driver.connect)
      this.#connection = await this.call(
        'connect',
        ({ signal, clock }) => driver.connect?.(this.object, { signal, clock }) ?? Promise.resolve(undefined),
      )
  }

  /** Whoever changes something outside asks the server first: a view may be old. @throws {ApiError} `Conflict`, when it is */
  async assertCurrent(): Promise<void> {
    const {
      base: { client, signal },
      environment: { kind },
      object: {
        metadata: { name = '', namespace, generation, deletionTimestamp },
      },
    } = this
    const now = (await client.get(
      kind,
      { name, ...(namespace !== undefined && { namespace }) },
      { live: true, signal },
    )) as KubeObject
    const isSame =
      now.metadata.uid === this.uid &&
      now.metadata.generation === generation &&
      now.metadata.deletionTimestamp === deletionTimestamp
    if (!isSame) throw conflict({ group: kind.group, kind: kind.kind, name }, 'it has changed since it was looked at')
  }

  /** @throws {CallFailed} with what the driver threw; `ProviderUnavailable` as it is */
  async call<R>(operation: DriverOperation, call: (given: DriverCall) => Promise<R>): Promise<R> {
    const { signal, clock, random } = this.base
    try {
      return await this.environment.calls.make(
        { signal, clock, random, timeoutMs: this.environment.settings.callTimeoutMs, connection: this.#connection },
        call,
      )
    } catch (error) {
      if (signal.aborted || isProviderUnavailable(error)) throw error
      throw new CallFailed(operation, error)
    }
  }

  /** The thing of an id, if it is there. */
  async observe(id: string): Promise<Observation<unknown> | undefined> {
    try {
      const observation = await this.call('observe', (given) => this.environment.driver.observe(id, given))
      return observation ? { ...observation, id } : undefined
    } catch (error) {
      if (error instanceof CallFailed && error.failure === 'absent') return undefined
      throw error
    }
  }

  /** All things with these marks. */
  async list(labels: Partial<OwnershipLabels>): Promise<readonly Observation<unknown>[]> {
    const {
      driver: { list },
      driver,
      calls,
      settings: { callTimeoutMs: timeoutMs },
    } = this.environment
    if (!list) return []
    const { signal, clock, random } = this.base
    try {
      return await calls.collect(
        { signal, clock, random, timeoutMs, connection: this.#connection },
        { open: (given) => list.call(driver, { labels }, given), itemsMax: resourcesMax },
      )
    } catch (error) {
      if (signal.aborted || isProviderUnavailable(error)) throw error
      throw new CallFailed('list', error)
    }
  }
}

/** More than one object can have. */
const resourcesMax = 10_000

/**
 * What a process has seen of things and may forget at any time: it then waits longer, looks again, and comes to the same.
 */
interface CachedObservation {
  /** Which attempt, and when this process first heard of it: clocks of other processes do not count. */
  attemptKey?: string
  attemptSeenMs?: number
  /** The attempt that the system said no to: nothing came of it. */
  refusedKey?: string
  /** What an attempt of this process has made, if it could not be written down. */
  made?: { readonly key: string; readonly id: string }
  /** Since when it is not shown, although it should be there. */
  absentSinceMs?: number
  /** Since when it is shown to be otherwise than it was brought to. */
  driftSinceMs?: number
  /** When its removal was last asked for. */
  removedAtMs?: number
  /** When it was first asked for. */
  removingSinceMs?: number
  /** When it was last looked at. */
  lastSeenMs?: number
  /** Other things that say they belong to the same object. */
  duplicates?: readonly string[]
}

const entriesMax = 100_000

export class ObservationCache {
  readonly #byUid = new Map<string, CachedObservation>()
  #swept: ReadonlySet<string> | undefined

  of(uid: string): CachedObservation {
    let known = this.#byUid.get(uid)
    if (!known) {
      known = {}
      // The oldest goes: it is asked for again if it still matters.
      const oldest = this.#byUid.size >= entriesMax ? this.#byUid.keys().next() : undefined
      if (oldest && oldest.done !== true) this.#byUid.delete(oldest.value)
      this.#byUid.set(uid, known)
    }
    return known
  }

  forget(uid: string): void {
    this.#byUid.delete(uid)
  }

  /** The owners of everything that was in the last list. */
  noteSwept(uids: ReadonlySet<string>): void {
    this.#swept = uids
  }

  /** Whether there may be a thing for an object that remembers none: only a list can say so. */
  mayHave(uid: string): boolean {
    return this.#swept === undefined || this.#swept.has(uid) || this.#byUid.get(uid)?.attemptKey !== undefined
  }

  /** Since when this process knows of an attempt. */
  attemptSeen(uid: string, key: string, nowMs: number): number {
    const known = this.of(uid)
    if (known.attemptKey !== key || known.attemptSeenMs === undefined) {
      known.attemptKey = key
      known.attemptSeenMs = nowMs
    }
    return known.attemptSeenMs
  }
}
