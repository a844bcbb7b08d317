/**
 * Lists one after the other, with everybody else in between.
 *
 * A list that has to look into its objects works for milliseconds, a long one in shares of that length, and while one works nobody is served. When many
 * arrive at once, those that no longer fit into a few milliseconds wait, and each gets a turn of the event loop of its own: requests that came meanwhile are
 * read and answered first.
 *
 * Invariants: who arrives and finds nobody before it goes on at once; who pauses goes on in a later turn, whatever the clock says; nobody waits longer than it
 * takes those before it.
 */
import type { Clock } from '#base'
import type { WireRequest } from '#wire'

/** How long lists may work in one turn before the next one waits. */
const turnMs = 2

export class ListScheduler {
  readonly #clock: Clock
  readonly #line: (() => void)[] = []
  #begunMs = 0
  #isTicking = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined when it may go on at once. */
  turn(): Promise<void> | undefined {
    if (!this.#isTicking) {
      this.#tick()
      return undefined
    }
    if (this.#line.length === 0 && this.#clock.monotonic() - this.#begunMs < turnMs) return undefined
    return this.#wait()
  }

  /** For who has done its share and is not done: everybody else first. */
  pause(): Promise<void> {
    if (!this.#isTicking) this.#tick()
    return this.#wait()
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#line.push(resolve)
    })
  }

  #tick(): void {
    this.#isTicking = true
    this.#begunMs = this.#clock.monotonic()
    this.#clock.soon(() => {
      this.#isTicking = false
      const next = this.#line.shift()
      if (next === undefined) return
      this.#tick()
      next()
    })
  }
}

/*
 * The work of one long list, in shares: after each it stands in line again, behind everybody who came meanwhile.
 *
 * A share ends by what was done (objects, bytes) and by how long it took. The first two do not depend on a clock, which may be a simulated one that stands
 * still while a list works; what is short never pauses.
 */

/** As much as a large answer has in one piece. */
const sliceBytes = 1024 * 1024
const sliceItems = 1000
const sliceMs = 2
/** Asking for the time after each object would cost as much as a small one does. */
const itemsPerClockRead = 16

interface ListSlicesOptions {
  readonly scheduler: Pick<ListScheduler, 'pause'>
  readonly clock: Pick<Clock, 'monotonic'>
  /** Whom the work is for. */
  readonly request: Pick<WireRequest, 'signal'>
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
   * One more object of this size is going to be looked into. Undefined when that can be done at once.
   *
   * @throws by rejecting, the reason of the request's signal, when nobody waits for the answer any more.
   */
  add(bytes: number): Promise<void> | undefined {
    const isOver =
      this.#items >= sliceItems ||
      this.#bytes >= sliceBytes ||
      (this.#items % itemsPerClockRead === 0 &&
        this.#items > 0 &&
        this.#options.clock.monotonic() - this.#begunMs >= sliceMs)
    if (isOver) return this.#pause(bytes)
    this.#items++
    this.#bytes += bytes
    return undefined
  }

  async #pause(bytes: number): Promise<void> {
    const { scheduler: pace, clock, request } = this.#options
    await pace.pause()
    request.signal.throwIfAborted()
    this.#items = 1
    this.#bytes = bytes
    this.#begunMs = clock.monotonic()
  }
}
