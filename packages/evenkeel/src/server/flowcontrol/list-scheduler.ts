/**
 * The scheduler of lists: they run one after the other, with turns for other requests in between.
 *
 * A list that parses its objects blocks the event loop for milliseconds, a long one in slices of that length. When many
 * arrive at once, those beyond a few milliseconds of work wait, and each gets its own turn of the event loop. The
 * server reads and answers new requests first. A slice ends by objects, by bytes and by time. The first two do not
 * depend on the clock, which may be simulated and stand still during a list. A short list never pauses.
 *
 * Invariants: a list without others ahead starts at once; a paused list continues in a later turn, whatever the clock
 * says; a list waits only for those ahead of it.
 */
import type { Clock } from '#base'
import type { WireRequest } from '#wire'

/** How long lists may work in one turn of the event loop before the next one waits. */
const turnMs = 2

export class ListScheduler {
  readonly #clock: Clock
  readonly #line: (() => void)[] = []
  #begunMs = 0
  #isTicking = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined when it may continue at once. */
  turn(): Promise<void> | undefined {
    if (!this.#isTicking) {
      this.#tick()
      return undefined
    }
    if (this.#line.length === 0 && this.#clock.monotonic() - this.#begunMs < turnMs) return undefined
    return this.#wait()
  }

  /** Ends a slice of an unfinished list: all waiting requests go first. */
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

// The slices of one long list.

/** The size of one piece of a large response. */
const sliceBytes = 1024 * 1024
const sliceItems = 1000
const sliceMs = 2
/** Reading the clock after each object would cost as much as a small object. */
const itemsPerClockRead = 16

interface ListSlicesOptions {
  readonly scheduler: Pick<ListScheduler, 'pause'>
  readonly clock: Pick<Clock, 'monotonic'>
  /** The request of the list. */
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
   * Counts one more object of this size. Undefined when the list may continue at once.
   *
   * @throws by rejecting, the reason of the request's signal, when the client no longer waits.
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
