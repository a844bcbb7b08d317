/**
 * Events from outside the server as a source: any async iterable of keys.
 *
 * External systems repeat themselves: a file watcher reports one save ten times. So keys can be debounced:
 *
 *   push ──▶ waiting ──no push for `quietMs`, or `capMs` after the first──▶ ready
 *               ▲ │
 *               └─┘ push
 *
 * A stream that ends is complete; one that fails is opened again if possible, after a growing wait.
 *
 * Invariants: a pushed key comes out exactly once per wait, with the last pushed value; at most `keysMax` keys wait:
 * beyond that the oldest comes out early.
 */
import { deferred, randomFraction, sleep, type AbortOptions, type Cancel, type Clock } from '#base'
import type { CacheKey } from '#cache'
import type { Source, SourceContext, StartedSource } from './sources.ts'

/** A key, with an optional note. */
export type ChannelEvent = CacheKey & {
  /** Shown as the cause of the run. */
  readonly note?: string
}

interface ChannelSourceOptions {
  readonly name: string
  /** The events; as a function, so that they can be read again after a failure or a second start. */
  readonly events: AsyncIterable<ChannelEvent> | ((options: { signal: AbortSignal }) => AsyncIterable<ChannelEvent>)
  /** How long a key must be quiet before it is enqueued. @default 0 */
  readonly debounceMs?: number | undefined
  /** After how long it is enqueued anyway. @default ten times debounceMs */
  readonly debounceMaxMs?: number | undefined
  /** How many keys may wait. @default 10_000 */
  readonly keysMax?: number | undefined
  /** @default 0 */
  readonly priority?: number | undefined
}

export function channelSource({
  name,
  events,
  debounceMs = 0,
  debounceMaxMs = debounceMs * 10,
  keysMax = 10_000,
  priority = 0,
}: ChannelSourceOptions): Source {
  if (!(debounceMs >= 0 && debounceMaxMs >= debounceMs && debounceMaxMs < Infinity))
    throw new RangeError(
      `debounceMs must be 0 or more and debounceMaxMs at least that, got ${debounceMs} and ${debounceMaxMs}`,
    )
  if (!(Number.isInteger(keysMax) && keysMax >= 1))
    throw new RangeError(`keysMax must be a whole number of 1 or more, got ${keysMax}`)
  return {
    name,
    start: (context) => new StartedChannel({ name, events, debounceMs, debounceMaxMs, keysMax, priority }, context),
  }
}

/** The options with their defaults. */
type ChannelPlan = { readonly [Name in keyof ChannelSourceOptions]-?: NonNullable<ChannelSourceOptions[Name]> }

const retryMsMin = 1000
const retryMsMax = 60_000

class StartedChannel implements StartedSource {
  readonly #options: ChannelPlan
  readonly #context: SourceContext
  readonly #stopping = new AbortController()
  readonly #debounce: Debounce<ChannelEvent>
  readonly #done: Promise<void>
  #problem: string | undefined
  #leave: (() => void) | undefined

  constructor(options: ChannelPlan, context: SourceContext) {
    this.#options = options
    this.#context = context
    this.#debounce = new Debounce<ChannelEvent>({
      clock: context.clock,
      quietMs: options.debounceMs,
      capMs: options.debounceMaxMs,
      keysMax: options.keysMax,
      onReady: (_, event) => {
        this.#enqueue(event)
      },
    })
    this.#done = this.#run()
  }

  get name(): string {
    return this.#options.name
  }

  /** An external system does not say when it has reported everything. */
  get hasSynced(): boolean {
    return true
  }

  get problem(): string | undefined {
    return this.#problem
  }

  waitForSync(_options: AbortOptions = {}): Promise<void> {
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the source was stopped'))
    this.#debounce.clear()
    this.#leave?.()
    await this.#done
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { clock, random, log } = this.#context
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await this.#read()
        return
      } catch (error) {
        if (signal.aborted) return
        const canRetry = typeof this.#options.events === 'function'
        this.#problem = `${this.name}: ${error instanceof Error ? error.message : String(error)}`
        const delayMs =
          Math.min(retryMsMax, retryMsMin * 2 ** Math.min(failures, 10)) * (1 + 0.1 * randomFraction(random))
        log.error('event source failed', { source: this.name, error, ...(canRetry && { delayMs }) })
        if (!canRetry) return
        await sleep(clock, delayMs, { signal }).catch(() => undefined)
      }
    }
  }

  async #read(): Promise<void> {
    const { events } = this.#options
    const { signal } = this.#stopping
    const iterator = (typeof events === 'function' ? events({ signal }) : events)[Symbol.asyncIterator]()
    const left = deferred<undefined>()
    this.#leave = () => {
      left.resolve(undefined)
      // Do not wait for an iterator that hangs.
      Promise.resolve(iterator.return?.()).catch(() => undefined)
    }
    for (;;) {
      const next = await Promise.race([iterator.next(), left.promise])
      if (!next || next.done === true || signal.aborted) return
      this.#problem = undefined
      this.#receive(next.value)
    }
  }

  /** External data may be anything: one invalid event does not end the source. */
  #receive(event: ChannelEvent): void {
    if (
      typeof event?.name !== 'string' ||
      event.name === '' ||
      !['string', 'undefined'].includes(typeof event.namespace)
    ) {
      this.#context.onMapError(new RangeError(`an event must have a name, got ${JSON.stringify(event)}`))
      this.#context.log.error('event source returned an invalid key', { source: this.name })
      return
    }
    this.#debounce.push(JSON.stringify([event.namespace ?? '', event.name]), event)
  }

  #enqueue({ name, namespace, note }: ChannelEvent): void {
    if (this.#stopping.signal.aborted) return
    this.#context.enqueue(
      { name, ...(namespace !== undefined && { namespace }) },
      { type: 'event', source: this.name, ...(note !== undefined && { note }) },
      { priority: this.#options.priority },
    )
  }
}

interface DebounceOptions<T> {
  readonly clock: Clock
  readonly quietMs: number
  readonly capMs: number
  readonly keysMax: number
  readonly onReady: (key: string, value: T) => void
}

interface Waiting<T> {
  readonly firstMs: number
  value: T
  cancel: Cancel
}

class Debounce<T> {
  readonly #options: DebounceOptions<T>
  readonly #waiting = new Map<string, Waiting<T>>()

  constructor(options: DebounceOptions<T>) {
    this.#options = options
  }

  push(key: string, value: T): void {
    const { clock, quietMs, capMs, keysMax, onReady } = this.#options
    if (quietMs <= 0) return onReady(key, value)
    const nowMs = clock.monotonic()
    const known = this.#waiting.get(key)
    known?.cancel()
    const firstMs = known?.firstMs ?? nowMs
    const delayMs = Math.max(0, Math.min(quietMs, firstMs + capMs - nowMs))
    const cancel = clock.after(delayMs, () => {
      this.#release(key)
    })
    this.#waiting.set(key, { firstMs, value, cancel })
    if (this.#waiting.size > keysMax) for (const oldest of [...this.#waiting.keys()].slice(0, 1)) this.#release(oldest)
  }

  /** Drops what waits. */
  clear(): void {
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
  }

  #release(key: string): void {
    const waiting = this.#waiting.get(key)
    if (!waiting) return
    waiting.cancel()
    this.#waiting.delete(key)
    this.#options.onReady(key, waiting.value)
  }
}
