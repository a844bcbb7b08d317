/**
 * Leader election between planes that serve one store: only the plane with the Lease in `kube-system` runs controllers.
 *
 *   standby ──lease acquired──▶ controllers run ──lease lost──▶ controllers stop ──▶ standby
 *
 * All controllers share one lease, as in kube-controller-manager: a lease for each would cost a write for each, every two
 * seconds. A standby watches nothing; it starts with lists when it becomes the leader.
 *
 * Invariants: every write of a controller passes the write gate, so a plane that was suspended writes nothing after
 * another took over; on a stop the controllers end before the lease is released.
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
  /** The transport to the server, with permission to write the lease. */
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

  /** @throws {RangeError} for invalid times. */
  constructor(options: PlaneElectionOptions) {
    checkTimes(options.times)
    this.#options = options
    this.#deadline = new LeaseDeadline({ clock: options.clock })
    this.#identity = makeElectionIdentity(options.random)
  }

  /** Whether another plane is the last known leader. */
  get isStandby(): boolean {
    return this.#leader !== undefined && this.#leader !== '' && this.#leader !== this.#identity
  }

  /** The same transport, with writes only while this plane is the leader. */
  gate(transport: Transport): Transport {
    return gateWrites(transport, this.#deadline, { clock: this.#options.clock })
  }

  /** Runs `lead` while this plane is the leader, until the signal aborts and `lead` has ended. */
  run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { transport, clock, random, log } = this.#options
    const times = checkTimes(this.#options.times)
    // Not gated by its own lease, and without retries: the candidate retries itself.
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
