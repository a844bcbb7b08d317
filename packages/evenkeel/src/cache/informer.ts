/**
 * An informer: applies what the reflector delivers to the store, *then* calls the handlers.
 *
 *   server ──▶ reflector ──replace, apply──▶ store ──events──▶ listeners ──▶ handlers
 *                                              ▲
 *   our own writes ──noteWrite, noteDelete─────┘ readers see them at once; handlers get the event of the watch
 *
 * Invariants: when a handler gets an event, the store has the change already; a new list becomes visible in one step, and
 * then handlers get deletions first, then additions and updates in its order; every handler gets the same sequence of
 * events of an object; a handler that is slow or throws affects only itself.
 */
import { defaultCluster, isForbidden, isNotFound, isUnauthorized, type KubeObject, stringifyJson } from '#api'
import {
  abortable,
  deferred,
  randomFraction,
  silentLogger,
  SystemClock,
  SystemRandom,
  type AbortOptions,
  type Cancel,
  type Clock,
  type Logger,
  type Random,
} from '#base'
import { isUnknownKind } from '#client'
import { CacheEvent, type EventContext, type EventFacts } from './event.ts'
import type { IndexValues } from './indexes.ts'
import { hasReachedVersion, Item, type ItemDecoder, type Items } from './items.ts'
import { withSignals, type ChangeEvent, type ListWatch } from './list-watch.ts'
import { Listener, ListenerSubscription, type Handler, type HandlerOptions, type Subscription } from './listeners.ts'
import { OwnWrites, PendingWriteCheck, VersionWaiters } from './own-writes.ts'
import { refusalOf } from './reflector-recovery.ts'
import { Reflector, type ReflectorOptions, type ReflectorState, type Sink } from './reflector.ts'
import { scopeFilter, selectItems, Store, type CacheQuery, type CacheScope } from './store.ts'
import { kindDecoder, shapeWith, TransformError } from './transform.ts'

export interface InformerOptions<T extends KubeObject> extends Pick<
  ReflectorOptions<T>,
  'streaming' | 'pageSize' | 'silenceMs'
> {
  readonly source: ListWatch<T>
  readonly group: string
  readonly kind: string
  /** @default 'default' */
  readonly cluster?: string
  /** What the list-watch is limited to. @default everything */
  readonly scope?: CacheScope
  /** How our own writes are kept. @default whole, without managed fields */
  readonly decoder?: ItemDecoder<T>
  /** Makes an object smaller before it is kept. Called once for each version of an object; an error fails the list. */
  readonly transform?: ((object: T) => T) | undefined
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** After how long the server is asked about our own write that the watch has not delivered. @default 30_000 */
  readonly checkWritesMs?: number
  /** Called when the cache may have grown: after a list, or after an object. */
  readonly onGrowth?: (facts: { readonly isList: boolean }) => void
}

/** What our write replaced. */
export interface WriteFacts {
  /** The replaced version, empty for a create; leave it out when it is not known: then no change counts as ours alone. */
  readonly from?: string
}

/** A deleted object; the more fields are known, the less is guessed. */
interface DeletedObject {
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
  /** The last version that is known of it. */
  readonly resourceVersion?: string
}

export class Informer<T extends KubeObject> {
  readonly #store: Store<T>
  readonly #reflector: Reflector<T>
  readonly #versionWaiters = new VersionWaiters()
  readonly #ownWrites = new OwnWrites()
  readonly #context: EventContext
  readonly #selects: (object: KubeObject) => boolean
  readonly #shape: (item: Item<T>) => Item<T>
  readonly #scope: CacheScope
  readonly #decoder: ItemDecoder<T>
  readonly #isSelective: boolean
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #pendingWriteCheck: PendingWriteCheck<T>
  readonly #onGrowth: (facts: { readonly isList: boolean }) => void
  #listeners: readonly Listener<T>[] = []
  #synced = deferred<void>()
  readonly #answered = deferred<void>()
  #hasSynced = false
  #lastContactMs: number | undefined
  #syncError: Error | undefined

