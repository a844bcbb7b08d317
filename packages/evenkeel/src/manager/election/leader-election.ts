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
import { hostname } from 'node:os'
import {
  anySignal,
  onAbort,
  randomUuid,
  silentLogger,
  sleep,
  SystemClock,
  type Clock,
  type Logger,
  type Metrics,
  type Random,
} from '#base'
import { Client } from '#client'
import type { Connection } from '../cluster.ts'
import { Candidate, type Campaign, type CampaignEnd, type CampaignEvent } from './candidate.ts'
import { checkTimes, leaseKind, leaseLock, type LeaseTimes } from './lease.ts'
import { preferThread, renewalThread } from './renewal-thread.ts'
import type { LeaseDeadline } from './write-gate.ts'

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

/*
 * Puts an election together: who stands, for which lease, renewed by which thread.
 *
 * A thread of its own renews where the server is reached over the network; one in this process could not answer while
 * this thread is busy anyway.
 */

/** How replicas agree on who works. */
export interface ElectionSettings extends LeaseTimes {
  /** The lease; replicas of one program share it. @default the manager's name */
  readonly name?: string
  /** Where the lease is. @default the namespace of the configuration */
  readonly namespace?: string
  /** Who we are. @default the host's name and something random */
  readonly identity?: string
  /** Give the lease back when stopped, so that another replica can go on at once. @default true */
  readonly release?: boolean
  /** Renew in a thread of its own. @default true when there is a config */
  readonly thread?: boolean
  readonly onState?: (state: ElectionState) => void
}

interface ElectionParts {
  readonly settings: ElectionSettings
  /** Of the manager. */
  readonly name: string
  readonly userAgent: string
  readonly connection: Connection
  readonly deadline: LeaseDeadline
  readonly lead: (signal: AbortSignal) => Promise<void>
  /** Ends the candidacy whatever the work does: nothing is written from then on, and the lease is let go. */
  readonly giveUp: AbortSignal
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics: Metrics
}

/** The lease of a manager. */
export function leaseOf(
  { name, namespace }: ElectionSettings,
  manager: { readonly name: string; readonly namespace: string },
): { readonly name: string; readonly namespace: string } {
  return { name: name ?? manager.name, namespace: namespace ?? manager.namespace }
}

/** @throws {RangeError} when the times make no sense. */
export function makeElection(parts: ElectionParts): LeaderElection {
  const { settings, deadline, lead, clock, log, metrics, giveUp } = parts
  const stand = campaignFor(parts)
  const times = checkTimes(settings)
  return new LeaderElection({
    deadline,
    lead,
    clock,
    log,
    metrics,
    name: leaseOf(settings, { name: parts.name, namespace: parts.connection.namespace }).name,
    retryMs: times.retryMs,
    campaign: (options) => stand({ ...options, signal: anySignal(options.signal, giveUp) }),
    ...(settings.onState && { onState: settings.onState }),
  })
}

function campaignFor({ settings, name, userAgent, connection, deadline, clock, random, log }: ElectionParts): Campaign {
  const lease = leaseOf(settings, { name, namespace: connection.namespace })
  const times = checkTimes(settings)
  const { identity = makeElectionIdentity(random), release = true, thread = connection.config !== undefined } = settings
  // Neither gated by the lease it is about, nor tried again behind the candidate's back.
  const client = new Client({
    transport: connection.transport,
    clock,
    random,
    log,
    userAgent,
    kinds: [leaseKind],
    retry: false,
    timeoutMs: times.requestMs,
  })
  const here = new Candidate({ lock: leaseLock(client, lease), identity, times, deadline, clock, random, release, log })
    .run
  const { config, credentials } = connection
  if (!thread || !config || !(clock instanceof SystemClock)) return here
  return preferThread(
    renewalThread({
      config,
      lease,
      identity,
      times,
      release,
      userAgent,
      deadline,
      clock,
      log,
      ...(credentials && { credentials }),
    }),
    here,
    { log },
  )
}

/*
 * Who a candidate is, in the form that client-go's tools give it: the machine, for people, and something that no other
 * process has.
 */

/** `web-0_2b1f...`; new at every call. */
export function makeElectionIdentity(random: Random): string {
  return `${hostname()}_${randomUuid(random)}`
}
