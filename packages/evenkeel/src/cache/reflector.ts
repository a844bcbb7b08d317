/**
 * A reflector: lists a collection, then watches it, and recovers from every error.
 *
 *   sync ──stream or list──▶ live ──end, cut, silence──▶ watch again from the last version
 *    ▲                         └──expired, refused by the server──▶ wait, sync
 *    └── any failure: wait (0.8 s to 60 s), or park while the kind is missing
 *
 * Invariants: only its signal ends it, whatever the server or the sink does; the sink gets a whole list in one call or
 * nothing of it; a version is taken only from an event or bookmark that the server sent in order.
 */
import { isApiError, type KubeObject } from '#api'
import {
  LightAbortController,
  nextTurn,
  onAbort,
  randomFraction,
  silentLogger,
  sleep,
  SystemClock,
  SystemRandom,
  type Clock,
  type Logger,
  type Random,
} from '#base'
import { Items, type Item } from './items.ts'
import { listAll, type ChangeEvent, type ListWatch, type StreamEvent, type WatchRequest } from './list-watch.ts'
import {
  CutListError,
  EndlessListError,
  recoveryFor,
  RelistError,
  RetryDelay,
  ShortWatchError,
  SilenceError,
  Watchdog,
  type Recovery,
  type ReflectorStep,
} from './reflector-recovery.ts'
import { unshaped } from './transform.ts'

/** Where a reflector delivers to. */
export interface Sink<T extends KubeObject> {
  /** A whole list, which replaces everything before. */
  replace(items: Items<T>, version: string): void
  apply(change: ChangeEvent<T>): void
  /** Nothing changed up to this version. */
  advance(version: string): void
  /** Something failed and is retried. */
  fail?(error: Error): void
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly source: ListWatch<T>
  readonly sink: Sink<T>
  /** Transforms an item before it is kept; an error fails the list. @default the item itself */
  readonly shape?: (item: Item<T>) => Item<T>
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** Request lists as streams where the server can. @default true */
  readonly streaming?: boolean
  /** @default 500 */
  readonly pageSize?: number
  /** How long a watch may be silent; servers send a bookmark every minute. @default 70_000 */
  readonly silenceMs?: number
}

/** A streamed list that is silent for this long does not get complete. */
const initialSilenceMs = 30_000
const initialWarningMs = 10_000
/** A streamed list that is not complete by then never will be, however many events arrive. */
const initialMsMax = 600_000
/** A watch that ends sooner without an event is a failure. */
const shortWatchMs = 1000

export class Reflector<T extends KubeObject> {
  readonly #source: ListWatch<T>
  readonly #sink: Sink<T>
  readonly #shape: (item: Item<T>) => Item<T>
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #pageSize: number
  readonly #silenceMs: number
  readonly #retryDelay: RetryDelay
  readonly #counts = { lists: 0, streams: 0, watches: 0, silences: 0, failures: 0 }
  #phase: ReflectorPhase = 'idle'
  #sinceMs: number
  #error: Error | undefined
  #version = ''
  #streaming: boolean
  #paged = false
  #newestOnly = false
  #cuts = 0
  #step: ReflectorStep = 'list'
  #worked = false
  #awake = new LightAbortController()
  #watching: LightAbortController | undefined

  constructor(options: ReflectorOptions<T>) {
    const {
      source,
      sink,
      shape = unshaped,
      clock = new SystemClock(),
      random = new SystemRandom(),
      log = silentLogger,
      streaming = true,
      pageSize = 500,
      silenceMs = 70_000,
    } = options
    if (!(pageSize >= 0)) throw new RangeError(`pageSize must be 0 or more, got ${pageSize}`)
    if (!(silenceMs > 0)) throw new RangeError(`silenceMs must be above 0, got ${silenceMs}`)
    this.#source = source
    this.#sink = sink
    this.#shape = shape
    this.#clock = clock
    this.#random = random
    this.#log = log
    this.#streaming = streaming
    this.#pageSize = pageSize
    this.#silenceMs = silenceMs
    this.#retryDelay = new RetryDelay({ clock, random })
    this.#sinceMs = clock.now()
  }

