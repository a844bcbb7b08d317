/**
 * The work queue: which keys need work, and which worker has them.
 *
 *   idle ──add──▶ ready ──take──▶ working ──done──▶ idle
 *     │             ▲  ▲             │
 *     │ add(afterMs)│  └────done──── working, ready again ◀──add── working
 *     └──▶ waiting ─┘ (due, or add)
 *
 * Worked example, one key:
 *
 *   add(k, priority 1, reason x)            ready    priority 1   x
 *   add(k, afterMs 500, reason y)           ready    priority 1   x, y     a delay does not hold back a ready key
 *   take                                    working                        the worker gets priority 1 and x, y
 *   add(k, afterMs 500, reason z)           working, waiting  priority 0   z
 *   done                                    waiting, 500 ms
 *   add(k, priority 2)                      ready    priority 2   z        an add without delay ends the wait
 *
 * `Waiters` are the workers that wait in `take`, first come, first served. Nothing is handed out in the middle of an
 * `add`, only when the running code has finished: of all keys added in one go, the one of highest priority goes first.
 *
 * Invariants: at most one worker has a key; a key that was added is taken at least once after that, unless the queue
 * stops; one record per key that is not idle, and nothing else that grows; adds merge: the highest priority, the earliest
 * time, all reasons; a worker whose signal aborted gets no key.
 *
 * Keys are text in one canonical form. This layer knows nothing about Kubernetes.
 */
import { deferred, onAbort, SystemClock, type AbortOptions, type Clock, type Deferred, type Metrics } from '#base'
import { DelayingQueue } from './delaying-queue.ts'
import { createQueueMetrics, noQueueMetrics, type QueueMetrics } from './metrics.ts'
import { Entry, ReadyQueue, type AgeingOptions, type KeyState, type WorkItem } from './ready-queue.ts'

export interface WorkQueueOptions extends AgeingOptions {
  /** @default the machine's clock */
  clock?: Clock | undefined
  /**
   * The queue's name in the metrics: its controller's.
   *
   * @default '' (counts nothing)
   */
  name?: string | undefined
  /** Where to count; without it, or without a name, nothing is counted. */
  metrics?: Metrics | undefined
  /**
   * How many different reasons are kept per key; more are only counted.
   *
   * @default 32
   */
  reasonsMax?: number | undefined
}

interface AddOptions<Reason = string> {
  /**
   * How long to hold the key back; 0 or less: not at all.
   *
   * @default 0
   */
  afterMs?: number | undefined
  /**
   * Higher goes first.
   *
   * @default 0
   */
  priority?: number | undefined
  /** Why the key needs work; equal ones (`===`) are kept once and handed out with the key. */
  reason?: Reason | undefined
}

const spareMax = 100

/** Keys that need work; at most one worker has each. */
export class WorkQueue<Reason = string> {
  readonly #clock: Clock
  readonly #meter: QueueMetrics
  readonly #reasonsMax: number
  readonly #entries = new Map<string, Entry<Reason>>()
  /** Some records of idle keys, to be used again: allocating new ones is expensive for the garbage collector in a long queue. */
  readonly #spare: Entry<Reason>[] = []
  readonly #ready: ReadyQueue<Entry<Reason>>
  readonly #delays: DelayingQueue<Entry<Reason>>
  readonly #working = new Set<Entry<Reason>>()
  readonly #takers: Waiters<WorkItem<Reason> | undefined>
  readonly #stopCounting: () => void
  #state: 'open' | 'draining' | 'stopped' = 'open'
  #drained: Deferred<void> | undefined

