/**
 * Entries that wait for a time, on one timer.
 *
 * Worked example with a batch of 2: a is due at 10 ms, b at 5 ms, c at 10 ms, d at 10 ms.
 *
 *    0 ms   the timer is set to 5 ms
 *    5 ms   b; the timer is set to 10 ms
 *   10 ms   a, c (two in one turn), then d in the next turn; no timer is set
 *
 * Invariants: no entry is released early, each is released once; a timer is set exactly while an entry waits; entries
 * are released in the order of their due times, at most `batch` in one turn, so that fifty thousand of them do not block
 * the process.
 */
import { Heap } from '#base'
import type { Cancel, Clock } from '#base'

const batch = 1000

/** An entry that can wait. While it does, the fields belong to {@link DelayingQueue}. */
interface Delayed {
  /** When it will be ready, on the monotonic clock. */
  readyMs: number
  dueOrder: number
}

export class DelayingQueue<T extends Delayed> {
  readonly #clock: Clock
  readonly #onDue: (one: T) => void
  #heap = newHeap<T>()
  #order = 0
  #timer: { readonly readyMs: number; readonly cancel: Cancel } | undefined

  constructor(clock: Clock, onDue: (one: T) => void) {
    this.#clock = clock
    this.#onDue = onDue
  }

  get size(): number {
    return this.#heap.size
  }

  /** Releases an entry at a time of the monotonic clock; one that waits already keeps the earlier time. */
  add(one: T, readyMs: number): void {
    if (this.#heap.has(one)) {
      if (one.readyMs <= readyMs) return
      this.#heap.delete(one)
    }
    one.readyMs = readyMs
    one.dueOrder = this.#order++
    this.#heap.push(one)
    this.#arm()
  }

  delete(one: T): void {
    this.#heap.delete(one)
    if (this.#heap.size === 0) this.#disarm()
  }

  clear(): void {
    this.#heap = newHeap()
    this.#disarm()
  }

  #arm(): void {
    const next = this.#heap.peek()
    if (!next || (this.#timer && this.#timer.readyMs <= next.readyMs)) return
    this.#disarm()
    const cancel = this.#clock.after(Math.max(0, next.readyMs - this.#clock.monotonic()), () => {
      this.#release()
    })
    this.#timer = { readyMs: next.readyMs, cancel }
  }

  #disarm(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #release(): void {
    this.#timer = undefined
    const nowMs = this.#clock.monotonic()
    for (let released = 0; released < batch; released++) {
      const next = this.#heap.peek()
      if (!next || next.readyMs > nowMs) break
      this.#heap.pop()
      this.#onDue(next)
    }
    if ((this.#heap.peek()?.readyMs ?? Infinity) <= nowMs) this.#goOn()
    else this.#arm()
  }

  /** Releases the rest in the next turn; this replaces the timer meanwhile. */
  #goOn(): void {
    this.#disarm()
    let isCancelled = false
    this.#timer = {
      readyMs: -Infinity,
      cancel: () => {
        isCancelled = true
      },
    }
    this.#clock.soon(() => {
      if (!isCancelled) this.#release()
    })
  }
}

function newHeap<T extends Delayed>(): Heap<T> {
  return new Heap((a, b) => a.readyMs - b.readyMs || a.dueOrder - b.dueOrder)
}
