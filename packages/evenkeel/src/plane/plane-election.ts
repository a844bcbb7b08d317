/**
 * Whose controllers work, when several planes serve one store: those of one plane at a time, which holds a Lease in `kube-system`.
 *
 *   standing ──holds the lease──▶ controllers run ──lease lost──▶ they end ──▶ standing
 *
 * One lease for all of them, as upstream's controller manager has it: a lease each would be a write each, every other second. A plane that stands by follows
 * nothing; it begins with lists when it leads.
 *
 * Invariants: what a controller writes passes the gate of the lease, so that a plane which stood still writes nothing after another took over; on the way out
 * controllers end first, then the lease is given back.
 */
import type { Clock, Logger, Random } from '#base'
import { Client } from '#client'
import {
  Candidate,
  checkTimes,
  gateWrites,
  LeaderElection,
  LeaseDeadline,
  leaseLock,
  makeElectionIdentity,
} from '#manager'
import type { LeaseTimes } from '#manager'
import type { Transport } from '#wire'

export interface PlaneElectionOptions {
  /** The server, as somebody who may write the lease. */
  readonly transport: Transport
  readonly times: LeaseTimes
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

const lease = { namespace: 'kube-system', name: 'evenkeel-plane' }

export class PlaneElection {
  readonly #options: PlaneElectionOptions
  readonly #deadline: LeaseDeadline
  readonly #identity: string
  #leader: string | undefined

  /** @throws {RangeError} when the times make no sense. */
  constructor(options: PlaneElectionOptions) {
    checkTimes(options.times)
    this.#options = options
    this.#deadline = new LeaseDeadline({ clock: options.clock })
    this.#identity = makeElectionIdentity(options.random)
  }

  /** Whether another plane leads, as far as is known. */
  get isStandby(): boolean {
    return this.#leader !== undefined && this.#leader !== '' && this.#leader !== this.#identity
  }

  /** The same transport, through which nothing is written but by the leader. */
  gate(transport: Transport): Transport {
    return gateWrites(transport, this.#deadline, { clock: this.#options.clock })
  }

  /** Does the work whenever we lead, until the signal aborts and the work has ended. */
  run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { transport, clock, random, log } = this.#options
    const times = checkTimes(this.#options.times)
    // Neither gated by the lease it is about, nor tried again behind the candidate's back.
    const client = new Client({ transport, clock, random, log, retry: false, timeoutMs: times.requestMs })
    const candidate = new Candidate({
      lock: leaseLock(client, lease),
      identity: this.#identity,
      times,
      deadline: this.#deadline,
      clock,
      random,
      release: true,
      log,
    })
    const election = new LeaderElection({
      name: lease.name,
      campaign: candidate.run,
      lead,
      deadline: this.#deadline,
      clock,
      log,
      retryMs: times.retryMs,
      onState: (state) => {
        this.#leader = state.state === 'standing' ? state.leader : undefined
      },
    })
    return election.run(signal)
  }
}
