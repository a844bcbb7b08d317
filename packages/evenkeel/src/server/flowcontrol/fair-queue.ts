/**
 * A gate with a number of seats behind it, and a queue before it that is fair by user.
 *
 * Whoever finds a seat and has not had its share goes in at once; that costs a look into a map. Others wait in the line of
 * their user, and lines are served in turn, one request each: how many requests somebody else sends changes only how many
 * users are ahead, never how many requests.
 *
 * Invariants: no more than `seatsMax` are inside, no more than `seatsPerUserMax` of one user; nobody waits while there is a seat that
 * it may have; who waits is let in, refused after `waitMs`, or gone, and leaves nothing behind; a user who is not here has no entry.
 */
import { tooManyRequests } from '#api'
import { onAbort } from '#base'
import type { Clock } from '#base'

interface FairQueueOptions {
  readonly clock: Clock
  readonly seatsMax: number
  readonly seatsPerUserMax: number
  readonly waitingMax: number
  readonly waitingPerUserMax: number
  readonly waitMs: number
}

/** Somebody's place inside. */
export interface Seat {
  /** Gives it back; calling it again does nothing. */
  leave(): void
}

interface QueuedRequest {
  admit(): void
}

/** One user at the gate. */
interface UserQueue {
  readonly name: string
  seatsInUse: number
  /** Who waits, first come first; a set, because some leave early. Made when somebody has to wait. */
  queue: Set<QueuedRequest> | undefined
}

export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #guests = new Map<string, UserQueue>()
  /** Users who wait for nothing but a free seat, in the order in which they get one. */
  readonly #turns = new Set<UserQueue>()
  #inside = 0
  #waiting = 0
  #refused = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** Requests that are inside. */
  get seatsInUse(): number {
    return this.#inside
  }

  /** Requests that wait. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many were told to come again. */
  get refused(): number {
    return this.#refused
  }

  /** Users that are inside or wait. */
  get users(): number {
    return this.#guests.size
  }

  /**
   * A seat, at once if there is one.
   *
   * @throws {ApiError} `TooManyRequests`, also later, by rejecting; the signal's reason, when the caller leaves.
   */
  enter(user: string, signalOf: () => AbortSignal | undefined): Seat | Promise<Seat> {
    const { seatsMax, seatsPerUserMax, waitingMax, waitingPerUserMax } = this.#options
    const guest = this.#guests.get(user) ?? this.#newGuest(user)
    if (this.#inside < seatsMax && guest.seatsInUse < seatsPerUserMax) return this.#seat(guest)
    if (this.#waiting >= waitingMax || queueLength(guest) >= waitingPerUserMax) {
      this.#forget(guest)
      throw this.#refuse()
    }
    return this.#wait(guest, signalOf())
  }

  /** A seat is given back. */
  release(guest: UserQueue): void {
    this.#inside--
    guest.seatsInUse--
    if (this.#waiting > 0) {
      this.#queue(guest)
      this.#letIn()
    }
    this.#forget(guest)
  }

  #newGuest(name: string): UserQueue {
    const guest: UserQueue = { name, seatsInUse: 0, queue: undefined }
    this.#guests.set(name, guest)
    return guest
  }

  #seat(guest: UserQueue): Seat {
    this.#inside++
    guest.seatsInUse++
    return new TakenSeat(this, guest)
  }

  #wait(guest: UserQueue, signal: AbortSignal | undefined): Promise<Seat> {
    const line = (guest.queue ??= new Set())
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting--
        line.delete(waiter)
        if (line.size === 0) this.#turns.delete(guest)
        cancel()
        unlisten()
      }
      const giveUp = (error: unknown): void => {
        stop()
        this.#forget(guest)
        reject(error)
      }
      const waiter = {
        admit: () => {
          stop()
          resolve(this.#seat(guest))
        },
      }
      let unlisten = (): void => {}
      const cancel = this.#options.clock.after(this.#options.waitMs, () => {
        giveUp(this.#refuse())
      })
      this.#waiting++
      line.add(waiter)
      this.#queue(guest)
      unlisten = onAbort(signal, giveUp)
    })
  }

  /** Whoever may have a seat has a turn; a user with its share inside has none until one of its own leaves. */
  #queue(guest: UserQueue): void {
    if (queueLength(guest) > 0 && guest.seatsInUse < this.#options.seatsPerUserMax) this.#turns.add(guest)
  }

  #letIn(): void {
    while (this.#inside < this.#options.seatsMax) {
      const [guest] = this.#turns
      const [waiter] = guest?.queue ?? []
      if (!guest || !waiter) return
      // To the end of the round, if there are more of them.
      this.#turns.delete(guest)
      waiter.admit()
      this.#queue(guest)
    }
  }

  #forget(guest: UserQueue): void {
    if (guest.seatsInUse === 0 && queueLength(guest) === 0) this.#guests.delete(guest.name)
  }

  #refuse(): Error {
    this.#refused++
    return tooManyRequests(tooManyMessage)
  }
}

class TakenSeat implements Seat {
  readonly #gate: FairQueue
  readonly #guest: UserQueue
  #isTaken = true

  constructor(gate: FairQueue, guest: UserQueue) {
    this.#gate = gate
    this.#guest = guest
  }

  leave(): void {
    if (!this.#isTaken) return
    this.#isTaken = false
    this.#gate.release(this.#guest)
  }
}

function queueLength({ queue: line }: UserQueue): number {
  return line === undefined ? 0 : line.size
}

/** The words that clients know. */
export const tooManyMessage = 'the server has received too many requests and has asked us to try again later'
