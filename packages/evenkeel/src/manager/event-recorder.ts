/**
 * Records Events about objects. Repeated events are counted in a series instead of being written again.
 *
 *   event() ──new series──▶ queued ──▶ created
 *           ──second occurrence, or another note──▶ queued ──▶ patched
 *           ──later occurrence──▶ counted in memory; written when the series ends, and every 30 minutes
 *
 * Example: `FailedMount` of pod a every second for an hour is one create, one patch (count 2), two refreshes and a last
 * patch with the final count when no event came for 6 minutes: 5 requests for 3600 events.
 *
 * Invariants: `event` never waits and never throws; at most `queueMax` series wait to be written, each at most once; at
 * most `seriesMax` series are kept; {@link SpamFilter} limits the writes about one object. A transition event compares
 * with the conditions in the object, not with memory, so a restart repeats nothing.
 */
import { isNotFound, type Condition, type KubeObject } from '#api'
import {
  deadline as startDeadline,
  deferred,
  onAbort,
  placeOf,
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
  /** Not gated by the lease: the events of a former leader are still recorded. */
  readonly client: Client
  /** The reporting controller: `my-controller`, or `example.com/my-controller`. */
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

/** A series: its current state, and the state on the server. */
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

  /** Records an event about an object. */
  event(object: KubeObject, note: EventNote): void {
    const nowMs = this.#clock.now()
    const started = beginSeries(object, note, { nowMs, random: this.#random })
    const key = seriesKey(started)
    const known = this.#entries.get(key)
    if (!known) return this.#begin(key, started)
    known.series = continueSeries(known.series, { note: note.note, nowMs })
    if (!known.isQueued) this.#queueIfChanged(known)
  }

  /** Records an event for each condition that changed. */
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

  /** Writes until the signal aborts, and then writes the queue for at most two seconds. */
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

  /** Retries while the server cannot be reached. A rejected event is not sent again. */
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
    // A series that could not be created is dropped, so that its next event starts a new one.
    if (entry.written === undefined) this.#entries.delete(entry.key)
    else this.#queueIfChanged(entry)
  }

  /** Queues the second occurrence and a changed note. A higher count alone can wait. */
  #queueIfChanged(entry: Entry): void {
    const { series, written } = entry
    const isChanged =
      written !== undefined && series !== written && (written.count === 1 || written.note !== series.note)
    if (isChanged && this.#filter.accepts(objectKey(series.regarding))) this.#enqueue(entry)
  }

  /** Ends series without recent events, and refreshes the others on the server. */
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
    const limit = startDeadline(this.#clock, drainMs)
    for (let entry = this.#queue.shift(); entry && !limit.signal.aborted; entry = this.#queue.shift()) {
      await this.#sink.write(entry.series, entry.written, { signal: limit.signal, onError: () => undefined })
    }
    limit.done()
  }

  #logFailure(error: unknown, { reason, note, regarding }: EventSeries, signal: AbortSignal): void {
    if (!signal.aborted) this.#log.warn('cannot write event', { error, reason, note, object: regarding['name'] })
  }
}

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

/**
 * Limits the events about one object with a token bucket, with the numbers of client-go. At most `objectsMax` buckets
 * are kept; the least recently used one is evicted.
 */
export class SpamFilter {
  readonly #options: Required<SpamFilterOptions>
  readonly #buckets = new Map<string, Bucket>()

  constructor({ clock, burst = 25, refillMs = 300_000, objectsMax = 4096 }: SpamFilterOptions) {
    this.#options = { clock, burst, refillMs, objectsMax }
  }

  /** Takes a token of this object. @returns whether there was one */
  accepts(object: string): boolean {
    const { clock, burst, refillMs, objectsMax } = this.#options
    const atMs = clock.monotonic()
    const known = this.#buckets.get(object) ?? { tokens: burst, atMs }
    const tokens = Math.min(burst, known.tokens + (atMs - known.atMs) / refillMs)
    const isAccepted = tokens >= 1
    // Reinserted, so that the map is ordered by last use.
    this.#buckets.delete(object)
    this.#buckets.set(object, { tokens: isAccepted ? tokens - 1 : tokens, atMs })
    const [oldest] = this.#buckets.keys()
    if (this.#buckets.size > objectsMax && oldest !== undefined) this.#buckets.delete(oldest)
    return isAccepted
  }
}

export interface TransitionOptions {
  /**
   * Condition types whose status True is a problem: `Degraded`, `Stalled`.
   *
   * @default none
   */
  readonly negative?: readonly string[]
}

/** One event for every condition that is new, or has another status or reason. */
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

/** What the event plugin adds to the context of a run. */
export interface EventContext {
  /**
   * Records an event about the object, with its controller as the reporter. It never waits and never throws; repeated
   * events are counted instead of written again. Does nothing for `reconcileKey`.
   *
   * @example event({ type: 'Warning', reason: 'QuotaLow', note: '90 % of the disk is used' })
   */
  event(note: EventNote): void
}

/** Adds `event` to the context of a run, and records its failure. */
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
    failed: (error, { controller, object }) => {
      if (!isGone(object, error)) recorder(controller).event(object, failureNote(error))
    },
  }
}

/** Whether the run failed because its object was deleted meanwhile: there is nothing to record an event about. */
function isGone({ metadata: { name } }: KubeObject, error: unknown): boolean {
  return isNotFound(error) && error.subject?.name === name
}

/** One series per object: a controller that fails again raises its count. */
function failureNote(error: unknown): EventNote {
  const at = placeOf(error)
  const text = error instanceof Error ? error.message || error.name : String(error)
  return {
    type: 'Warning',
    reason: 'ReconcileFailed',
    action: 'Reconcile',
    note: `${text}${at === undefined ? '' : ` (${at})`}`,
  }
}
