/**
 * A session: one reconcile of one object and its external resource, with the state that locate, sync and delete share.
 *
 * `ObservationCache` is what a process remembers between sessions. Nothing in it is durable: after a loss the verb waits
 * longer and observes again, and reaches the same result.
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
  type ExternalObject,
  type Failure,
  type Observation,
  type Strategy,
} from './driver.ts'
import { versionsOf, type NeededObjects } from './needs.ts'
import { makeOwnershipLabels, type OwnershipIdentity, type OwnershipLabels } from './ownership-labels.ts'
import { policyFor, type ExternalPolicy, type ExternalSettings } from './policy.ts'
import { isSameNeeds, type RecordStore, type ResourceRecord } from './record.ts'

/** The verb in one controller. */
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

export type DriverOperation = 'connect' | 'observe' | 'create' | 'update' | 'remove' | 'setLabels' | 'list'

/** A failed driver call, and what the failure says about its effect. */
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

interface ConditionValue {
  readonly isTrue: boolean
  readonly reason: string
  readonly message: string
}

interface ExternalSessionOptions {
  readonly environment: ExternalEnvironment
  readonly base: BaseContext
  readonly object: ExternalObject<KubeObject>
  readonly store: RecordStore
  readonly status: StatusWriter | undefined
  /** The objects that the driver needs. @default none */
  readonly needs?: NeededObjects
  /** Whether no needed object is missing. @default true */
  readonly hasNeeds?: boolean
}

export class ExternalSession {
  readonly environment: ExternalEnvironment
  readonly base: BaseContext
  readonly object: ExternalObject<KubeObject>
  readonly store: RecordStore
  readonly status: StatusWriter | undefined
  readonly uid: string
  readonly labels: OwnershipLabels
  readonly needs: NeededObjects
  readonly hasNeeds: boolean
  /** Conditions to set at the end of the session, by type. */
  readonly conditions = new Map<string, ConditionValue>()
  #policy: ExternalPolicy | undefined
  #connection: unknown

  constructor({ environment, base, object, store, status, needs = {}, hasNeeds = true }: ExternalSessionOptions) {
    this.environment = environment
    this.base = base
    this.object = object
    this.store = store
    this.status = status
    this.needs = needs
    this.hasNeeds = hasNeeds
    this.uid = object.metadata.uid
    this.labels = makeOwnershipLabels(object, environment.identity)
  }

  /** @throws {PolicyError} for an invalid annotation */
  get policy(): ExternalPolicy {
    return (this.#policy ??= policyFor(this.object as never, this.environment.settings.policy))
  }

  get nowMs(): number {
    return this.base.clock.monotonic()
  }

  /** Of the object; 0 if the server does not maintain it. */
  get generation(): number {
    return this.object.metadata.generation ?? 0
  }

  /** The desired state of the resource. */
  get desired(): unknown {
    return this.environment.driver.desired(this.object as never, this.needs)
  }

  /** Whether the resource was synced to the current generation and the current needs. */
  wasSynced({ observedGeneration, needs }: ResourceRecord): boolean {
    return observedGeneration === this.generation && isSameNeeds(needs, versionsOf(this.needs))
  }

  get windowMs(): number {
    return this.environment.driver.capabilities.consistencyWindowMs ?? 0
  }

  /** How long after an unanswered create call its resource may still appear. */
  get settleMs(): number {
    return this.windowMs + this.environment.settings.callTimeoutMs
  }

  /** The delay ±10 %, so that many objects do not retry at the same time. */
  jittered(ms: number): number {
    return Math.round(ms * (0.9 + 0.2 * randomFraction(this.base.random)))
  }

  /** The stored record, completed by the id of a resource that this process created and could not store. */
  async readRecord({ live = false }: { live?: boolean } = {}): Promise<ResourceRecord> {
    const record = await this.store.read({ live })
    const { created } = this.environment.observations.of(this.uid)
    const { attempt, id } = record
    const isUnstored = created !== undefined && attempt?.key === created.key && id === undefined
    return isUnstored ? { ...record, id: created.id, attempt: { ...attempt, outcome: 'Created' } } : record
  }

  /** Gets the connection for all later calls of this session. */
  async connect(): Promise<void> {
    const { driver } = this.environment
    if (driver.connect)
      this.#connection = await this.call(
        'connect',
        ({ signal, clock }) =>
          driver.connect?.(this.object, { signal, clock, needs: this.needs }) ?? Promise.resolve(undefined),
      )
  }

