/**
 * Leading, again and again: stands for election, runs the leader's work while the lease is ours, and stands again.
 *
 * Losing the lease does not end the process: the work is told to stop by its signal, its late writes are refused by the
 * gate, and once it has ended we stand again. Stopping is the other way round: first the work ends, while the lease is
 * still being renewed, then the lease is given back.
 *
 * Invariants: the work never runs twice at a time; its signal aborts before the lease can be somebody else's; `run` ends
 * only after the work has.
 */
import { onAbort, silentLogger, sleep } from '#base'
import type { Clock, Logger, Metrics } from '#base'
import type { Campaign, CampaignEnd, CampaignEvent } from './candidate.ts'
import type { LeaseDeadline } from './gate/lease-deadline.ts'

/** Where an election stands. */
export type ElectionState =
  /** `leader` is who leads now, as far as we know. */
  | { readonly state: 'standing'; readonly leader: string | undefined }
  | { readonly state: 'leading' }
  | { readonly state: 'lost'; readonly message: string }
  | { readonly state: 'stopped' }

/** The reason of the leader's signal when the lease was lost. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

export interface LeaderElectionOptions {
  /** {@link Candidate.stand} in this thread, or one in a thread of its own. */
  readonly campaign: Campaign
  /** What only the leader does. Ends soon after the signal aborts; if it throws, the election ends with that. */
  readonly lead: (signal: AbortSignal) => Promise<void>
  readonly deadline: LeaseDeadline
  readonly clock: Clock
  /** How long to wait after a candidacy that came to nothing. @default 2000 */
  readonly retryMs?: number
  readonly onState?: (state: ElectionState) => void
  /** Names the lease in logs and metrics. */
  readonly name: string
  readonly log?: Logger
  readonly metrics?: Metrics
}

export class LeaderElection {
  readonly #options: LeaderElectionOptions
  readonly #log: Logger
  readonly #counts: ReturnType<typeof countsFor>
  #leader: string | undefined
  #isLeading = false

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#log = (options.log ?? silentLogger).child({ lease: options.name })
    this.#counts = countsFor(options)
  }

  /** Whether we lead, and may write at this very moment. */
  get isLeading(): boolean {
    return this.#isLeading && this.#options.deadline.isOpen
  }

  /** Who leads, as far as we know; empty when nobody does. */
  get leader(): string | undefined {
    return this.#leader
  }

  /** A health check: what is wrong when we still lead on paper long after the lease ran out. */
  failure({ toleranceMs = 20_000 }: { toleranceMs?: number } = {}): string | undefined {
    const isStuck = this.#isLeading && this.#options.deadline.leftMs < -toleranceMs
    return isStuck ? `the lease ${this.#options.name} ran out, and its leader has not stopped` : undefined
  }

  /** Stands for election until the signal aborts and the work has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, retryMs = 2000 } = this.#options
    try {
      while (!signal.aborted) {
        this.#report({ state: 'standing', leader: this.#leader })
        const { wasLeading } = await this.#campaignOnce(signal)
        if (!wasLeading && !signal.aborted) await sleep(clock, retryMs, { signal }).catch(() => undefined)
      }
    } finally {
      this.#report({ state: 'stopped' })
    }
  }

  async #campaignOnce(signal: AbortSignal): Promise<{ wasLeading: boolean }> {
    const candidacy = new AbortController()
    const term = new AbortController()
    let work: Promise<unknown> | undefined
    const stop = onAbort(signal, (reason) => {
      if (work) term.abort(reason)
      else candidacy.abort(reason)
    })
    const onEvent = (event: CampaignEvent): void => {
      if (event.type !== 'leading') return this.#note(event)
      this.#begin()
      // Elected at the very moment of being stopped.
      if (signal.aborted) return candidacy.abort(signal.reason)
      work = this.#work(term.signal).finally(() => {
        candidacy.abort()
      })
      // Looked at below, once the candidacy has ended.
      work.catch(() => undefined)
    }
    try {
      const end = await this.#options.campaign({ signal: candidacy.signal, onEvent })
      this.#end(end)
      if (end.reason === 'lost') term.abort(new LeaseLostError(end.message))
      await work
      return { wasLeading: work !== undefined }
    } catch (error) {
      // The thread that renews is gone, or the work failed: nothing may leave any more.
      this.#options.deadline.close()
      term.abort(error)
      await work?.catch(() => undefined)
      throw error
    } finally {
      this.#isLeading = false
      this.#counts.leading.set(0)
      stop()
    }
  }

  /** The leader's work; when it is done before anybody asked it to stop, the lease is kept all the same. */
  async #work(signal: AbortSignal): Promise<void> {
    await this.#options.lead(signal)
    if (!signal.aborted)
      await new Promise<void>((resolve) => {
        onAbort(signal, () => {
          resolve()
        })
      })
  }

  #begin(): void {
    this.#isLeading = true
    this.#counts.leading.set(1)
    this.#log.info('leading')
    this.#report({ state: 'leading' })
  }

  #end(end: CampaignEnd): void {
    this.#isLeading = false
    this.#counts.leading.set(0)
    if (end.reason === 'stopped') return
    this.#log.warn('the lease was lost: standing by', { why: end.message })
    this.#report({ state: 'lost', message: end.message })
  }

  #note(event: Exclude<CampaignEvent, { type: 'leading' }>): void {
    if (event.type === 'slow-path') return this.#counts.slowPaths.add()
    this.#leader = event.identity
    this.#log.info('the leader is', { leader: event.identity })
    if (!this.#isLeading) this.#report({ state: 'standing', leader: event.identity })
  }

  #report(state: ElectionState): void {
    try {
      this.#options.onState?.(state)
    } catch (error) {
      this.#log.error('a listener of the election failed', { error })
    }
  }
}

/** Names as client-go has them, because dashboards do. */
function countsFor({ metrics, name }: LeaderElectionOptions): {
  leading: { set: (value: number) => void }
  slowPaths: { add: () => void }
} {
  if (!metrics) return { leading: { set: () => undefined }, slowPaths: { add: () => undefined } }
  const leading = metrics
    .gauge('leader_election_master_status', {
      help: 'Whether this process holds the lease of that name.',
      labels: ['name'],
    })
    .with({ name })
  const slowPaths = metrics
    .counter('leader_election_slowpath_total', { help: 'Renewals that had to read the lease first.', labels: ['name'] })
    .with({ name })
  return {
    leading,
    slowPaths: {
      add: () => {
        slowPaths.add()
      },
    },
  }
}
