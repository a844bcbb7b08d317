/**
 * A limit on concurrent requests, with fair queuing by user.
 *
 * A request runs at once when there is a free seat and its user is below the share; that costs one map lookup.
 * Otherwise it waits in the queue of its user. The queues are served round-robin, one request each, so the load of one
 * user changes only the number of users ahead, never the number of requests ahead.
 *
 * Invariants: at most `seatsMax` requests run, and at most `seatsPerUserMax` of one user. A request does not wait while
 * it may have a free seat. A waiting request gets a seat, is refused after `waitMs`, or is cancelled; none leaves state
 * behind. A user without requests has no entry.
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

/** The seat of a running request. */
export interface Seat {
  /** Releases the seat; further calls have no effect. */
  leave(): void
}

interface QueuedRequest {
  admit(): void
}

/** The requests of one user. */
interface UserQueue {
  readonly name: string
  seatsInUse: number
  /** Waiting requests in order of arrival; a set, because some are cancelled. Created when the first has to wait. */
  queue: Set<QueuedRequest> | undefined
}

export class FairQueue {
  readonly #options: FairQueueOptions
  readonly #userQueues = new Map<string, UserQueue>()
  /** Users that wait only for a free seat, in round-robin order. */
  readonly #turns = new Set<UserQueue>()
  #inside = 0
  #waiting = 0
  #refused = 0

  constructor(options: FairQueueOptions) {
    this.#options = options
  }

  /** Running requests. */
  get seatsInUse(): number {
    return this.#inside
  }

  /** Waiting requests. */
  get waiting(): number {
    return this.#waiting
  }

  /** The number of requests refused with 429. */
  get refused(): number {
    return this.#refused
  }

  /** Users with running or waiting requests. */
  get users(): number {
    return this.#userQueues.size
  }

  /**
   * Takes a seat, synchronously if one is free.
   *
   * @throws {ApiError} `TooManyRequests`, also later, by rejecting; the signal's reason, when the request is cancelled.
   */
  enter(user: string, signalOf: () => AbortSignal | undefined): Seat | Promise<Seat> {
    const { seatsMax, seatsPerUserMax, waitingMax, waitingPerUserMax } = this.#options
    const userQueue = this.#userQueues.get(user) ?? this.#newUserQueue(user)
    if (this.#inside < seatsMax && userQueue.seatsInUse < seatsPerUserMax) return this.#seat(userQueue)
    if (this.#waiting >= waitingMax || queueLength(userQueue) >= waitingPerUserMax) {
      this.#forget(userQueue)
      throw this.#refuse()
    }
    return this.#wait(userQueue, signalOf())
  }

  /** Releases a seat. */
  release(userQueue: UserQueue): void {
    this.#inside--
    userQueue.seatsInUse--
    if (this.#waiting > 0) {
      this.#queue(userQueue)
      this.#letIn()
    }
    this.#forget(userQueue)
  }

  #newUserQueue(name: string): UserQueue {
    const userQueue: UserQueue = { name, seatsInUse: 0, queue: undefined }
    this.#userQueues.set(name, userQueue)
    return userQueue
  }

  #seat(userQueue: UserQueue): Seat {
    this.#inside++
    userQueue.seatsInUse++
    return new TakenSeat(this, userQueue)
  }

  #wait(userQueue: UserQueue, signal: AbortSignal | undefined): Promise<Seat> {
    const line = (userQueue.queue ??= new Set())
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting--
        line.delete(waiter)
        if (line.size === 0) this.#turns.delete(userQueue)
        cancel()
        unlisten()
      }
      const giveUp = (error: unknown): void => {
        stop()
        this.#forget(userQueue)
        reject(error)
      }
      const waiter = {
        admit: () => {
          stop()
          resolve(this.#seat(userQueue))
        },
      }
      let unlisten = (): void => {}
      const cancel = this.#options.clock.after(this.#options.waitMs, () => {
        giveUp(this.#refuse())
      })
      this.#waiting++
      line.add(waiter)
      this.#queue(userQueue)
      unlisten = onAbort(signal, giveUp)
    })
  }

  /** Queues a user for the next free seat; a user at its share is queued when one of its own requests ends. */
  #queue(userQueue: UserQueue): void {
    if (queueLength(userQueue) > 0 && userQueue.seatsInUse < this.#options.seatsPerUserMax) this.#turns.add(userQueue)
  }

  #letIn(): void {
    while (this.#inside < this.#options.seatsMax) {
      const [userQueue] = this.#turns
      const [waiter] = userQueue?.queue ?? []
      if (!userQueue || !waiter) return
      // Moves to the end of the round, if it has more requests.
      this.#turns.delete(userQueue)
      waiter.admit()
      this.#queue(userQueue)
    }
  }

  #forget(userQueue: UserQueue): void {
    if (userQueue.seatsInUse === 0 && queueLength(userQueue) === 0) this.#userQueues.delete(userQueue.name)
  }

  #refuse(): Error {
    this.#refused++
    return tooManyRequests(tooManyMessage)
  }
}

class TakenSeat implements Seat {
  readonly #gate: FairQueue
  readonly #userQueue: UserQueue
  #isTaken = true

  constructor(gate: FairQueue, userQueue: UserQueue) {
    this.#gate = gate
    this.#userQueue = userQueue
  }

  leave(): void {
    if (!this.#isTaken) return
    this.#isTaken = false
    this.#gate.release(this.#userQueue)
  }
}

function queueLength({ queue: line }: UserQueue): number {
  return line === undefined ? 0 : line.size
}

/** The error text of upstream. */
export const tooManyMessage = 'the server has received too many requests and has asked us to try again later'
