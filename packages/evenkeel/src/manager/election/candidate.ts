/**
 * A candidate for a lease: campaigns, renews the lease while it is the leader, and releases it.
 *
 *   candidate ──no holder, or lease expired──▶ leader ──holdMs without a renewal, or another holder──▶ lost
 *       └──────────────── signal ─────────────────┴──────signal──▶ released ──▶ stopped
 *
 * A lease expires its duration after this process observed its last change, by the monotonic clock of this process. The
 * times in the record and the clocks of other machines do not matter.
 *
 * Example with leaseMs 15 s and holdMs 12 s: the leader sends a renewal at second 0 of its clock and then hangs. A
 * candidate observes the renewal at second 1 of its own clock, and may take the lease at second 16. The leader may not
 * write after second 12, whenever it wakes up.
 *
 * Invariants: the write gate is open from a lease write that the server confirmed until `holdMs` after that write was
 * sent; it is closed before the lease is released; every wait ends with the signal.
 */
import { isAlreadyExists, isApiError, isConflict, isNotFound } from '#api'
import {
  deadline as startDeadline,
  DeadlineError,
  randomFraction,
  silentLogger,
  sleep,
  type Clock,
  type Logger,
  type Random,
} from '#base'
import {
  claimed,
  durationMsOf,
  fingerprintOf,
  firstClaim,
  holderOf,
  released,
  retryJitter,
  type CheckedTimes,
  type LeaseLock,
  type LeaseObject,
  type LeaseSpec,
} from './lease.ts'
import type { LeaseDeadline } from './write-gate.ts'

export interface CandidateOptions {
  readonly lock: LeaseLock
  /** Unique identity of this candidate. */
  readonly identity: string
  readonly times: CheckedTimes
  readonly deadline: Pick<LeaseDeadline, 'open' | 'close'>
  readonly clock: Clock
  readonly random: Random
  /** Release the lease on stop. */
  readonly release: boolean
  readonly log?: Logger
}

/** An event of a campaign. */
export type CampaignEvent =
  | { readonly type: 'leading' }
  /** The leader has changed; empty if there is none. */
  | { readonly type: 'leader'; readonly identity: string }
  /** A renewal had to read the lease first. */
  | { readonly type: 'slow-path' }

export type CampaignEnd = { readonly reason: 'stopped' } | { readonly reason: 'lost'; readonly message: string }

export interface CampaignOptions {
  /** Ends the campaign, and releases the lease if it is ours. */
  readonly signal: AbortSignal
  readonly onEvent: (event: CampaignEvent) => void
}

/** Runs one campaign: until the lease was acquired and lost, or until it is stopped. */
export type Campaign = (options: CampaignOptions) => Promise<CampaignEnd>

type Attempt = 'held' | 'refused' | 'failed'

export class Candidate {
  readonly #options: CandidateOptions
  readonly #log: Logger
  #lease: LeaseObject | undefined
  #fingerprint = ''
  #seenAtMs = -Infinity
  #holdUntilMs = -Infinity
  #leader: string | undefined

  constructor(options: CandidateOptions) {
    this.#options = options
    this.#log = (options.log ?? silentLogger).child({ lease: options.lock.name, identity: options.identity })
  }

  readonly run: Campaign = async ({ signal, onEvent }) => {
    const isElected = await this.#campaign({ signal, onEvent })
    if (!isElected) return await this.#release()
    onEvent({ type: 'leading' })
    const message = await this.#renewUntilLost({ signal, onEvent })
    if (message === undefined) return await this.#release()
    this.#options.deadline.close()
    return { reason: 'lost', message }
  }

