/**
 * Tells people what happens to objects, by Event objects; the same thing again is counted, not told again.
 *
 *   event() ──new──▶ queued ──▶ created          first time
 *           ──known, second time or other note──▶ queued ──▶ changed
 *           ──known, nothing new──▶ counted here; written when the series has gone quiet, and every half hour
 *
 * Invariants: `event` never waits and never throws; at most `queueMax` series wait to be written, each once however
 * often it happens; at most `seriesMax` are remembered; about one object nobody writes more than {@link SpamFilter} lets pass.
 */
import type { Condition, KubeObject } from '#api'
import {
  deadline as limitOf,
  deferred,
  onAbort,
  randomFraction,
  silentLogger,
  sleep,
  SystemClock,
  SystemRandom,
  type Clock,
  type Counter,
  type Deferred,
  type Logger,
  type Metrics,
  type Random,
} from '#base'
import type { Client } from '#client'
import type { ContextPlugin } from '#controller'
import {
  beginSeries,
  continueSeries,
  EventSink,
  makeReporter,
  objectKey,
  seriesKey,
  type EventApi,
  type EventNote,
  type EventSeries,
} from './event-sink.ts'

export interface EventRecorderOptions {
  /** Not gated by a lease: what happened to a leader is worth telling when it leads no more. */
  readonly client: Client
  /** Who reports: `my-controller`, or `example.com/my-controller`. */
  readonly controller: string
  /** @default 'events.k8s.io/v1' */
  readonly api?: EventApi
  /** @default 1000 */
  readonly queueMax?: number
  /** @default 4096 */
  readonly seriesMax?: number
  readonly clock?: Clock
  readonly random?: Random
  readonly log?: Logger
  readonly metrics?: Metrics
}

/** One series: how it is now, and how the server has it. */
interface Entry {
  readonly key: string
  series: EventSeries
  written: EventSeries | undefined
  isQueued: boolean
}

const [triesMax, retryMs, quietMs, refreshMs, drainMs] = [12, 10_000, 360_000, 1_800_000, 2000]

export class EventRecorder {
  readonly #sink: EventSink
  readonly #filter: SpamFilter
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #dropped: Counter | undefined
  readonly #bounds: { readonly queueMax: number; readonly seriesMax: number }
  readonly #entries = new Map<string, Entry>()
  readonly #queue: Entry[] = []
  #waiting: Deferred<void> | undefined

  constructor({
    client,
    controller,
    api = 'events.k8s.io/v1',
    queueMax = 1000,
    seriesMax = 4096,
    clock = new SystemClock(),
    random = new SystemRandom(),
    log = silentLogger,
    metrics,
  }: EventRecorderOptions) {
    this.#sink = new EventSink({ client, reporter: makeReporter(controller), api })
    this.#filter = new SpamFilter({ clock })
    this.#clock = clock
    this.#random = random
    this.#log = log.child({ reporter: controller })
    this.#bounds = { queueMax, seriesMax }
    this.#dropped = metrics
      ?.counter('evenkeel_events_dropped_total', {
        help: 'Events that were not recorded, because there were too many.',
      })
      .with()
  }