  constructor({
    clock = new SystemClock(),
    name = '',
    metrics,
    reasonsMax = 32,
    agedMs,
    agedTurns,
  }: WorkQueueOptions = {}) {
    if (!(Number.isInteger(reasonsMax) && reasonsMax >= 0))
      throw new RangeError(`reasonsMax must be a whole number of 0 or more, got ${reasonsMax}`)
    this.#clock = clock
    this.#reasonsMax = reasonsMax
    this.#ready = new ReadyQueue({ agedMs, agedTurns })
    this.#delays = new DelayingQueue(clock, (entry) => {
      this.#makeReady(entry)
    })
    this.#takers = new Waiters<WorkItem<Reason> | undefined>(() => this.#takeNext())
    this.#meter = metrics && name !== '' ? createQueueMetrics(metrics, name) : noQueueMetrics
    this.#stopCounting = this.#meter.followWork(() => this.#unfinishedMs())
  }

  /** Keys that are ready, including those that are ready again while a worker has them. */
  get readyCount(): number {
    let count = this.#ready.size
    for (const entry of this.#working) if (entry.next === 'ready') count++
    return count
  }

  /** Keys that wait for their time. */
  get waitingCount(): number {
    return this.#delays.size
  }

  /** Keys that a worker has. */
  get workingCount(): number {
    return this.#working.size
  }

  /** False once `stop` was called: adds are ignored. */
  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /**
   * Adds a key; false when the queue was stopped: then nothing happens.
   *
   * @throws {RangeError} when `afterMs` or `priority` is not a finite number.
   */
  add(key: string, { afterMs = 0, priority = 0, reason }: AddOptions<Reason> = {}): boolean {
    if (!Number.isFinite(afterMs))
      throw new RangeError(`afterMs must be a finite number of milliseconds, got ${afterMs}`)
    if (!Number.isFinite(priority)) throw new RangeError(`a priority must be a finite number, got ${priority}`)
    if (this.#state !== 'open') return false
    if (afterMs > 0) this.#meter.delayed()
    const entry = this.#entryOf(key)
    const lower = entry.merge(priority, reason, this.#reasonsMax)
    if (entry.next === 'ready') this.#raise(entry, lower)
    else if (afterMs > 0) this.#wait(entry, afterMs)
    else this.#makeReady(entry)
    return true
  }

  /**
   * Waits for a key and marks it as taken; undefined once the queue was stopped.
   *
   * The same key is not handed out again until {@link done} is called for it, and then only if it was added in the
   * meantime. Forgetting `done` locks the key for good.
   *
   * @throws the signal's reason, when `signal` aborts first.
   */
  take({ signal }: AbortOptions = {}): Promise<WorkItem<Reason> | undefined> {
    if (signal?.aborted) return Promise.reject(signal.reason as Error)
    if (this.#takers.size === 0 && this.#ready.size > 0) return Promise.resolve(this.#takeNext())
    if (this.#state !== 'open') return Promise.resolve(undefined)
    return this.#takers.wait({ signal })
  }

  /** Reports that the work on a key has ended, however it ended. Ignored for a key that was not taken. */
  done(key: string): void {
    const entry = this.#entries.get(key)
    if (!entry?.isWorking) return
    const nowMs = this.#clock.monotonic()
    entry.isWorking = false
    this.#working.delete(entry)
    this.#meter.worked(nowMs - entry.workingSinceMs)
    if (entry.next === 'ready') this.#offer(entry)
    else if (entry.next === 'none') this.#retire(entry)
    this.#checkDrained()
  }

  /** Adds a taken key once more, with its priority and reasons. */
  addAgain(
    { key, priority, reasons }: Pick<WorkItem<Reason>, 'key' | 'priority' | 'reasons'>,
    { afterMs = 0 }: Pick<AddOptions, 'afterMs'> = {},
  ): void {
    this.add(key, { afterMs, priority })
    for (const reason of reasons) this.add(key, { afterMs, priority, reason })
  }

  /** Returns a taken key unprocessed, with its reasons, so that nothing is lost when a worker has to stop. */
  putBack(item: WorkItem<Reason>): void {
    this.addAgain(item)
    this.done(item.key)
  }

  /**
   * Refuses further adds and drops the keys that wait for their time. Without `drain`, ready keys are dropped and every
   * `take` ends at once. With `drain`, ready keys are still handed out, and the promise resolves when all are done; a
   * `stop` without `drain` cuts that short. Active work is not affected.
   */
  stop({ drain = false }: { drain?: boolean } = {}): Promise<void> {
    if (this.#state === 'open') this.#dropWaiting()
    if (drain && this.#state !== 'stopped') {
      this.#state = 'draining'
      this.#drained ??= deferred()
      this.#takers.end(undefined)
      const { promise } = this.#drained
      this.#checkDrained()
      return promise
    }
    if (this.#state !== 'stopped') this.#finish()
    return Promise.resolve()
  }

  /** Every key that is not idle, to be shown. */
  *entries(): IterableIterator<KeyState<Reason>> {
    const nowMs = this.#clock.monotonic()
    for (const entry of this.#entries.values()) yield entry.describe(nowMs)
  }

  #entryOf(key: string): Entry<Reason> {
    const known = this.#entries.get(key)
    if (known) return known
    const entry = this.#spare.pop() ?? new Entry<Reason>()
    entry.key = key
    this.#entries.set(key, entry)
    return entry
  }

  #retire(entry: Entry<Reason>): void {
    this.#entries.delete(entry.key)
    if (this.#spare.length < spareMax) this.#spare.push(entry)
  }

  #wait(entry: Entry<Reason>, afterMs: number): void {
    entry.next = 'waiting'
    this.#delays.add(entry, this.#clock.monotonic() + afterMs)
  }

  #makeReady(entry: Entry<Reason>): void {
    if (entry.next === 'waiting') this.#delays.delete(entry)
    entry.next = 'ready'
    entry.readyMs = this.#clock.monotonic()
    this.#meter.ready(entry.priority)
    if (!entry.isWorking) this.#offer(entry)
  }

  /** Adds a key at the end of its priority. A key that was added while a worker had it gets here when that is done. */
  #offer(entry: Entry<Reason>): void {
    this.#ready.push(entry)
    this.#takers.wake()
  }

  #raise(entry: Entry<Reason>, lower: number): void {
    if (entry.priority === lower) return
    this.#meter.raised(lower, entry.priority)
    if (entry.isWorking) return
    this.#ready.delete(entry, lower)
    this.#ready.push(entry)
  }

  #takeNext(): WorkItem<Reason> | undefined {
    const nowMs = this.#clock.monotonic()
    const entry = this.#ready.shift(nowMs)
    if (!entry) return undefined
    this.#meter.taken(entry.priority, nowMs - entry.readyMs)
    this.#working.add(entry)
    return entry.begin(nowMs)
  }

  #checkDrained(): void {
    if (this.#state === 'draining' && this.#ready.size === 0 && this.#working.size === 0) this.#finish()
  }

  #finish(): void {
    this.#state = 'stopped'
    for (let entry = this.#ready.shift(0); entry; entry = this.#ready.shift(0)) this.#drop(entry)
    for (const entry of this.#working) if (entry.next === 'ready') this.#drop(entry)
    this.#takers.end(undefined)
    this.#stopCounting()
    this.#drained?.resolve()
  }

  #drop(entry: Entry<Reason>): void {
    this.#meter.dropped(entry.priority)
    entry.next = 'none'
    if (!entry.isWorking) this.#entries.delete(entry.key)
  }

  #dropWaiting(): void {
    this.#delays.clear()
    for (const entry of this.#entries.values()) {
      if (entry.next !== 'waiting') continue
      entry.next = 'none'
      if (!entry.isWorking) this.#entries.delete(entry.key)
    }
  }

  *#unfinishedMs(): IterableIterator<number> {
    const nowMs = this.#clock.monotonic()
    for (const entry of this.#working) yield nowMs - entry.workingSinceMs
  }
}

