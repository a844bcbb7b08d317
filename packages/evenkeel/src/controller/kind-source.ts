/**
 * Objects of a kind as a source: gets events from the cache, and enqueues the keys they are about.
 *
 * A handler of one source never blocks another: the cache calls each on its own, and while one waits, the events of an
 * object are merged.
 *
 * `FailedEvents` keeps events whose handler failed and retries each, so that a short failure of a handler does not lose a
 * change. Later events of the same object are merged into it. After `triesMax` failures in a row an event is dropped: a
 * bug in the handler does not go away by waiting. Invariant: one event per object.
 */
import type { KubeObject } from '#api'
import {
  abortable,
  deadline,
  LightAbortController,
  type AbortOptions,
  type Cancel,
  type Clock,
  type Deadline,
  type Logger,
  type Random,
} from '#base'
import type {
  CachedOf,
  CacheEvent,
  CacheKey,
  CacheKind,
  GetInformerOptions,
  IndexValues,
  InformerHandle,
  ObjectCache,
  Subscription,
} from '#cache'
import { Backoff } from '#queue'
import { enqueueSelf, type EventHandler, type HandlerContext } from './handlers.ts'
import { and, type Predicate } from './predicates.ts'
import { changedPaths, type Cause, type CauseType } from './run-record.ts'
import type { Source, SourceContext, StartedSource } from './sources.ts'

/** The priority of initial objects and of resyncs. */
export const lowPriority = -100

interface KindSourceOptions<K extends CacheKind> extends GetInformerOptions<CachedOf<K>> {
  /** @default the object itself */
  readonly handler?: EventHandler<CachedOf<K> & KubeObject> | undefined
  /** An event must pass all of them. @default every event passes */
  readonly predicates?: readonly Predicate<CachedOf<K> & KubeObject>[] | undefined
  /** Delivers every object again after about this time; 0: never. @default 0 */
  readonly resyncMs?: number | undefined
  /** For logs and causes. @default the kind's name */
  readonly name?: string | undefined
  /** Called with every event, before the predicates. */
  readonly observe?: ((event: CacheEvent) => void) | undefined
  /** Indexes that the cache keeps while the source runs. @default none */
  readonly indexes?: Readonly<Record<string, IndexValues<CachedOf<K> & KubeObject>>> | undefined
  /** After how long a waiting handler is aborted. @default 60_000 */
  readonly handlerTimeoutMs?: number | undefined
}

/** Changes of a kind's objects. */
export function kindSource<K extends CacheKind>(kind: K, options: KindSourceOptions<K> = {}): Source {
  const {
    handler = enqueueSelf,
    predicates = [],
    name = kind.kind,
    observe,
    resyncMs = 0,
    handlerTimeoutMs = 60_000,
    indexes = {},
    ...hold
  } = options
  const plan: KindSourcePlan = {
    name,
    handler: handler as EventHandler,
    predicate: and(...predicates) as Predicate,
    observe,
    handlerTimeoutMs,
  }
  return {
    name,
    start: (context) =>
      new StartedKindSource(plan, context, {
        cache: context.cache,
        kind,
        informerOptions: hold as GetInformerOptions<unknown>,
        indexes: indexes as KindSourceWatch['indexes'],
        resyncMs,
      }),
  }
}

interface KindSourcePlan {
  readonly name: string
  readonly handler: EventHandler
  readonly predicate: Predicate
  readonly observe: ((event: CacheEvent) => void) | undefined
  readonly handlerTimeoutMs: number
}

interface KindSourceWatch {
  readonly cache: ObjectCache
  readonly kind: CacheKind
  readonly informerOptions: GetInformerOptions<unknown>
  readonly indexes: Readonly<Record<string, IndexValues<KubeObject>>>
  readonly resyncMs: number
}