  /** Records that something happened to an object. */
  event(object: KubeObject, note: EventNote): void {
    const nowMs = this.#clock.now()
    const begun = beginSeries(object, note, { nowMs, random: this.#random })
    const key = seriesKey(begun)
    const known = this.#entries.get(key)
    if (!known) return this.#begin(key, begun)
    known.series = continueSeries(known.series, { note: note.note, nowMs })
    if (!known.isQueued) this.#writeNews(known)
  }

  /** Records what changed from one set of conditions to another, and nothing when nothing did. */
  transitions(
    object: KubeObject,
    {
      before,
      after,
      ...options
    }: { before: readonly Condition[] | undefined; after: readonly Condition[] | undefined } & TransitionOptions,
  ): void {
    for (const note of transitionNotes(before ?? [], after ?? [], options)) this.event(object, note)
  }

  /** Writes until the signal aborts, and then for a moment what is still waiting. */
  async run(signal: AbortSignal): Promise<void> {
    const cleaning = this.#clean(signal)
    while (!signal.aborted) {
      const entry = await this.#next(signal)
      if (entry) await this.#write(entry, signal)
    }
    await cleaning
    await this.#drain()
  }

  #begin(key: string, series: EventSeries): void {
    if (!this.#filter.accepts(objectKey(series.regarding))) {
      this.#dropped?.add()
      return
    }
    const entry: Entry = { key, series, written: undefined, isQueued: false }
    if (!this.#enqueue(entry)) return
    this.#entries.set(key, entry)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#bounds.seriesMax && oldest !== undefined) this.#entries.delete(oldest)
  }

  #enqueue(entry: Entry): boolean {
    if (this.#queue.length >= this.#bounds.queueMax) {
      this.#dropped?.add()
      return false
    }
    entry.isQueued = true
    this.#queue.push(entry)
    this.#waiting?.resolve()
    this.#waiting = undefined
    return true
  }

  async #next(signal: AbortSignal): Promise<Entry | undefined> {
    if (this.#queue.length === 0) {
      const waiting = (this.#waiting ??= deferred<void>())
      const stop = onAbort(signal, () => {
        waiting.resolve()
      })
      await waiting.promise
      stop()
    }
    return signal.aborted ? undefined : this.#queue.shift()
  }

  /** While the server cannot be reached everything waits; what it rejects is not sent again. */
  async #write(entry: Entry, signal: AbortSignal): Promise<void> {
    for (let tries = 1; ; tries++) {
      const { series } = entry
      const outcome = await this.#sink.write(series, entry.written, {
        signal,
        onError: (error) => {
          this.#logFailure(error, series, signal)
        },
      })
      if (outcome === 'written') entry.written = series
      if (outcome !== 'later' || tries === triesMax || signal.aborted) break
      await sleep(this.#clock, retryMs * (1 + 0.25 * randomFraction(this.#random)), { signal }).catch(() => undefined)
    }
    entry.isQueued = false
    // What could not be made is forgotten, so that the next time is a first time; what came meanwhile is told.
    if (entry.written === undefined) this.#entries.delete(entry.key)
    else this.#writeNews(entry)
  }

  /** Only that it happened again, and what is said about it: how often can wait. */
  #writeNews(entry: Entry): void {
    const { series, written } = entry
    const isNews = written !== undefined && series !== written && (written.count === 1 || written.note !== series.note)
    if (isNews && this.#filter.accepts(objectKey(series.regarding))) this.#enqueue(entry)
  }

  /** Ends series that have gone quiet, and keeps the others alive on the server. */
  async #clean(signal: AbortSignal): Promise<void> {
    let refreshedMs = this.#clock.monotonic()
    for (;;) {
      await sleep(this.#clock, quietMs, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const isRefresh = this.#clock.monotonic() - refreshedMs >= refreshMs
      if (isRefresh) refreshedMs = this.#clock.monotonic()
      for (const entry of this.#entries.values()) this.#flush(entry, isRefresh)
    }
  }

  #flush(entry: Entry, isRefresh: boolean): void {
    if (entry.isQueued) return
    const isQuiet = this.#clock.now() - entry.series.lastMs >= quietMs
    const isBehind = entry.written !== undefined && entry.written.count < entry.series.count
    if (isBehind || (isRefresh && entry.series.count > 1 && !isQuiet)) this.#enqueue(entry)
    if (isQuiet) this.#entries.delete(entry.key)
  }

  async #drain(): Promise<void> {
    const limit = limitOf(this.#clock, drainMs)
    for (let entry = this.#queue.shift(); entry && !limit.signal.aborted; entry = this.#queue.shift()) {
      await this.#sink.write(entry.series, entry.written, { signal: limit.signal, onError: () => undefined })
    }
    limit.done()
  }

  #logFailure(error: unknown, { reason, note, regarding }: EventSeries, signal: AbortSignal): void {
    if (!signal.aborted)
      this.#log.warn('an event could not be written', { error, reason, note, object: regarding['name'] })
  }
}

/*
 * How often somebody may write events about one object: a burst, then one now and then. The numbers are those of client-go.
 *
 * Invariant: never more than `objectsMax` objects are remembered; the one longest not written about is forgotten first.
 */

interface SpamFilterOptions {
  readonly clock: Clock
  /** @default 25 */
  readonly burst?: number
  /** @default 300_000 */
  readonly refillMs?: number
  /** @default 4096 */
  readonly objectsMax?: number
}

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

export class SpamFilter {
  readonly #options: Required<SpamFilterOptions>
  readonly #buckets = new Map<string, Bucket>()

  constructor({ clock, burst = 25, refillMs = 300_000, objectsMax = 4096 }: SpamFilterOptions) {
    this.#options = { clock, burst, refillMs, objectsMax }
  }

  /** Whether one more may be written about this object; then it counts as written. */
  accepts(object: string): boolean {
    const { clock, burst, refillMs, objectsMax } = this.#options
    const atMs = clock.monotonic()
    const known = this.#buckets.get(object) ?? { tokens: burst, atMs }
    const tokens = Math.min(burst, known.tokens + (atMs - known.atMs) / refillMs)
    const isAccepted = tokens >= 1
    // Put in again, because the order of a map is the order of age.
    this.#buckets.delete(object)
    this.#buckets.set(object, { tokens: isAccepted ? tokens - 1 : tokens, atMs })
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > objectsMax && oldest !== undefined) this.#buckets.delete(oldest)
    return isAccepted
  }
}

/*
 * Events for what changed, and only for that: a controller that looks again and finds everything as it was says nothing.
 *
 * What was before is read from the object, not remembered: a restart tells nothing twice.
 */

export interface TransitionOptions {
  /**
   * Conditions that are bad when they are true: `Degraded`, `Stalled`.
   *
   * @default none
   */
  readonly negative?: readonly string[]
}

/** One note for every condition that is new, or has another status or another reason. */
function transitionNotes(
  before: readonly Condition[],
  after: readonly Condition[],
  { negative = [] }: TransitionOptions = {},
): EventNote[] {
  const known = new Map(before.map((condition) => [condition.type, condition]))
  return after
    .filter(({ type, status, reason }) => known.get(type)?.status !== status || known.get(type)?.reason !== reason)
    .map(({ type, status, reason, message }) => ({
      type: status === (negative.includes(type) ? 'True' : 'False') ? 'Warning' : 'Normal',
      reason: reason || type,
      action: type,
      note: message || `${type} is ${status}`,
    }))
}

/*
 * `context.event(...)`: what a reconcile tells people about its object, under the name of its controller.
 */

/** The events of a run. */
export interface EventContext {
  /** Records that something happened to the object; the same again is counted. With the key alone there is nothing to record it on. */
  event(note: EventNote): void
}

export function eventPlugin(recorder: (controller: string) => EventRecorder): ContextPlugin<EventContext> {
  return {
    name: 'events',
    extend: (_, { controller, object }) => ({
      context: {
        event: (note) => {
          if (object) recorder(controller).event(object, note)
        },
      },
    }),
  }
}