interface Waiter<T> extends Deferred<T> {
  stop: () => void
}

class Waiters<T> {
  readonly #next: () => T | undefined
  readonly #waiting = new Set<Waiter<T>>()
  #isWoken = false

  /** @param next takes the next item; undefined when there is none. */
  constructor(next: () => T | undefined) {
    this.#next = next
  }

  get size(): number {
    return this.#waiting.size
  }

  wait({ signal }: AbortOptions): Promise<T> {
    const taker: Waiter<T> = { ...deferred<T>(), stop: () => undefined }
    this.#waiting.add(taker)
    taker.stop = onAbort(signal, (reason) => {
      this.#waiting.delete(taker)
      taker.reject(reason)
    })
    return taker.promise
  }

  /** Something may be ready. */
  wake(): void {
    if (this.#isWoken || this.#waiting.size === 0) return
    this.#isWoken = true
    queueMicrotask(() => {
      this.#isWoken = false
      this.#handOut()
    })
  }

  /** Hands out what is ready, and ends all other waits with `last`. */
  end(last: T): void {
    this.#handOut()
    for (const taker of this.#waiting) this.#give(taker, last)
  }

  #handOut(): void {
    for (const taker of this.#waiting) {
      const one = this.#next()
      if (one === undefined) return
      this.#give(taker, one)
    }
  }

  #give(taker: Waiter<T>, one: T): void {
    this.#waiting.delete(taker)
    taker.stop()
    taker.resolve(one)
  }
}
