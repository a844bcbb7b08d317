/**
 * Leader election: campaigns for the lease, runs the work of the leader while it holds the lease, and campaigns again.
 *
 *   standby ──lease acquired──▶ leader ──lease lost──▶ abort the work, refuse its writes, wait for its end ──▶ standby
 *                                 └──stop──▶ end the work, still renewing ──▶ release the lease ──▶ stopped
 *
 * Losing the lease does not end the process.
 *
 * Invariants: the work never runs twice at the same time; its signal aborts before another replica can hold the lease;
 * `run` ends only after the work has ended.
 *
 * The lease is renewed in a separate thread if the server is reached over the network. A server in this process could not
 * answer while this thread is busy anyway.
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

/** The state of an election. */
export type ElectionState =
  /** `leader` is the last known leader. */
  | { readonly state: 'standing'; readonly leader: string | undefined }
  | { readonly state: 'leading' }
  | { readonly state: 'lost'; readonly message: string }
  | { readonly state: 'stopped' }

/** The abort reason of the leader's work when the lease was lost. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
}

export interface LeaderElectionOptions {
  /** {@link Candidate.run} in this thread, or in a separate one. */
  readonly campaign: Campaign
  /** The work of the leader. It ends soon after the signal aborts. An error ends the election. */
  readonly lead: (signal: AbortSignal) => Promise<void>
  readonly deadline: LeaseDeadline
  readonly clock: Clock
  /** How long to wait after an unsuccessful campaign. @default 2000 */
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
  readonly #metrics: ReturnType<typeof metricsFor>
  #leader: string | undefined
  #isLeading = false

  constructor(options: LeaderElectionOptions) {
    this.#options = options
    this.#log = (options.log ?? silentLogger).child({ lease: options.name })
    this.#metrics = metricsFor(options)
  }

  /** Whether this process is the leader, and may write now. */
  get isLeading(): boolean {
    return this.#isLeading && this.#options.deadline.isOpen
  }

  /** The last known leader; empty if there is none. */
  get leader(): string | undefined {
    return this.#leader
  }

  /** Health check: fails if the work of the leader has not stopped long after the lease expired. */
  failure({ toleranceMs = 20_000 }: { toleranceMs?: number } = {}): string | undefined {
    const isStuck = this.#isLeading && this.#options.deadline.leftMs < -toleranceMs
    return isStuck
      ? `the lease ${this.#options.name} has expired, and the work of the leader has not stopped`
      : undefined
  }

  /** Campaigns until the signal aborts and the work has ended. */
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
    const campaign = new AbortController()
    const term = new AbortController()
    let work: Promise<unknown> | undefined
    const stop = onAbort(signal, (reason) => {
      if (work) term.abort(reason)
      else campaign.abort(reason)
    })
    const onEvent = (event: CampaignEvent): void => {
      if (event.type !== 'leading') return this.#note(event)
      this.#begin()
      // Elected and stopped at the same moment.
      if (signal.aborted) return campaign.abort(signal.reason)
      work = this.#work(term.signal).finally(() => {
        campaign.abort()
      })
      // Awaited below, after the campaign has ended.
      work.catch(() => undefined)
    }
    try {
      const end = await this.#options.campaign({ signal: campaign.signal, onEvent })
      this.#end(end)
      if (end.reason === 'lost') term.abort(new LeaseLostError(end.message))
      await work
      return { wasLeading: work !== undefined }
    } catch (error) {
      // The renewal thread is gone, or the work failed: no write may be sent any more.
      this.#options.deadline.close()
      term.abort(error)
      await work?.catch(() => undefined)
      throw error
    } finally {
      this.#isLeading = false
      this.#metrics.leading.set(0)
      stop()
    }
  }

  /** Runs the work of the leader. If it ends by itself, the lease is kept until the stop. */
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
    this.#metrics.leading.set(1)
    this.#log.info('became leader')
    this.#report({ state: 'leading' })
  }

  #end(end: CampaignEnd): void {
    this.#isLeading = false
    this.#metrics.leading.set(0)
    if (end.reason === 'stopped') return
    this.#log.warn('lost the lease: now standby', { cause: end.message })
    this.#report({ state: 'lost', message: end.message })
  }

  #note(event: Exclude<CampaignEvent, { type: 'leading' }>): void {
    if (event.type === 'slow-path') return this.#metrics.slowPaths.add()
    this.#leader = event.identity
    this.#log.info('new leader', { leader: event.identity })
    if (!this.#isLeading) this.#report({ state: 'standing', leader: event.identity })
  }

  #report(state: ElectionState): void {
    try {
      this.#options.onState?.(state)
    } catch (error) {
      this.#log.error('onState listener failed', { error })
    }
  }
}

/** Metric names of client-go, because dashboards use them. */
function metricsFor({ metrics, name }: LeaderElectionOptions): {
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

/** Options of leader election. */
export interface ElectionSettings extends LeaseTimes {
  /** Name of the lease, shared by the replicas of a program. @default the name of the manager */
  readonly name?: string
  /** Namespace of the lease. @default the namespace of the config */
  readonly namespace?: string
  /** Identity of this candidate. @default the host name and a random UUID */
  readonly identity?: string
  /** Release the lease on stop, so that another replica takes over at once. @default true */
  readonly release?: boolean
  /** Renew in a separate thread. @default true with a config */
  readonly thread?: boolean
  readonly onState?: (state: ElectionState) => void
}

interface ElectionContext {
  readonly settings: ElectionSettings
  /** Of the manager. */
  readonly name: string
  readonly userAgent: string
  readonly connection: Connection
  readonly deadline: LeaseDeadline
  readonly lead: (signal: AbortSignal) => Promise<void>
  /** Ends the campaign before the work has ended: no write is sent from then on, and the lease is released. */
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

/** @throws {RangeError} for invalid times. */
export function makeElection(context: ElectionContext): LeaderElection {
  const { settings, deadline, lead, clock, log, metrics, giveUp } = context
  const runCampaign = campaignFor(context)
  const times = checkTimes(settings)
  return new LeaderElection({
    deadline,
    lead,
    clock,
    log,
    metrics,
    name: leaseOf(settings, { name: context.name, namespace: context.connection.namespace }).name,
    retryMs: times.retryMs,
    campaign: (options) => runCampaign({ ...options, signal: anySignal(options.signal, giveUp) }),
    ...(settings.onState && { onState: settings.onState }),
  })
}

function campaignFor({
  settings,
  name,
  userAgent,
  connection,
  deadline,
  clock,
  random,
  log,
}: ElectionContext): Campaign {
  const lease = leaseOf(settings, { name, namespace: connection.namespace })
  const times = checkTimes(settings)
  const { identity = makeElectionIdentity(random), release = true, thread = connection.config !== undefined } = settings
  // Not gated by its own lease, and without retries: the candidate retries itself.
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
  const runHere = new Candidate({
    lock: leaseLock(client, lease),
    identity,
    times,
    deadline,
    clock,
    random,
    release,
    log,
  }).run
  const { config, credentials } = connection
  if (!thread || !config || !(clock instanceof SystemClock)) return runHere
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
    runHere,
    { log },
  )
}

/** A unique identity as in client-go, host name and UUID: `web-0_2b1f...`. */
export function makeElectionIdentity(random: Random): string {
  return `${hostname()}_${randomUuid(random)}`
}
