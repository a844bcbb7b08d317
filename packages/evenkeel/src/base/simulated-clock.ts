/**
 * A clock that moves only by `advance` and `elapse`: a simulated day passes in milliseconds.
 *
 * Invariants: timers fire only in `advance`, in the order of their due times, and those with the same due time in the
 * order they were set; between two timers all pending promise callbacks run; during a callback `monotonic()` is exactly
 * its due time, or later if `elapse` went beyond it.
 */
import { checkDelay, type Cancel, type Clock } from './clock.ts'
import { Heap } from './heap.ts'

interface SimulatedClockOptions {
  /**
   * The wall-clock time at the start, in milliseconds since 1970.
   *
   * @default 1_767_225_600_000 (2026-01-01)
   */
  startMs?: number
  /**
   * Whether only promise callbacks run between two timers, without waiting for sockets, files or threads. That is several
   * times faster.
   *
   * @default false
   */
  isPure?: boolean
}

interface Timer {
  readonly dueMs: number
  readonly sequence: number
  readonly callback: () => void
}

export class SimulatedClock implements Clock {
  readonly #timers = new Heap<Timer>((a, b) => a.dueMs - b.dueMs || a.sequence - b.sequence)
  #elapsedMs = 0
  #wallOffsetMs: number
  #sequence = 0
  readonly #flush: () => Promise<void>

  constructor({ startMs = 1_767_225_600_000, isPure = false }: SimulatedClockOptions = {}) {
    this.#wallOffsetMs = startMs
    this.#flush = isPure ? flushPromises : flushTasks
  }

  now(): number {
    return Math.floor(this.#wallOffsetMs + this.#elapsedMs)
  }

  monotonic(): number {
    return this.#elapsedMs
  }

  after(delayMs: number, callback: () => void): Cancel {
    checkDelay(delayMs)
    const timer: Timer = { dueMs: this.#elapsedMs + delayMs, sequence: this.#sequence++, callback }
    this.#timers.push(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  soon(callback: () => void): void {
    this.after(0, callback)
  }

  /** The number of pending timers. */
  get pending(): number {
    return this.#timers.size
  }

  /** The time until the next timer, 0 when it is overdue; undefined when none is set. */
  get nextInMs(): number | undefined {
    const next = this.#timers.peek()
    return next && Math.max(0, next.dueMs - this.#elapsedMs)
  }

  /** Moves time as work does that takes a while: timers that become due meanwhile fire at the next `advance`. */
  elapse(byMs: number): void {
    checkDelay(byMs)
    this.#elapsedMs += byMs
  }

  /** Moves time forward and runs all timers that become due, including those set by other timers. */
  async advance(byMs: number): Promise<void> {
    checkDelay(byMs)
    const untilMs = this.#elapsedMs + byMs
    await flushTasks()
    for (let next = this.#timers.peek(); next && next.dueMs <= untilMs; next = this.#timers.peek()) {
      this.#timers.pop()
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs)
      next.callback()
      await this.#flush()
    }
    this.#elapsedMs = untilMs
  }

  /** Moves the wall clock only, forward or back, as a time daemon does. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs
  }
}

/** Runs all pending promise callbacks, and one turn of the event loop. */
export function flushTasks(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(resolve)
  })
}

/**
 * Runs all pending promise callbacks without a turn of the event loop, which costs system calls. `nextTick` callbacks run
 * when no promise callback is left. All queued ticks run in a row, so the second tick is requested after the promise
 * callbacks that follow from them have started: ticks requested meanwhile, and their promises, have run before it.
 */
export function flushPromises(): Promise<void> {
  return new Promise((resolve) => {
    nextTick(() => {
      queueMicrotask(() => {
        nextTick(resolve)
      })
    })
  })
}

// Captured before a test runner can replace them.
const nextTurn = setImmediate
const { nextTick } = process