  /** True when the lease is acquired, false if the signal aborts first. */
  async #campaign({ signal, onEvent }: CampaignOptions): Promise<boolean> {
    const {
      clock,
      random,
      times: { retryMs, requestMs },
    } = this.#options
    while (!signal.aborted) {
      const attempt = await this.#attempt({ signal, onEvent }, { isLeading: false, limitMs: requestMs })
      if (attempt === 'held') return true
      await sleep(clock, retryMs * (1 + retryJitter * randomFraction(random)), { signal }).catch(() => undefined)
    }
    return false
  }

  /** Why the lease was lost; undefined if the signal aborts first. */
  async #renewUntilLost(options: CampaignOptions): Promise<string | undefined> {
    const {
      clock,
      times: { retryMs, requestMs },
    } = this.#options
    const { signal } = options
    let nextMs = clock.monotonic() + retryMs
    while (!signal.aborted) {
      const leftMs = this.#holdUntilMs - clock.monotonic()
      await sleep(clock, Math.max(0, Math.min(nextMs - clock.monotonic(), leftMs)), { signal }).catch(() => undefined)
      const startMs = clock.monotonic()
      if (signal.aborted) return undefined
      // One millisecond is too short for a request.
      if (startMs > this.#holdUntilMs - 1) return 'the lease was not renewed in time'
      nextMs = startMs + retryMs
      const attempt = await this.#attempt(options, {
        isLeading: true,
        limitMs: Math.min(requestMs, this.#holdUntilMs - startMs),
      })
      if (attempt === 'refused') return `${this.#leader ?? 'another candidate'} holds the lease`
    }
    return undefined
  }

  /** One attempt to acquire or renew the lease. Never throws: a failure is logged and retried. */
  async #attempt(
    { signal, onEvent }: CampaignOptions,
    { isLeading, limitMs }: { isLeading: boolean; limitMs: number },
  ): Promise<Attempt> {
    const limit = startDeadline(this.#options.clock, limitMs, { signal })
    try {
      return isLeading ? await this.#renew(limit.signal, onEvent) : await this.#take(limit.signal)
    } catch (error) {
      if (!signal.aborted) this.#logFailure(error)
      return 'failed'
    } finally {
      limit.done()
      this.#reportLeader(onEvent)
    }
  }

  /** Writes without reading first, because only the holder writes. Reads if the write is refused. */
  async #renew(signal: AbortSignal, onEvent: CampaignOptions['onEvent']): Promise<Attempt> {
    const lease = this.#lease
    if (lease && this.#isValid()) {
      try {
        return await this.#claim(lease, signal)
      } catch (error) {
        // No second request in this attempt if the server did not answer.
        if (signal.aborted || !isApiError(error)) throw error
        onEvent({ type: 'slow-path' })
      }
    }
    return this.#take(signal)
  }

  async #take(signal: AbortSignal): Promise<Attempt> {
    const { lock, identity } = this.#options
    const lease = await lock.read({ signal })
    if (!lease) return this.#isTaken() ? 'refused' : this.#create(signal)
    this.#observe(lease)
    if (holderOf(lease) !== identity && this.#isTaken()) return 'refused'
    return this.#claim(lease, signal)
  }

  #create(signal: AbortSignal): Promise<Attempt> {
    const {
      lock,
      identity,
      times: { leaseMs },
    } = this.#options
    // A lease that was deleted while we held it is created with its last spec.
    const known = this.#lease?.spec
    return this.#send((nowMs) => {
      const claim = { identity, leaseMs, nowMs }
      const isOurs = known?.holderIdentity === identity
      return lock.create(isOurs ? claimed(known, claim) : firstClaim(claim), { signal })
    })
  }

  #claim(lease: LeaseObject, signal: AbortSignal): Promise<Attempt> {
    const {
      lock,
      identity,
      times: { leaseMs },
    } = this.#options
    return this.#send((nowMs) =>
      lock.replace(withSpec(lease, claimed(lease.spec ?? {}, { identity, leaseMs, nowMs })), { signal }),
    )
  }

  /** Writes the lease, and opens the write gate for `holdMs` from the time of sending. */
  async #send(write: (nowMs: number) => Promise<LeaseObject>): Promise<Attempt> {
    const {
      clock,
      deadline,
      times: { holdMs },
    } = this.#options
    const [monotonicMs, wallMs] = [clock.monotonic() + holdMs, clock.now() + holdMs]
    this.#observe(await write(clock.now()))
    this.#holdUntilMs = monotonicMs
    deadline.open({ monotonicMs, wallMs })
    return 'held'
  }

  /** Releases the lease if it is ours. Takes at most `renewMs`, and never throws. */
  async #release(): Promise<CampaignEnd> {
    const {
      clock,
      deadline,
      release,
      identity,
      times: { renewMs },
    } = this.#options
    deadline.close()
    this.#holdUntilMs = -Infinity
    if (!release || !this.#lease || holderOf(this.#lease) !== identity) return { reason: 'stopped' }
    const limit = startDeadline(clock, renewMs)
    try {
      while (!(await this.#releaseLease(limit.signal))) await sleep(clock, 10, { signal: limit.signal })
    } catch (error) {
      this.#log.warn('cannot release the lease: other candidates must wait until it expires', { error })
    } finally {
      limit.done()
    }
    return { reason: 'stopped' }
  }

  /** False after a conflict. */
  async #releaseLease(signal: AbortSignal): Promise<boolean> {
    const { lock, clock, identity } = this.#options
    const lease = await lock.read({ signal })
    if (!lease || holderOf(lease) !== identity) return true
    try {
      this.#observe(await lock.replace(withSpec(lease, released(lease.spec ?? {}, clock.now())), { signal }))
      return true
    } catch (error) {
      if (isConflict(error)) return false
      throw error
    }
  }

  #observe(lease: LeaseObject): void {
    const fingerprint = fingerprintOf(lease)
    if (this.#lease === undefined || fingerprint !== this.#fingerprint) this.#seenAtMs = this.#options.clock.monotonic()
    this.#lease = lease
    this.#fingerprint = fingerprint
  }

  /** Whether another holder had the lease when we last observed it. Also if it was deleted since: its holder may not know yet. */
  #isTaken(): boolean {
    if (!this.#lease) return false
    const holder = holderOf(this.#lease)
    return holder !== '' && holder !== this.#options.identity && this.#isValid()
  }

  #isValid(): boolean {
    return this.#lease !== undefined && this.#options.clock.monotonic() < this.#seenAtMs + durationMsOf(this.#lease)
  }

  #reportLeader(onEvent: CampaignOptions['onEvent']): void {
    if (!this.#lease) return
    const identity = holderOf(this.#lease)
    if (identity === this.#leader) return
    this.#leader = identity
    onEvent({ type: 'leader', identity })
  }

  #logFailure(error: unknown): void {
    // Losing a race is normal in an election.
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error))
      this.#log.debug('another candidate wrote the lease', { error })
    else this.#log.warn(error instanceof DeadlineError ? 'lease request timed out' : 'lease request failed', { error })
  }
}

function withSpec(lease: LeaseObject, spec: LeaseSpec): LeaseObject {
  return { ...lease, spec }
}
