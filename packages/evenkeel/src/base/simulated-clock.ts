/**
 * A clock that stands still until it is told to move: a simulated day passes in milliseconds.
 *
 * Invariants: timers fire in the order of their due times, those due at the same moment in the
 * order they were set; between two timers everything that was waiting on promises has run;
 * while a callback runs, `monotonic()` is exactly its due time.
 */
import { checkDelay, type Cancel, type Clock } from './clock.ts'
import { Heap } from './heap.ts'

export interface SimulatedClockOptions {
  /**
   * What the wall says at the start, in milliseconds since 1970.
   *
   * @default 1_767_225_600_000 (2026-01-01)
   */
  startMs?: number
  /**
   * Nothing but promises is waited for between two timers: no sockets, files or threads. That is several times cheaper.
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
  readonly #settle: () => Promise<void>

  constructor({ startMs = 1_767_225_600_000, isPure = false }: SimulatedClockOptions = {}) {
    this.#wallOffsetMs = startMs
    this.#settle = isPure ? flushPromises : flushTasks
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

  /** Timers that are set and have not fired. */
  get pending(): number {
    return this.#timers.size
  }

  /** How long until the next timer; undefined when none is set. */
  get nextInMs(): number | undefined {
    const next = this.#timers.peek()
    return next && next.dueMs - this.#elapsedMs
  }

  /** Moves time forward and runs all that falls due, also what those timers set in turn. */
  async advance(byMs: number): Promise<void> {
    checkDelay(byMs)
    const untilMs = this.#elapsedMs + byMs
    await flushTasks()
    for (let next = this.#timers.peek(); next && next.dueMs <= untilMs; next = this.#timers.peek()) {
      this.#timers.pop()
      this.#elapsedMs = Math.max(this.#elapsedMs, next.dueMs)
      next.callback()
      await this.#settle()
    }
    this.#elapsedMs = untilMs
  }

  /** Moves the wall clock only, either way: what a time daemon or a person does. */
  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs
  }
}

/** Lets everything run that waits on promises alone; also what the machine has ready gets its turn. */
export function flushTasks(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(resolve)
  })
}

/**
 * The same without a turn of the event loop, which costs system calls: ticks come when no promise has anything left to
 * do. All ticks that are asked for run in a row, so the second one is asked for after the promises that follow from them
 * have begun: what asked for a tick meanwhile has had it, and its promises.
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

// Caught before a test runner can replace them.
const nextTurn = setImmediate
const { nextTick } = process