class StartedKindSource implements StartedSource {
  readonly #plan: KindSourcePlan
  readonly #context: SourceContext
  readonly #informer: InformerHandle<KubeObject>
  readonly #subscription: Subscription
  readonly #stopping = new LightAbortController()
  readonly #limits: HandlerLimits
  readonly #failed: FailedEvents
  #refusal: Error | undefined

  constructor(
    plan: KindSourcePlan,
    context: SourceContext,
    { cache, kind, informerOptions: hold, indexes, resyncMs }: KindSourceWatch,
  ) {
    this.#plan = plan
    this.#context = context
    this.#limits = { timeoutMs: plan.handlerTimeoutMs, signal: this.#stopping.signal }
    this.#failed = new FailedEvents({
      ...context,
      retry: (event) => {
        void this.#handle(event)
      },
    })
    this.#informer = cache.getInformer(
      kind,
      hold as Parameters<typeof cache.getInformer>[1],
    ) as InformerHandle<KubeObject>
    for (const [name, values] of Object.entries(indexes)) this.#informer.addIndex(name, values)
    this.#subscription = this.#informer.addHandler((event) => this.#handle(event), { resyncMs })
  }

  get name(): string {
    return this.#plan.name
  }

  get hasSynced(): boolean {
    return this.#informer.hasSynced && this.#subscription.hasSynced
  }

  get problem(): string | undefined {
    const stuck = Object.values(this.#informer.states).find(({ phase }) => phase === 'parked' || phase === 'waiting')
    if (!stuck) return undefined
    if (stuck.phase === 'parked') return `${this.name}: the server does not have this kind (yet)`
    return `${this.name}: ${(this.#informer.hasSynced ? undefined : this.#refusal?.message) ?? stuck.error?.message ?? 'cannot follow the server'}`
  }

  /** A refusal is reported at once; then the wait continues, because a permission may be granted. */
  async waitForSync({ signal }: AbortOptions = {}): Promise<void> {
    try {
      await this.#informer.waitForSync({ signal })
    } catch (error) {
      signal?.throwIfAborted()
      this.#stopping.signal.throwIfAborted()
      this.#refuse(error instanceof Error ? error : new Error(String(error)))
    }
    await abortable(this.#subscription.waitForSync({ signal }), this.#stopping)
    this.#refusal = undefined
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the source was stopped'))
    this.#failed.clear()
    await this.#subscription.remove()
    await this.#informer.release()
  }

  #refuse(error: Error): void {
    if (this.#refusal?.message !== error.message)
      this.#context.log.error('cannot sync source; its controller waits for it', { source: this.name, error })
    this.#refusal = error
  }

  #handle(heard: CacheEvent): void | Promise<void> {
    const event = this.#failed.take(heard)
    // Most handlers neither wait nor read the signal: they pay for no timer.
    const hearing = new HandlerRun(this.#context, this.#limits)
    try {
      this.#plan.observe?.(event)
      if (!this.#plan.predicate(event)) return
      const keys = this.#plan.handler(event, hearing)
      if (keys instanceof Promise) return this.#wait(event, keys, hearing)
      this.#enqueue(event, keys)
    } catch (error) {
      this.#fail(event, error)
    }
    hearing.done()
  }

  async #wait(event: CacheEvent, keys: Promise<Iterable<CacheKey>>, hearing: HandlerRun): Promise<void> {
    try {
      this.#enqueue(event, await abortable(keys, { signal: hearing.signal }))
    } catch (error) {
      this.#fail(event, error)
    } finally {
      hearing.done()
    }
  }

  #enqueue(event: CacheEvent, keys: Iterable<CacheKey>): void {
    if (this.#stopping.signal.aborted) return
    this.#failed.succeeded(event)
    const enqueued = new Set<string>()
    const priority = event.isInitial || event.isResync ? lowPriority : 0
    let cause: Cause | undefined
    for (const { name, namespace = '' } of keys) {
      if (enqueued.has(`${namespace}/${name}`)) continue
      enqueued.add(`${namespace}/${name}`)
      const key = { name, ...(namespace !== '' && { namespace }) }
      cause = causeOf(event, this.#plan.name, { withChanges: this.#context.wantsChanges(key), known: cause })
      this.#context.enqueue(key, cause, { priority })
    }
  }

  #fail(event: CacheEvent, error: unknown): void {
    if (this.#stopping.signal.aborted) return
    this.#context.onMapError(error)
    const afterMs = this.#failed.put(event)
    const fields = { source: this.name, object: event.keyText, error }
    if (afterMs === undefined) this.#context.log.error('event handler failed too often; event dropped', fields)
    else
      this.#context.log.error('event handler failed; retrying the event', { ...fields, afterMs: Math.round(afterMs) })
  }
}

interface HandlerLimits {
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** The context of a handler. Its deadline is created when the signal is read. */
class HandlerRun implements HandlerContext {
  readonly cache: ObjectCache
  readonly log: Logger
  readonly onStaleOwner: () => void
  readonly #clock: Clock
  readonly #limits: HandlerLimits
  #made: Deadline | undefined

  constructor(
    { cache, log, onStaleOwner, clock }: Pick<SourceContext, 'cache' | 'log' | 'onStaleOwner' | 'clock'>,
    limits: HandlerLimits,
  ) {
    this.cache = cache
    this.log = log
    this.onStaleOwner = onStaleOwner
    this.#clock = clock
    this.#limits = limits
  }

  get signal(): AbortSignal {
    const { timeoutMs, signal } = this.#limits
    this.#made ??= deadline(this.#clock, timeoutMs, { signal })
    return this.#made.signal
  }

  done(): void {
    this.#made?.done()
  }
}

function causeOf(
  event: CacheEvent,
  source: string,
  { withChanges, known }: { withChanges: boolean; known: Cause | undefined },
): Cause {
  if (known && (!withChanges || known.changed)) return known
  const type: CauseType = event.isResync ? 'resync' : event.type
  return {
    type,
    source,
    object: event.keyText,
    resourceVersion: event.resourceVersion,
    ...(event.isInitial && { isInitial: true }),
    ...(withChanges && event.old && { changed: changedPaths(event.old, event.object) }),
  }
}

interface FailedEventsOptions {
  readonly clock: Clock
  readonly random: Random
  readonly retry: (event: CacheEvent) => void
}

const triesMax = 10

class FailedEvents {
  readonly #clock: Clock
  readonly #retry: (event: CacheEvent) => void
  readonly #backoff: Backoff
  #failing = false
  readonly #waiting = new Map<string, { readonly event: CacheEvent; readonly cancel: Cancel }>()

  constructor({ clock, random, retry }: FailedEventsOptions) {
    this.#clock = clock
    this.#retry = retry
    this.#backoff = new Backoff({ random, baseMs: 1000, maxMs: 60_000 })
  }

  /** The event, merged with one that failed before for the same object. */
  take(event: CacheEvent): CacheEvent {
    if (this.#waiting.size === 0) return event
    const key = event.keyText
    const failed = this.#waiting.get(key)
    if (!failed) return event
    failed.cancel()
    this.#waiting.delete(key)
    return failed.event === event ? event : (failed.event.merge(event) ?? event)
  }

  /** Retries it later; undefined when it is dropped, otherwise the wait in milliseconds. */
  put(event: CacheEvent): number | undefined {
    const key = event.keyText
    this.#failing = true
    const afterMs = this.#backoff.next(key)
    if (this.#backoff.retries(key) >= triesMax) {
      this.#backoff.forget(key)
      return undefined
    }
    this.#waiting.set(key, {
      event,
      cancel: this.#clock.after(afterMs, () => {
        this.#retry(event)
      }),
    })
    return afterMs
  }

  succeeded(event: CacheEvent): void {
    // Most sources never fail, and pay for no key.
    if (this.#failing) this.#backoff.forget(event.keyText)
  }

  clear(): void {
    for (const { cancel } of this.#waiting.values()) cancel()
    this.#waiting.clear()
  }
}