  get state(): ReflectorState {
    return {
      phase: this.#phase,
      sinceMs: this.#sinceMs,
      version: this.#version,
      error: this.#error,
      counts: { ...this.#counts },
    }
  }

  /** Ends a wait: retry now, because the kind was installed or a permission was granted. */
  wake(): void {
    this.#retryDelay.reset()
    this.#awake.abort()
  }

  /** Requests everything again: the data so far cannot be trusted. */
  relist(why: Error): void {
    this.#watching?.abort(new RelistError(why.message, { cause: why }))
  }

  /** Follows the collection until the signal aborts; then it resolves. */
  async run(signal: AbortSignal): Promise<void> {
    let next: Recovery['next'] = 'sync'
    while (!signal.aborted) {
      try {
        await this.#take(next, signal)
        next = 'watch'
      } catch (error) {
        if (signal.aborted) break
        next = await this.#recover(error, signal)
      }
    }
    this.#enter('idle')
  }

  #take(next: Recovery['next'], signal: AbortSignal): Promise<void> {
    if (next === 'watch') return this.#watch(signal)
    return next === 'sync' && this.#streaming ? this.#stream(signal) : this.#list(signal)
  }

  async #list(signal: AbortSignal): Promise<void> {
    this.#step = 'list'
    this.#enter('listing')
    this.#counts.lists++
    const resourceVersion = this.#newestOnly ? '' : this.#version === '' ? '0' : this.#version
    const mayPage = this.#paged || resourceVersion === '' || resourceVersion === '0'
    const { items, version, paged } = await listAll(this.#source, {
      resourceVersion,
      pageSize: mayPage ? this.#pageSize : 0,
      shape: this.#shape,
      signal,
    })
    this.#paged ||= paged
    this.#commit(items, version)
  }

  #commit(items: Items<T>, version: string): void {
    this.#sink.replace(items, version)
    this.#version = version
    this.#newestOnly = false
    this.#cuts = 0
    this.#enterLive()
  }

  async #stream(signal: AbortSignal): Promise<void> {
    this.#step = 'stream'
    this.#enter('catching up')
    this.#counts.streams++
    let gathered: Items<T> | undefined = new Items<T>()
    const resourceVersion = this.#newestOnly ? '' : this.#version
    const gather = this.#shape === unshaped ? gathered : undefined
    await this.#follow({ resourceVersion, sendInitialEvents: true, gather, signal }, (event) => {
      if (!gathered) {
        this.#receive(event)
      } else if (event.type !== 'BOOKMARK') {
        this.#gather(gathered, event)
      } else if (event.initialEventsEnd) {
        this.#commit(gathered, event.version)
        gathered = undefined
        this.#step = 'watch'
        return 'complete'
      }
      return undefined
    })
    if (gathered) throw new CutListError('the server ended the stream before the list was complete')
  }

  #gather(gathered: Items<T>, { type, item }: ChangeEvent<T>): void {
    if (type === 'DELETED') gathered.delete(item.namespace, item.name)
    else gathered.put(this.#shape(item))
  }

  async #watch(signal: AbortSignal): Promise<void> {
    this.#step = 'watch'
    this.#counts.watches++
    await this.#follow({ resourceVersion: this.#version, signal }, (event) => {
      this.#receive(event)
    })
  }

  #receive(event: StreamEvent<T>): void {
    if (event.type === 'BOOKMARK') {
      this.#version = event.version
      this.#sink.advance(event.version)
      return
    }
    // The last state of a deleted object is delivered without the transform: it is not kept, so nothing can fail.
    const item = event.type === 'DELETED' ? event.item : this.#shape(event.item)
    this.#sink.apply(item === event.item ? event : { type: event.type, item })
    this.#version = item.version
  }

  /** Reads one watch to its end. */
  async #follow(
    request: Omit<WatchRequest<T>, 'timeoutSeconds'>,
    handle: (event: StreamEvent<T>) => 'complete' | undefined | void,
  ): Promise<void> {
    const controller = new LightAbortController()
    this.#watching = controller
    const stop = onAbort(request.signal, (reason) => {
      controller.abort(reason)
    })
    const startedMs = this.#clock.monotonic()
    const isInitial = request.sendInitialEvents === true
    const watchdog = this.#watchdog(controller, { isInitial, startedMs })
    const timeoutSeconds = 300 + Math.floor(randomFraction(this.#random) * 300)
    const batches = this.#source
      .watch({ ...request, timeoutSeconds, signal: controller.signal })
      [Symbol.asyncIterator]()
    let events = 0
    this.#worked = false
    try {
      for (;;) {
        const { done, value } = await batches.next()
        if (done) break
        watchdog.heard()
        if (this.#step === 'watch') this.#enterLive()
        const isComplete = value.map(handle).includes('complete')
        if (isComplete) watchdog.allow(this.#silenceMs)
        events += value.length
        this.#worked = events > 0 || (request.gather?.size ?? 0) > 0
      }
    } finally {
      this.#worked ||= this.#clock.monotonic() - startedMs >= shortWatchMs
      watchdog.stop()
      stop()
      controller.abort(new Error('the watch is over'))
      // Do not wait for a source that hangs; its signal is aborted.
      Promise.resolve(batches.return?.()).catch(() => undefined)
    }
    if (!this.#worked) throw new ShortWatchError('the server ended the watch at once without an event')
  }

  #watchdog(
    controller: LightAbortController,
    { isInitial, startedMs }: { isInitial: boolean; startedMs: number },
  ): Watchdog {
    if (!isInitial)
      return new Watchdog({
        clock: this.#clock,
        limitMs: this.#silenceMs,
        onSilence: () => {
          this.#giveUp(controller)
        },
      })
    let waitedMs = 0
    const watchdog = new Watchdog({
      clock: this.#clock,
      limitMs: initialWarningMs,
      onSilence: () => {
        if (this.#step === 'watch') return this.#giveUp(controller)
        waitedMs += initialWarningMs
        this.#log.warn('still waiting for the end of the streamed list', { waitedMs })
        if (waitedMs >= initialSilenceMs || this.#clock.monotonic() - startedMs >= initialMsMax)
          controller.abort(new EndlessListError('the server did not send the bookmark that ends a streamed list'))
        else watchdog.allow(initialWarningMs)
      },
    })
    return watchdog
  }

  #giveUp(controller: LightAbortController): void {
    this.#counts.silences++
    this.#log.warn('watch was silent for too long; restarting it', { silenceMs: this.#silenceMs })
    controller.abort(new SilenceError(`no data for ${this.#silenceMs} ms`))
  }

  /** The next step after an error, when it is time for it. */
  async #recover(error: unknown, signal: AbortSignal): Promise<Recovery['next']> {
    const askedNewest = this.#newestOnly || (this.#step === 'stream' && this.#version === '')
    if (this.#step === 'stream') this.#cuts++
    const recovery = recoveryFor(error, { step: this.#step, askedNewest, worked: this.#worked, cuts: this.#cuts })
    if (recovery.forgetVersion) this.#newestOnly = true
    if (recovery.noStreams) this.#streaming = false
    if (!recovery.pause) {
      // Give other work a turn: a source that fails at once must not take the whole process.
      await nextTurn(this.#clock)
      return recovery.next
    }
    await this.#pause(toError(error), { isParked: recovery.park === true, signal })
    return recovery.next
  }

  async #pause(error: Error, { isParked, signal }: { isParked: boolean; signal: AbortSignal }): Promise<void> {
    this.#error = error
    this.#counts.failures++
    const delayMs = this.#retryDelay.nextMs(isApiError(error) ? error.retryAfterMs : undefined)
    this.#enter(isParked ? 'parked' : 'waiting')
    this.#log.warn(isParked ? 'the server does not have the kind; waiting for it' : 'list or watch failed; retrying', {
      error,
      delayMs,
    })
    this.#sink.fail?.(error)
    this.#awake = new LightAbortController()
    const stop = onAbort(signal, (reason) => {
      this.#awake.abort(reason)
    })
    await sleep(this.#clock, delayMs, { signal: this.#awake.signal }).catch(() => undefined)
    stop()
  }

  #enterLive(): void {
    this.#error = undefined
    this.#enter('live')
  }

  #enter(phase: ReflectorPhase): void {
    if (this.#phase === phase) return
    this.#phase = phase
    this.#sinceMs = this.#clock.now()
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

/**
 * The state of a reflector, for people and for readiness checks.
 *
 * - `idle`: not started, or stopped.
 * - `listing`: requesting everything, page by page.
 * - `catching up`: receiving everything as a stream.
 * - `live`: watching changes.
 * - `waiting`: something failed, see `error`; it is retried.
 * - `parked`: the server does not have the kind; it is asked from time to time.
 */
type ReflectorPhase = 'idle' | 'listing' | 'catching up' | 'live' | 'waiting' | 'parked'

export interface ReflectorState {
  readonly phase: ReflectorPhase
  /** When this phase started, in milliseconds since 1970. */
  readonly sinceMs: number
  /** The version that the watch has reached; empty before the first list. */
  readonly version: string
  /** The last failure; undefined once it is live again. */
  readonly error: Error | undefined
  readonly counts: ReflectorCounts
}

/** Counters since the start. */
interface ReflectorCounts {
  readonly lists: number
  readonly streams: number
  readonly watches: number
  /** Watches that were restarted because no data arrived. */
  readonly silences: number
  readonly failures: number
}
