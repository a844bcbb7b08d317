/**
 * Puts an election together: who stands, for which lease, renewed by which thread.
 *
 * A thread of its own renews where the server is reached over the network; one in this process could not answer while
 * this thread is busy anyway.
 */
import { anySignal, SystemClock } from '#base'
import type { Clock, Logger, Metrics, Random } from '#base'
import { Client } from '#client'
import type { Connection } from './connection.ts'
import { Candidate } from './election/candidate.ts'
import type { Campaign } from './election/candidate.ts'
import type { LeaseDeadline } from './election/gate/lease-deadline.ts'
import { makeElectionIdentity } from './election/identity.ts'
import { LeaderElection } from './election/leader-election.ts'
import type { ElectionState } from './election/leader-election.ts'
import { leaseKind } from './election/lease/lease.ts'
import { leaseLock } from './election/lease/lock.ts'
import { checkTimes } from './election/lease/times.ts'
import type { LeaseTimes } from './election/lease/times.ts'
import { preferThread, renewalThread } from './election/thread/renewal-thread.ts'

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
