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

interface GateOptions {
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

interface Waiter {
  admit(): void
}

/** One user at the gate. */
interface Guest {
  readonly name: string
  inside: number
  /** Who waits, first come first; a set, because some leave early. Made when somebody has to wait. */
  line: Set<Waiter> | undefined
}

export class Gate {
  readonly #options: GateOptions
  readonly #guests = new Map<string, Guest>()
  /** Users who wait for nothing but a free seat, in the order in which they get one. */
  readonly #turns = new Set<Guest>()
  #inside = 0
  #waiting = 0
  #refused = 0

  constructor(options: GateOptions) {
    this.#options = options
  }

  /** Requests that are inside. */
  get inside(): number {
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
    if (this.#inside < seatsMax && guest.inside < seatsPerUserMax) return this.#seat(guest)
    if (this.#waiting >= waitingMax || lengthOf(guest) >= waitingPerUserMax) {
      this.#forget(guest)
      throw this.#refuse()
    }
    return this.#wait(guest, signalOf())
  }

  /** A seat is given back. */
  release(guest: Guest): void {
    this.#inside--
    guest.inside--
    if (this.#waiting > 0) {
      this.#queue(guest)
      this.#letIn()
    }
    this.#forget(guest)
  }

  #newGuest(name: string): Guest {
    const guest: Guest = { name, inside: 0, line: undefined }
    this.#guests.set(name, guest)
    return guest
  }

  #seat(guest: Guest): Seat {
    this.#inside++
    guest.inside++
    return new Place(this, guest)
  }

  #wait(guest: Guest, signal: AbortSignal | undefined): Promise<Seat> {
    const line = (guest.line ??= new Set())
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
        reject(error as Error)
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
  #queue(guest: Guest): void {
    if (lengthOf(guest) > 0 && guest.inside < this.#options.seatsPerUserMax) this.#turns.add(guest)
  }

  #letIn(): void {
    while (this.#inside < this.#options.seatsMax) {
      const [guest] = this.#turns
      const [waiter] = guest?.line ?? []
      if (!guest || !waiter) return
      // To the end of the round, if there are more of them.
      this.#turns.delete(guest)
      waiter.admit()
      this.#queue(guest)
    }
  }

  #forget(guest: Guest): void {
    if (guest.inside === 0 && lengthOf(guest) === 0) this.#guests.delete(guest.name)
  }

  #refuse(): Error {
    this.#refused++
    return tooManyRequests(tooMany)
  }
}

class Place implements Seat {
  readonly #gate: Gate
  readonly #guest: Guest
  #isTaken = true

  constructor(gate: Gate, guest: Guest) {
    this.#gate = gate
    this.#guest = guest
  }

  leave(): void {
    if (!this.#isTaken) return
    this.#isTaken = false
    this.#gate.release(this.#guest)
  }
}

function lengthOf({ line }: Guest): number {
  return line === undefined ? 0 : line.size
}

/** The words that clients know. */
export const tooMany = 'the server has received too many requests and has asked us to try again later'
