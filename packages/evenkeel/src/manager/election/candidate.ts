/**
 * One candidate for one lease: campaigns, renews while it leads, and lets go.
 *
 *   standing ──nobody holds it, or it has run out──▶ leading ──holdMs without a renewal, or another holder──▶ lost
 *       └──────────────── signal ───────────────────────┴──────signal──▶ released ──▶ stopped
 *
 * Only what was seen here counts: a lease runs out so and so long after we saw it change, by our monotonic clock and by
 * the duration in the record. What clocks say elsewhere has no effect.
 *
 * Invariants: the gate is open only from a write to the lease that the server confirmed until `holdMs` after that write
 * was sent; it is closed before the lease is given back; every wait ends with the signal.
 */
import { isAlreadyExists, isApiError, isConflict, isNotFound } from '#api'
import {
  deadline as limitOf,
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
  /** Who we are; no other candidate may have the same. */
  readonly identity: string
  readonly times: CheckedTimes
  readonly deadline: Pick<LeaseDeadline, 'open' | 'close'>
  readonly clock: Clock
  readonly random: Random
  /** Give the lease back when stopped. */
  readonly release: boolean
  readonly log?: Logger
}

/** What happens while a candidate stands. */
export type CampaignEvent =
  | { readonly type: 'leading' }
  /** Somebody else, or we, lead; empty when nobody does. */
  | { readonly type: 'leader'; readonly identity: string }
  /** A renewal had to read the lease first. */
  | { readonly type: 'slow-path' }

export type CampaignEnd = { readonly reason: 'stopped' } | { readonly reason: 'lost'; readonly message: string }

export interface CampaignOptions {
  /** Ends it: the lease is given back if it is ours. */
  readonly signal: AbortSignal
  readonly onEvent: (event: CampaignEvent) => void
}

/** Stands for election once, until it was led and lost, or stopped. */
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

  /** True once we lead, false when the signal aborts first. */
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

  /** Why the lease was lost; undefined when the signal aborts first. */
  async #renewUntilLost(stand: CampaignOptions): Promise<string | undefined> {
    const {
      clock,
      times: { retryMs, requestMs },
    } = this.#options
    const { signal } = stand
    let nextMs = clock.monotonic() + retryMs
    while (!signal.aborted) {
      const leftMs = this.#holdUntilMs - clock.monotonic()
      await sleep(clock, Math.max(0, Math.min(nextMs - clock.monotonic(), leftMs)), { signal }).catch(() => undefined)
      const startMs = clock.monotonic()
      if (signal.aborted) return undefined
      // Nothing can be sent and answered in the last millisecond.
      if (startMs > this.#holdUntilMs - 1) return 'the lease could not be renewed in time'
      nextMs = startMs + retryMs
      const attempt = await this.#attempt(stand, {
        isLeading: true,
        limitMs: Math.min(requestMs, this.#holdUntilMs - startMs),
      })
      if (attempt === 'refused') return `${this.#leader ?? 'another candidate'} holds the lease`
    }
    return undefined
  }

  /** One try to get or keep the lease. Never throws: what went wrong is logged, and tried again. */
  async #attempt(
    { signal, onEvent }: CampaignOptions,
    { isLeading, limitMs }: { isLeading: boolean; limitMs: number },
  ): Promise<Attempt> {
    const limit = limitOf(this.#options.clock, limitMs, { signal })
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

  /** Writes without reading, because nobody else should have written; reads when that turns out to be wrong. */
  async #renew(signal: AbortSignal, onEvent: CampaignOptions['onEvent']): Promise<Attempt> {
    const lease = this.#lease
    if (lease && this.#isValid()) {
      try {
        return await this.#claim(lease, signal)
      } catch (error) {
        // A server that does not answer is not asked again before the next attempt.
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
    // One that was deleted under our hands goes on where it was.
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

  /** Sends a claim; when the server has it, writes may leave for a while from when it was sent. */
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

  /** Gives the lease back, if it is ours and that was asked for. Bounded, and never throws. */
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
    const limit = limitOf(clock, renewMs)
    try {
      while (!(await this.#releaseLease(limit.signal))) await sleep(clock, 10, { signal: limit.signal })
    } catch (error) {
      this.#log.warn('the lease could not be given back: others have to wait until it runs out', { error })
    } finally {
      limit.done()
    }
    return { reason: 'stopped' }
  }

  /** False when somebody else wrote at the same time. */
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

  /** Whether somebody else holds what we last saw; also when it is gone since, because its holder may not know that yet. */
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
    // Others were faster: that is what elections are for.
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error))
      this.#log.debug('somebody else wrote the lease', { error })
    else
      this.#log.warn(
        error instanceof DeadlineError
          ? 'the server did not answer for the lease in time'
          : 'the lease could not be read or written',
        { error },
      )
  }
}

function withSpec(lease: LeaseObject, spec: LeaseSpec): LeaseObject {
  return { ...lease, spec }
}