  /** Compares the cached object with the server before a call with effects. @throws {ApiError} `Conflict` if it is outdated */
  async assertCurrent(): Promise<void> {
    const {
      base: { client, signal },
      environment: { kind },
      object: {
        metadata: { name = '', namespace, generation, deletionTimestamp },
      },
    } = this
    const current = (await client.get(
      kind,
      { name, ...(namespace !== undefined && { namespace }) },
      { live: true, signal },
    )) as KubeObject
    const isSame =
      current.metadata.uid === this.uid &&
      current.metadata.generation === generation &&
      current.metadata.deletionTimestamp === deletionTimestamp
    if (!isSame)
      throw conflict(
        { group: kind.group, kind: kind.kind, name },
        'the object has changed since it was read from the cache',
      )
  }

  /** Makes a driver call. @throws {CallFailed} with the error of the driver as cause. @throws {ProviderUnavailable} */
  async call<R>(operation: DriverOperation, call: (context: DriverCall) => Promise<R>): Promise<R> {
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

  /** The resource of an id, if it exists. */
  async observe(id: string): Promise<Observation<unknown> | undefined> {
    try {
      const observation = await this.call('observe', (call) => this.environment.driver.observe(id, call))
      return observation ? { ...observation, id } : undefined
    } catch (error) {
      if (error instanceof CallFailed && error.failure === 'absent') return undefined
      throw error
    }
  }

  /** All resources with these labels. */
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
        { open: (call) => list.call(driver, { labels }, call), itemsMax: resourcesMax },
      )
    } catch (error) {
      if (signal.aborted || isProviderUnavailable(error)) throw error
      throw new CallFailed('list', error)
    }
  }
}

/** More resources than one object can plausibly have. */
const resourcesMax = 10_000

/** What this process knows about the resource of one object. Times are monotonic times of this process. */
interface CachedObservation {
  /** The create attempt, and when this process first saw it. */
  attemptKey?: string
  attemptSeenMs?: number
  /** The attempt that the system refused: it created nothing. */
  refusedKey?: string
  /** The resource that an attempt of this process created. */
  created?: { readonly key: string; readonly id: string }
  /** Since when the resource is missing although it should exist. */
  absentSinceMs?: number
  /** Since when the resource differs from the synced state. */
  driftSinceMs?: number
  /** Last delete call. */
  removedAtMs?: number
  /** First delete call. */
  removingSinceMs?: number
  /** Last successful observation. */
  lastSeenMs?: number
  /** Other resources whose labels name the same object. */
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
      // Evicts the oldest entry: it is rebuilt on the next session of its object.
      const oldest = this.#byUid.size >= entriesMax ? this.#byUid.keys().next() : undefined
      if (oldest && oldest.done !== true) this.#byUid.delete(oldest.value)
      this.#byUid.set(uid, known)
    }
    return known
  }

  forget(uid: string): void {
    this.#byUid.delete(uid)
  }

  /** Stores the owner UIDs of all resources in the last list. */
  noteSwept(uids: ReadonlySet<string>): void {
    this.#swept = uids
  }

  /** Whether a resource may exist for an object without a record. False only if a list has shown that there is none. */
  mayHave(uid: string): boolean {
    return this.#swept === undefined || this.#swept.has(uid) || this.#byUid.get(uid)?.attemptKey !== undefined
  }

  /** When this process first saw an attempt. */
  attemptSeen(uid: string, key: string, nowMs: number): number {
    const known = this.of(uid)
    if (known.attemptKey !== key || known.attemptSeenMs === undefined) {
      known.attemptKey = key
      known.attemptSeenMs = nowMs
    }
    return known.attemptSeenMs
  }
}
