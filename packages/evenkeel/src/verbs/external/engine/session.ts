/**
 * One look at one object and its thing: the parts that finding, bringing and removing it share.
 */
import { randomFraction } from '#base'
import { conflict } from '#api'
import type { Kind, KubeObject } from '#api'
import type { BaseContext, StatusWriter } from '#controller'
import type { Calls } from '../calls/calls.ts'
import type { Strategy } from '../driver/capabilities.ts'
import type { Driver, DriverCall, Sighting } from '../driver/driver.ts'
import { failureOf, isProviderUnavailable, messageOf } from '../driver/failure.ts'
import type { Failure } from '../driver/failure.ts'
import { makeMarks } from '../driver/marks.ts'
import type { Marker, Marks } from '../driver/marks.ts'
import type { Memory, Remembered } from '../memory/memory.ts'
import type { Settings } from '../options.ts'
import { policyFor } from '../policy/policy.ts'
import type { Policy } from '../policy/policy.ts'
import type { Seen } from './known.ts'

/** A verb in one controller. */
export interface Parts {
  readonly driver: Driver
  readonly kind: Kind
  readonly strategy: Strategy
  readonly settings: Settings
  readonly calls: Calls
  readonly seen: Seen
  readonly marker: Marker
  /** Whether the kind has `status.external`. */
  readonly hasRoom: boolean
}

export type Operation = 'connect' | 'observe' | 'create' | 'update' | 'remove' | 'mark' | 'list'

/** A call to the outside that failed, and what that says. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  readonly operation: Operation
  readonly failure: Failure

  constructor(operation: Operation, cause: unknown) {
    super(messageOf(cause), { cause })
    this.operation = operation
    this.failure = failureOf(cause)
  }
}

interface Said {
  readonly holds: boolean
  readonly reason: string
  readonly message: string
}

interface SessionOptions {
  readonly parts: Parts
  readonly base: BaseContext
  readonly object: KubeObject
  readonly memory: Memory
  readonly status: StatusWriter | undefined
}

export class Session {
  readonly parts: Parts
  readonly base: BaseContext
  readonly object: KubeObject
  readonly memory: Memory
  readonly status: StatusWriter | undefined
  readonly uid: string
  readonly marks: Marks
  /** What is to be said in conditions, by type. */
  readonly words = new Map<string, Said>()
  #policy: Policy | undefined
  #connection: unknown

  constructor({ parts, base, object, memory, status }: SessionOptions) {
    this.parts = parts
    this.base = base
    this.object = object
    this.memory = memory
    this.status = status
    this.uid = object.metadata.uid ?? ''
    this.marks = makeMarks(object, parts.marker)
  }

  /** @throws {PolicyError} when an annotation is not understood */
  get policy(): Policy {
    return (this.#policy ??= policyFor(this.object as never, this.parts.settings.policy))
  }

  get nowMs(): number {
    return this.base.clock.monotonic()
  }

  /** Of the object; 0 where the server does not count. */
  get generation(): number {
    return this.object.metadata.generation ?? 0
  }

  get windowMs(): number {
    return this.parts.driver.capabilities.consistencyWindowMs ?? 0
  }

  /** After how long nothing more can come of a call that nobody has heard of since. */
  get settleMs(): number {
    return this.windowMs + this.parts.settings.callTimeoutMs
  }

  /** About so long: many who wait for the same do not come back at once. */
  jittered(ms: number): number {
    return Math.round(ms * (0.9 + 0.2 * randomFraction(this.base.random)))
  }

  /** What is remembered; what this process has made itself it need not be told. */
  async recall({ live = false }: { live?: boolean } = {}): Promise<Remembered> {
    const remembered = await this.memory.read({ live })
    const { made } = this.parts.seen.of(this.uid)
    const { attempt, id } = remembered
    const isMine = made !== undefined && attempt?.key === made.key && id === undefined
    return isMine ? { ...remembered, id: made.id, attempt: { ...attempt, outcome: 'Created' } } : remembered
  }

  /** Credentials and the like, for everything that follows. */
  async connect(): Promise<void> {
    const { driver } = this.parts
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
      parts: { kind },
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
  async call<R>(operation: Operation, call: (given: DriverCall) => Promise<R>): Promise<R> {
    const { signal, clock, random } = this.base
    try {
      return await this.parts.calls.make(
        { signal, clock, random, timeoutMs: this.parts.settings.callTimeoutMs, connection: this.#connection },
        call,
      )
    } catch (error) {
      if (signal.aborted || isProviderUnavailable(error)) throw error
      throw new CallFailed(operation, error)
    }
  }

  /** The thing of an id, if it is there. */
  async observe(id: string): Promise<Sighting<unknown> | undefined> {
    try {
      const thing = await this.call('observe', (given) => this.parts.driver.observe(id, given))
      return thing ? { ...thing, id } : undefined
    } catch (error) {
      if (error instanceof CallFailed && error.failure === 'absent') return undefined
      throw error
    }
  }

  /** All things with these marks. */
  async list(marks: Partial<Marks>): Promise<readonly Sighting<unknown>[]> {
    const {
      driver: { list },
      driver,
      calls,
      settings: { callTimeoutMs: timeoutMs },
    } = this.parts
    if (!list) return []
    const { signal, clock, random } = this.base
    try {
      return await calls.collect(
        { signal, clock, random, timeoutMs, connection: this.#connection },
        { open: (given) => list.call(driver, { marks }, given), itemsMax: thingsMax },
      )
    } catch (error) {
      if (signal.aborted || isProviderUnavailable(error)) throw error
      throw new CallFailed('list', error)
    }
  }
}

/** More than one object can have. */
const thingsMax = 10_000