  constructor(options: InformerOptions<T>) {
    const {
      source: listWatch,
      group,
      kind,
      cluster = defaultCluster,
      scope = {},
      decoder = kindDecoder<T>({ apiVersion: '', kind }),
      transform,
      clock = new SystemClock(),
      random = new SystemRandom(),
      log = silentLogger,
      checkWritesMs = 30_000,
      onGrowth = () => undefined,
    } = options
    this.#context = { cluster, group, kind, ownWrites: this.#ownWrites }
    this.#clock = clock
    this.#random = random
    this.#log = log.child({ kind })
    this.#scope = scope
    this.#decoder = decoder
    this.#isSelective = scope.labelSelector !== undefined || scope.fieldSelector !== undefined
    this.#selects = scopeFilter(scope)
    this.#onGrowth = onGrowth
    this.#shape = shapeWith(transform, kind)
    this.#store = new Store<T>({
      onIndexError: (index, { name }, error) => {
        this.#log.error('index function failed', { index, object: name, error })
      },
    })
    const source = withSignals(listWatch)
    this.#pendingWriteCheck = new PendingWriteCheck<T>({
      store: this.#store,
      find: source.find,
      shape: this.#shape,
      clock,
      checkMs: checkWritesMs,
    })
    this.#reflector = new Reflector<T>({
      ...options,
      source,
      shape: this.#shape,
      clock,
      random,
      log: this.#log,
      sink: this.#makeSink(),
    })
    this.#synced.promise.catch(() => undefined)
    this.#answered.promise.catch(() => undefined)
  }

  #makeSink(): Sink<T> {
    return {
      replace: (items, version) => {
        this.#replace(items, version)
      },
      apply: (change) => {
        this.#apply(change)
      },
      advance: (version) => {
        this.#advance(version)
      },
      fail: (error) => {
        this.#fail(error)
      },
    }
  }

  get state(): ReflectorState {
    return this.#reflector.state
  }

  /** Whether there was a whole list. After that the cache may be stale, but it is never empty for lack of a list. */
  get hasSynced(): boolean {
    return this.#hasSynced
  }

  get size(): number {
    return this.#store.size
  }

  /** The approximate memory of its objects. */
  get bytes(): number {
    return this.#store.bytes
  }

  /** The time since the last message of the server, including bookmarks; undefined before the first. */
  get silentMs(): number | undefined {
    return this.#lastContactMs === undefined ? undefined : this.#clock.monotonic() - this.#lastContactMs
  }

  /** The version that the watch has reached. */
  get version(): string {
    return this.#store.version
  }

  /** Our writes that the watch has not delivered yet. */
  get pendingWriteCount(): number {
    return this.#store.pendingWrites.size
  }

  /** Follows the server until the signal aborts; then it resolves. */
  async run(signal: AbortSignal): Promise<void> {
    this.#log.debug('informer started', { ...this.#scope })
    await this.#reflector.run(signal)
    this.#pendingWriteCheck.stop()
    const stopped = new Error('the informer was stopped before the first list was complete', { cause: signal.reason })
    this.#synced.reject(stopped)
    this.#answered.reject(stopped)
  }

  /**
   * Resolves after the first whole list.
   *
   * @throws {ApiError} `Forbidden` or `Unauthorized`, at once, when we may not list or watch.
   */
  waitForSync({ signal }: AbortOptions = {}): Promise<void> {
    if (this.#syncError) return Promise.reject(this.#syncError)
    return abortable(this.#synced.promise, { signal })
  }

  /**
   * Resolves when the state is known: after the first whole list, or when the server refused it or does not have the
   * kind. Then `state` says which; the informer keeps trying.
   */
  waitForAnswer({ signal }: AbortOptions = {}): Promise<void> {
    return abortable(this.#answered.promise, { signal })
  }

  /** Retries now instead of waiting: the kind was installed, or a permission was granted. */
  wake(): void {
    this.#reflector.wake()
  }

  /** Requests everything again: what the server sent cannot be decoded. */
  relist(why: Error): void {
    this.#reflector.relist(why)
  }

  /** The object, frozen and shared; undefined when it is not in the cache. */
  find({ namespace = '', name }: { readonly namespace?: string; readonly name: string }): T | undefined {
    return this.#store.get(namespace, name)?.object
  }

  /** Objects, frozen and shared, in no particular order. */
  list(query: CacheQuery = {}): T[] {
    return selectItems(this.#store, query).map((item) => item.object)
  }

  /** Adds an index; objects that are in the cache are indexed at once. */
  addIndex(name: string, values: IndexValues<T>): void {
    this.#store.addIndex(name, values)
  }

  removeIndex(name: string): void {
    this.#store.removeIndex(name)
  }

  /** Adds a handler: it gets all present objects, then every change. */
  addHandler(handler: Handler<T>, { resyncMs = 0, skipOwn = false }: HandlerOptions = {}): Subscription {
    if (!(resyncMs === 0 || resyncMs >= 1000))
      throw new RangeError(`resyncMs must be 0 or at least 1000, got ${resyncMs}`)
    const listener = new Listener<T>({
      handler,
      skipOwn,
      clock: this.#clock,
      onError: (error, { keyText }) => {
        this.#log.error('event handler failed', { object: keyText, error })
      },
    })
    for (const item of this.#store.observedValues())
      listener.offer(this.#event({ type: 'add', item, isInitial: true }), { later: true })
    this.#listeners = [...this.#listeners, listener]
    if (this.#hasSynced) listener.markSourceSynced()
    const cancel = resyncMs > 0 ? this.#resyncEvery(resyncMs, listener) : () => undefined
    return new ListenerSubscription(listener, () => {
      cancel()
      this.#listeners = this.#listeners.filter((other) => other !== listener)
    })
  }

  /** Shows an object as the server stored it for us, until the watch delivers it. Objects out of scope are ignored. */
  noteWrite(object: KubeObject, { from }: WriteFacts = {}): void {
    const { namespace = '', name, resourceVersion = '', uid = '', deletionTimestamp, finalizers = [] } = object.metadata
    if (!name || resourceVersion === '') return
    if (this.#scope.namespace !== undefined && this.#scope.namespace !== namespace) return
    if (from !== undefined) this.#ownWrites.note({ namespace, name, from, to: resourceVersion })
    const isGone = deletionTimestamp !== undefined && finalizers.length === 0
    // An object that left our scope is deleted for our readers; one in its grace period still exists.
    if (isGone && object.metadata.deletionGracePeriodSeconds === 0)
      return this.noteDelete({ namespace, name, uid, resourceVersion })
    if (!this.#selects(object)) return this.noteDelete({ namespace, name })
    // As text, because the object is the caller's: it must be neither frozen nor changed.
    const item = this.#shape(
      Item.ofText<T>({ namespace, name, version: resourceVersion, text: stringifyJson(object) }, this.#decoder),
    )
    if (this.#store.note({ namespace, name, item, version: resourceVersion, uid })) this.#pendingWriteCheck.expect()
  }

  /** Shows an object as deleted, until the watch delivers it. */
  noteDelete({ namespace = '', name, uid, resourceVersion = '' }: DeletedObject): void {
    if (this.#scope.namespace !== undefined && this.#scope.namespace !== namespace) return
    const shown = this.#store.get(namespace, name)
    if (shown && uid && shown.uid !== uid) return
    // Only the server knows whether the object was in our scope.
    if (!shown && this.#isSelective) return
    const version =
      resourceVersion !== '' && !hasReachedVersion(shown?.version ?? '', resourceVersion)
        ? resourceVersion
        : (shown?.version ?? this.#store.version)
    if (this.#store.note({ namespace, name, item: undefined, version, uid: uid ?? shown?.uid ?? '' }))
      this.#pendingWriteCheck.expect()
  }

  /** Resolves when the watch has reached a version. */
  waitForVersion(version: string, options: AbortOptions = {}): Promise<void> {
    return this.#versionWaiters.wait(version, options)
  }

  #replace(items: Items<T>, version: string): void {
    this.#lastContactMs = this.#clock.monotonic()
    const isFirst = !this.#hasSynced
    const { gone, changed } = this.#store.replace(items, version, { compare: this.#listeners.length > 0 })
    for (const item of gone) this.#notify({ type: 'delete', item, isListed: true }, { later: true })
    for (const { item, old } of changed)
      this.#notify(
        { type: old ? 'update' : 'add', item, old, isInitial: isFirst && !old, isListed: !isFirst },
        { later: true },
      )
    this.#hasSynced = true
    this.#syncError = undefined
    this.#synced.resolve()
    this.#answered.resolve()
    for (const listener of this.#listeners) listener.markSourceSynced()
    this.#versionWaiters.reach(version, { isList: true })
    this.#onGrowth({ isList: true })
  }

  #apply(change: ChangeEvent<T>): void {
    this.#lastContactMs = this.#clock.monotonic()
    const { type, item } = change
    const old = this.#store.apply(change)
    if (!old) this.#onGrowth({ isList: false })
    if (type !== 'DELETED') this.#notifyChange(item, old)
    else if (old) this.#notify({ type: 'delete', item, old })
    this.#versionWaiters.reach(this.#store.version)
  }

  #notifyChange(item: Item<T>, old: Item<T> | undefined): void {
    // A restarted watch may repeat its last event.
    if (old && old.version === item.version && item.version !== '') return
    this.#notify({ type: old ? 'update' : 'add', item, old })
  }

  #advance(version: string): void {
    this.#lastContactMs = this.#clock.monotonic()
    this.#store.advance(version)
    this.#versionWaiters.reach(this.#store.version)
  }

  #notify(facts: EventFacts<T>, options: { later?: boolean } = {}): void {
    if (this.#listeners.length === 0) return
    const event = this.#event(facts)
    for (const listener of this.#listeners) listener.offer(event, options)
  }

  #event(facts: EventFacts<T>): CacheEvent<T> {
    return new CacheEvent<T>(this.#context, facts)
  }

  #resyncEvery(resyncMs: number, listener: Listener<T>): Cancel {
    let cancel: Cancel = () => undefined
    const arm = (): void => {
      cancel = this.#clock.after(resyncMs * (0.9 + randomFraction(this.#random) * 0.2), () => {
        for (const item of this.#store.observedValues())
          listener.offer(this.#event({ type: 'update', item, old: item, isResync: true }), { later: true })
        arm()
      })
    }
    arm()
    return () => {
      cancel()
    }
  }

  /** Waiting does not help against a refusal: waits for the first list fail at once. The reflector retries all the same. */
  #fail(error: Error): void {
    if (this.#hasSynced) return
    const isRefusal = isForbidden(error) || isUnauthorized(error)
    if (isRefusal || isNotFound(error) || isUnknownKind(error)) this.#answered.resolve()
    if (!isRefusal && !(error instanceof TransformError)) return
    const failed = this.#synced
    this.#synced = deferred<void>()
    this.#synced.promise.catch(() => undefined)
    this.#syncError = isRefusal ? refusalOf(error, { ...this.#context, namespace: this.#scope.namespace }) : error
    failed.reject(this.#syncError)
  }
}
