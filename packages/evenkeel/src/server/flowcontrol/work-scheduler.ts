/**
 * The scheduler of long work: lists, and writes of large documents. They work one slice after the other, with turns for
 * other requests in between.
 *
 * A list that parses its objects, or a step of a large write, blocks the event loop for milliseconds. When many arrive
 * at once, those beyond a few milliseconds of work wait, and each gets its own turn of the event loop. The server reads
 * and answers new requests first. Turns are fair by time: the user who has used the least goes first. So a user of
 * expensive requests delays its own requests, not those of others.
 *
 *   ada uses slices of 40 ms, bob of 5 ms      ada bob bob bob bob bob bob bob bob ada bob ...
 *
 * A slice of a list ends by objects, by bytes and by time. The first two do not depend on the clock, which may be
 * simulated and stand still during a list. A short list never pauses.
 *
 * Invariants: work without others ahead starts at once; paused work continues in a later turn, whatever the clock says;
 * a user without waiting work has no entry, and its past use is forgotten once the others have used as much.
 */
import type { Clock } from '#base'
import type { WireRequest } from '#wire'

/** How long requests may work in one turn of the event loop before the next one waits. */
const turnMs = 2

/** The waiting work of one user. */
interface UserTurns {
  readonly name: string
  readonly waiting: (() => void)[]
  /** The time it has used, on the common scale of {@link WorkScheduler}. */
  usedMs: number
}

export class WorkScheduler {
  readonly #clock: Clock
  /** Users with waiting work, or who have used more than those who wait. */
  readonly #users = new Map<string, UserTurns>()
  /** The use of the user whose turn it was last: a new user starts here. */
  #levelMs = 0
  #waiting = 0
  #begunMs = 0
  #current: UserTurns | undefined
  #isTicking = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined when it may continue at once. */
  turn(user = ''): Promise<void> | undefined {
    if (!this.#isTicking) {
      this.#tick(this.#userOf(user))
      return undefined
    }
    if (this.#waiting === 0 && this.#clock.monotonic() - this.#begunMs < turnMs) return undefined
    return this.#wait(user)
  }

  /** Ends a slice of unfinished work: all waiting requests go first. */
  pause(user = ''): Promise<void> {
    if (!this.#isTicking) this.#tick(this.#userOf(user))
    return this.#wait(user)
  }

  #wait(user: string): Promise<void> {
    return new Promise((resolve) => {
      this.#userOf(user).waiting.push(resolve)
      this.#waiting++
    })
  }

  #userOf(name: string): UserTurns {
    const known = this.#users.get(name)
    if (known) {
      if (known.waiting.length === 0) known.usedMs = Math.max(known.usedMs, this.#levelMs)
      return known
    }
    const made: UserTurns = { name, waiting: [], usedMs: this.#levelMs }
    this.#users.set(name, made)
    return made
  }

  #tick(user: UserTurns): void {
    this.#isTicking = true
    this.#current = user
    this.#begunMs = this.#clock.monotonic()
    this.#clock.soon(() => {
      this.#isTicking = false
      this.#charge()
      const next = this.#next()
      const resume = next?.waiting.shift()
      if (!next || !resume) return
      this.#waiting--
      this.#tick(next)
      resume()
    })
  }

  /** What happened in a turn of the event loop counts for the user whose turn it was. */
  #charge(): void {
    const user = this.#current
    if (!user) return
    this.#levelMs = Math.max(this.#levelMs, user.usedMs)
    user.usedMs += this.#clock.monotonic() - this.#begunMs
    this.#current = undefined
    for (const each of this.#users.values())
      if (each.waiting.length === 0 && (each.usedMs <= this.#levelMs || this.#waiting === 0))
        this.#users.delete(each.name)
  }

  /** Of users with equal use, the one that waits longest. */
  #next(): UserTurns | undefined {
    let least: UserTurns | undefined
    for (const user of this.#users.values())
      if (user.waiting.length > 0 && (least === undefined || user.usedMs < least.usedMs)) least = user
    if (least) {
      // Behind the others of equal use next time.
      this.#users.delete(least.name)
      this.#users.set(least.name, least)
    }
    return least
  }
}

// The slices of one long list.

/** The size of one piece of a large response. */
const sliceBytes = 1024 * 1024
const sliceItems = 1000
const sliceMs = 2
/** Reading the clock after each object would cost as much as a small object. */
const itemsPerClockRead = 16
const smallBytes = 4096

interface ListSlicesOptions {
  readonly scheduler: Pick<WorkScheduler, 'pause'>
  readonly clock: Pick<Clock, 'monotonic'>
  /** The request of the list. */
  readonly request: Pick<WireRequest, 'signal'>
  readonly user?: string
}

export class ListSlices {
  readonly #options: ListSlicesOptions
  #items = 0
  #bytes = 0
  #begunMs: number

  constructor(options: ListSlicesOptions) {
    this.#options = options
    this.#begunMs = options.clock.monotonic()
  }

  /**
   * Counts one more object of this size. Undefined when the list may continue at once.
   *
   * @throws by rejecting, the reason of the request's signal, when the client closed the connection.
   */
  add(bytes: number): Promise<void> | undefined {
    const isOver =
      this.#items >= sliceItems ||
      this.#bytes >= sliceBytes ||
      ((this.#items % itemsPerClockRead === 0 || bytes > smallBytes) &&
        this.#items > 0 &&
        this.#options.clock.monotonic() - this.#begunMs >= sliceMs)
    if (isOver) return this.#pause(bytes)
    this.#items++
    this.#bytes += bytes
    return undefined
  }

  async #pause(bytes: number): Promise<void> {
    const { scheduler, clock, request, user } = this.#options
    await scheduler.pause(user)
    request.signal.throwIfAborted()
    this.#items = 1
    this.#bytes = bytes
    this.#begunMs = clock.monotonic()
  }
}
