/**
 * Room 16: are we listing, catching up or live?
 *
 * Before: the client said what the server says. After: the informer puts it in its store and tells handlers.
 *
 *   sync ──stream or list──▶ live ──end, cut, silence──▶ watch again from the last version
 *    ▲                         └──expired, refused by the server──▶ wait, sync
 *    └── any failure: wait (0.8 s to 60 s), or park while the kind is missing
 *
 * Invariants: it ends by its signal only, whatever the server or the sink does; the sink gets a whole list in one call or
 * nothing of it; a version is only taken from an event or bookmark that the server sent in order.
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

/** Where a reflector puts what it hears. */
interface Sink<T extends KubeObject> {
  /** Everything, in the place of everything before. */
  replace(items: Items<T>, version: string): void
  apply(change: ChangeEvent<T>): void
  /** Nothing happened up to this version. */
  advance(version: string): void
  /** Something failed and will be tried again. */
  fail?(error: Error): void
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly source: ListWatch<T>
  readonly sink: Sink<T>
  /** What an item becomes before it is kept; what it throws fails the list. @default the item itself */
  readonly shape?: (item: Item<T>) => Item<T>
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** Take lists as streams where the server can. @default true */
  readonly streaming?: boolean
  /** @default 500 */
  readonly pageSize?: number
  /** How long a watch may be silent; servers send a bookmark every minute. @default 70_000 */
  readonly silenceMs?: number
}

/** While a streamed list comes, a silence of this length means that its end will not come. */
const initialSilenceMs = 30_000
const initialWarningMs = 10_000
/** However lively it is: a stream that has not become complete by then never will. */
const initialMsMax = 600_000
/** A watch that ends sooner, without a word, is a failure. */
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

  /** Ends a wait: try again now, because the kind has come or a permission was given. */
  wake(): void {
    this.#retryDelay.reset()
    this.#awake.abort()
  }

  /** Takes everything anew: what was heard cannot be trusted. */
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
    await this.#follow({ resourceVersion, sendInitialEvents: true, gather, signal }, (arrival) => {
      if (!gathered) {
        this.#receive(arrival)
      } else if (arrival.type !== 'BOOKMARK') {
        this.#gather(gathered, arrival)
      } else if (arrival.initialEventsEnd) {
        this.#commit(gathered, arrival.version)
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
    await this.#follow({ resourceVersion: this.#version, signal }, (arrival) => {
      this.#receive(arrival)
    })
  }

  #receive(arrival: StreamEvent<T>): void {
    if (arrival.type === 'BOOKMARK') {
      this.#version = arrival.version
      this.#sink.advance(arrival.version)
      return
    }
    // The last state of what is gone is told as it came: nothing of it is kept, so nothing can fail.
    const item = arrival.type === 'DELETED' ? arrival.item : this.#shape(arrival.item)
    this.#sink.apply(item === arrival.item ? arrival : { type: arrival.type, item })
    this.#version = item.version
  }

  /** Reads one watch to its end. */
  async #follow(
    request: Omit<WatchRequest<T>, 'timeoutSeconds'>,
    hear: (arrival: StreamEvent<T>) => 'complete' | undefined | void,
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
        const isComplete = value.map(hear).includes('complete')
        if (isComplete) watchdog.allow(this.#silenceMs)
        events += value.length
        this.#worked = events > 0 || (request.gather?.size ?? 0) > 0
      }
    } finally {
      this.#worked ||= this.#clock.monotonic() - startedMs >= shortWatchMs
      watchdog.stop()
      stop()
      controller.abort(new Error('the watch is over'))
      // A source that hangs must not hold us up; it has been told by the signal.
      Promise.resolve(batches.return?.()).catch(() => undefined)
    }
    if (!this.#worked) throw new ShortWatchError('the server ended the watch at once, without a word')
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
        this.#log.warn('still waiting for the end of the list', { waitedMs })
        if (waitedMs >= initialSilenceMs || this.#clock.monotonic() - startedMs >= initialMsMax)
          controller.abort(new EndlessListError('the server does not say when its list is complete'))
        else watchdog.allow(initialWarningMs)
      },
    })
    return watchdog
  }

  #giveUp(controller: LightAbortController): void {
    this.#counts.silences++
    this.#log.warn('the watch was silent for too long and is begun again', { silenceMs: this.#silenceMs })
    controller.abort(new SilenceError(`nothing was heard for ${this.#silenceMs} ms`))
  }

  /** What comes next after an error, when it is time for it. */
  async #recover(error: unknown, signal: AbortSignal): Promise<Recovery['next']> {
    const askedNewest = this.#newestOnly || (this.#step === 'stream' && this.#version === '')
    if (this.#step === 'stream') this.#cuts++
    const verdict = recoveryFor(error, { step: this.#step, askedNewest, worked: this.#worked, cuts: this.#cuts })
    if (verdict.forgetVersion) this.#newestOnly = true
    if (verdict.noStreams) this.#streaming = false
    if (!verdict.pause) {
      // Other work goes first, so that a source that fails at once cannot take the whole process.
      await nextTurn(this.#clock)
      return verdict.next
    }
    await this.#pause(toError(error), { isParked: verdict.park === true, signal })
    return verdict.next
  }

  async #pause(error: Error, { isParked, signal }: { isParked: boolean; signal: AbortSignal }): Promise<void> {
    this.#error = error
    this.#counts.failures++
    const delayMs = this.#retryDelay.nextMs(isApiError(error) ? error.retryAfterMs : undefined)
    this.#enter(isParked ? 'parked' : 'waiting')
    this.#log.warn(
      isParked ? 'the kind is missing; waiting for it to come' : 'cannot follow the server; trying again',
      { error, delayMs },
    )
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

/*
 * What a reflector is doing, for people and for readiness checks.
 */

/**
 * - `idle`: not begun, or stopped.
 * - `listing`: asking for everything, page by page.
 * - `catching up`: everything is on its way as a stream.
 * - `live`: following changes.
 * - `waiting`: something failed, see `error`; it will be tried again.
 * - `parked`: the server does not have the kind; it is asked now and then whether it came.
 */
export type ReflectorPhase = 'idle' | 'listing' | 'catching up' | 'live' | 'waiting' | 'parked'

export interface ReflectorState {
  readonly phase: ReflectorPhase
  /** When this phase began, on the wall clock, in milliseconds since 1970. */
  readonly sinceMs: number
  /** How far the stream has come; empty before the first list. */
  readonly version: string
  /** What failed last; undefined once it is live again. */
  readonly error: Error | undefined
  readonly counts: ReflectorCounts
}

/** What happened so far. */
export interface ReflectorCounts {
  readonly lists: number
  readonly streams: number
  readonly watches: number
  /** Watches that were given up because nothing was heard. */
  readonly silences: number
  readonly failures: number
}
