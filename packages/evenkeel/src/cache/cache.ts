/**
 * The object cache: reads from memory what informers watch, including our own writes.
 *
 * Only kinds with an informer are watched: reading another kind is an error that says how to get an informer.
 * Invariants: what is returned is frozen and shared, never a copy; a read is never older than our own writes; a kind,
 * namespace and selection is watched once, however many users and projections it has from the beginning.
 */
import {
  ApiError,
  defaultCluster,
  notFound,
  parseApiVersion,
  type KubeObject,
  type LabelSelector,
  type TypeMeta,
} from '#api'
import {
  acceptLightSignals,
  silentLogger,
  SystemClock,
  SystemRandom,
  type AbortOptions,
  type Clock,
  type Logger,
  type Metrics,
  type Random,
} from '#base'
import type { Client, WriteNotice } from '#client'
import { Informer, type WriteFacts } from './informer.ts'
import { clientListWatch, type ListWatch } from './list-watch.ts'
import { CacheMetrics, MemoryBudget } from './metrics.ts'
import { servedKind, type CachedOf, type CacheKind, type ProjectionUnion } from './projection.ts'
import { InformerHandle, SharedInformers, type SharedInformer, type SharedProjection } from './shared-informers.ts'
import type { CacheQuery, CacheScope } from './store.ts'
import { kindDecoder } from './transform.ts'

export interface ObjectCacheOptions {
  readonly client: Client
  /** Part of every key. @default 'default' */
  readonly cluster?: string
  /** @default the system's */
  readonly clock?: Clock
  /** @default the system's */
  readonly random?: Random
  /** @default silent */
  readonly log?: Logger
  /** @default counted but not exposed */
  readonly metrics?: Metrics
  /**
   * How much memory the objects should take at most. Above it no object is dropped, because readers must not miss any:
   * the log names the kinds that take the memory and what can be done.
   *
   * @default 536_870_912 (512 MiB)
   */
  readonly bytesMax?: number
}

export interface GetInformerOptions<T> {
  /** @default all namespaces */
  readonly namespaces?: readonly string[]
  readonly labelSelector?: string | LabelSelector
  readonly fieldSelector?: string | Readonly<Record<string, string>>
  /** Makes an object smaller before it is kept; prefer `pick`, which changes the type as well. */
  readonly transform?: (object: T) => T
  /** @default false */
  readonly keepManagedFields?: boolean
  /** Request lists as streams where the server can. @default true */
  readonly streaming?: boolean
}

export interface CacheKey {
  readonly name: string
  readonly namespace?: string
}

export class ObjectCache {
  readonly #client: Client
  readonly #cluster: string
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger
  readonly #informers: SharedInformers
  readonly #budget: MemoryBudget

  constructor({
    client,
    cluster = defaultCluster,
    clock = new SystemClock(),
    random = new SystemRandom(),
    log = silentLogger,
    metrics,
    bytesMax = 512 * 1024 * 1024,
  }: ObjectCacheOptions) {
    this.#client = client
    this.#cluster = cluster
    this.#clock = clock
    this.#random = random
    this.#log = log
    this.#budget = new MemoryBudget({ bytesMax, log, informers: () => this.#informers.shared })
    const meter = metrics && new CacheMetrics(metrics)
    this.#informers = new SharedInformers({
      clock,
      log,
      onChange: () => {
        meter?.follow(this.#informers.shared)
      },
    })
  }

  /** Runs the informers, also later ones, until the signal aborts; then it resolves. */
  run(signal: AbortSignal): Promise<void> {
    return this.#informers.run(signal)
  }

  /** Keeps the objects of a kind in memory until the handle is released. Equal requests share an informer. */
  getInformer<K extends CacheKind>(
    kind: K,
    options: GetInformerOptions<CachedOf<K>> = {},
  ): InformerHandle<CachedObject<K>> {
    const { namespaces, transform, labelSelector, fieldSelector } = options
    const acquire = (namespace: string | undefined): SharedProjection => {
      const scope = { namespace, labelSelector, fieldSelector }
      const { keepManagedFields = false, streaming = true } = options
      const manner = `${keepManagedFields ? 'managed' : ''} ${streaming ? '' : 'paged'}`
      return this.#informers.acquire({
        kind,
        scope,
        transform,
        variant: manner,
        makeInformer: (union) => this.#makeInformer(union, scope, options as GetInformerOptions<unknown>),
      })
    }
    return new InformerHandle<CachedObject<K>>({ informers: this.#informers, acquire, namespaces })
  }

  /** Resolves when every informer has listed once. @throws {ApiError} `Forbidden`, at once, when it is not permitted. */
  async waitForSync(options: AbortOptions = {}): Promise<void> {
    await Promise.all(this.#informers.shared.map(({ informer }) => informer.waitForSync(options)))
  }

  get hasSynced(): boolean {
    return this.#informers.shared.every(({ informer }) => informer.hasSynced)
  }

  /** One object. @throws {ApiError} `NotFound`. */
  get<K extends CacheKind>(kind: K, key: CacheKey): CachedOf<K> {
    const object = this.find(kind, key)
    if (object === undefined)
      throw notFound({ group: parseApiVersion(kind.apiVersion).group, kind: kind.kind, name: key.name })
    return object
  }

  /** One object, or undefined when it does not exist. */
  find<K extends CacheKind>(kind: K, { name, namespace }: CacheKey): CachedOf<K> | undefined {
    for (const { informer } of this.#readable(kind, namespace)) {
      const object = informer.find({ name, ...(namespace !== undefined && { namespace }) })
      if (object !== undefined) return object as CachedOf<K>
    }
    return undefined
  }

  /** Whether the informers of a kind would have the object if it existed: false if all of them select other names. */
  selects(kind: CacheKind, { name, namespace }: CacheKey): boolean {
    const able = this.#informers.ofKind(kind).filter((projection) => coversNamespace(projection, namespace))
    return able.length === 0 || able.some((projection) => (selectedName(projection) ?? name) === name)
  }

  /** Objects of a kind, in no particular order. */
  list<K extends CacheKind>(kind: K, query: CacheQuery = {}): CachedOf<K>[] {
    const projections = this.#readable(kind, query.namespace)
    return projections.flatMap(({ informer }) => informer.list(query)) as CachedOf<K>[]
  }

  /** Shows an object as the server stored it for us, in every informer that has it, until the watch delivers it. */
  noteWrite(object: KubeObject, facts: WriteFacts = {}): void {
    for (const { informer } of this.#informersOf(object)) informer.noteWrite(object, facts)
  }

  /** Shows an object as deleted until the watch delivers it. */
  noteDelete(object: TypeMeta & { readonly metadata: KubeObject['metadata'] }): void {
    const { name, namespace, uid, resourceVersion } = object.metadata
    if (!name) return
    const deleted = {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    }
    for (const { informer } of this.#informersOf(object)) informer.noteDelete(deleted)
  }

  /** For a client's `hooks.afterWrite`: reads from here on include every write of that client. */
  afterWrite(write: WriteNotice, object: KubeObject | undefined): void {
    if (write.dryRun || (write.subresource !== undefined && object?.kind !== write.kind)) return
    const { apiVersion, kind, namespace, name } = write
    if (object) this.noteWrite(object)
    else if (write.verb === 'delete' && name !== undefined)
      this.noteDelete({ apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } })
  }

  /** Resolves when the informers of a kind have reached a version; at once when there are none. */
  async waitForVersion(
    kind: CacheKind | TypeMeta,
    version: string,
    { namespace, signal }: AbortOptions & { namespace?: string } = {},
  ): Promise<void> {
    const waiting = this.#informers.shared.filter(
      (source) => isOfKind(source, kind) && coversNamespace(source, namespace),
    )
    await Promise.all(waiting.map(({ informer }) => informer.waitForVersion(version, { signal })))
  }

  /** Retries now instead of waiting, wherever the kind was missing or refused. */
  wake(kind: TypeMeta): void {
    for (const { informer } of this.#informersOf(kind)) informer.wake()
  }

  /** The state of each informer. */
  get states(): readonly CacheState[] {
    return this.#informers.shared.map(({ union, scope, projections, informer }) => ({
      apiVersion: union.kind.apiVersion,
      kind: union.kind.kind,
      form: union.id,
      scope,
      holders: [...projections].reduce((sum, { handles: holders }) => sum + holders, 0),
      hasSynced: informer.hasSynced,
      objects: informer.size,
      bytes: informer.bytes,
      ahead: informer.pendingWriteCount,
      ...informer.state,
    }))
  }

  /** What it requests and what it keeps is fixed when it starts. */
  #makeInformer(
    union: ProjectionUnion,
    scope: CacheScope,
    { transform, keepManagedFields = false, streaming = true }: GetInformerOptions<unknown>,
  ): Informer<KubeObject> {
    const { apiVersion, kind } = union.kind
    const onBroken = (error: Error): void => {
      informer.relist(error)
    }
    const decoder = lazy(() => kindDecoder<KubeObject>(union.kind, { keepManagedFields, onBroken }))
    const source = lazy(() =>
      clientListWatch<KubeObject>({ client: this.#client, kind: servedKind(union.kind), scope, decoder: decoder() }),
    )
    const informer: Informer<KubeObject> = new Informer<KubeObject>({
      source: acceptLightSignals<ListWatch<KubeObject>>({
        list: (request) => source().list(request),
        watch: (request) => source().watch(request),
        find: async (key, options) => source().find?.(key, options),
      }),
      decoder: { decode: (object) => decoder().decode(object), onBroken },
      scope,
      streaming,
      group: parseApiVersion(apiVersion).group,
      kind,
      cluster: this.#cluster,
      clock: this.#clock,
      random: this.#random,
      log: this.#log,
      transform: transform as ((object: KubeObject) => KubeObject) | undefined,
      onGrowth: (facts) => {
        this.#budget.check(facts)
      },
    })
    return informer
  }

  /** The informers that together answer a query, all of them synced. */
  #readable(kind: CacheKind, namespace: string | undefined): readonly SharedProjection[] {
    const projections = this.#informers.ofKind(kind)
    const able = projections.filter((projection) => coversNamespace(projection, namespace))
    if (able.length === 0)
      throw new RangeError(describeMissingInformer(kind, { namespace, isElsewhere: projections.length > 0 }))
    const whole = able.find(
      (projection) =>
        isUnselected(projection) &&
        (projection.scope.namespace === undefined || projection.scope.namespace === namespace),
    )
    const unselected = able.filter(isUnselected)
    const used = whole ? [whole] : unselected.length > 0 ? unselected : able
    const late = used.find(({ informer }) => !informer.hasSynced)
    if (late)
      throw new ApiError(
        'ServiceUnavailable',
        `the cache has not listed ${kind.kind} yet (${late.informer.state.phase}): wait with waitForSync`,
        { retryAfterMs: 1000 },
      )
    return used
  }

  #informersOf({ apiVersion, kind }: TypeMeta): readonly SharedInformer[] {
    return this.#informers.shared.filter((source) => isOfKind(source, { apiVersion, kind }))
  }
}

type CachedObject<K extends CacheKind> = CachedOf<K> & KubeObject

/** The state of one informer. */
type CacheState = TypeMeta &
  Informer<KubeObject>['state'] & {
    /** `whole`, `metadata`, or the fields: what all its users need together. */
    readonly form: string
    readonly scope: CacheScope
    readonly holders: number
    readonly hasSynced: boolean
    readonly objects: number
    /** The approximate memory. */
    readonly bytes: number
    /** Our writes that the watch has not delivered yet. */
    readonly ahead: number
  }

function isOfKind({ union: { kind: held } }: SharedInformer, { apiVersion, kind }: TypeMeta): boolean {
  return held.apiVersion === apiVersion && held.kind === kind
}

/** Computed at the first call, then always the same. */
function lazy<R extends object>(make: () => R): () => R {
  let made: R | undefined
  return () => (made ??= make())
}

function coversNamespace({ scope }: Pick<SharedProjection, 'scope'>, namespace: string | undefined): boolean {
  return namespace === undefined || scope.namespace === undefined || scope.namespace === namespace
}

/** The only name that an informer selects. */
function selectedName({ scope: { fieldSelector } }: SharedProjection): string | undefined {
  if (fieldSelector === undefined) return undefined
  return typeof fieldSelector === 'string'
    ? /^metadata\.name==?([^=,!]+)$/.exec(fieldSelector)?.[1]
    : fieldSelector['metadata.name']
}

function isUnselected({ scope }: SharedProjection): boolean {
  return scope.labelSelector === undefined && scope.fieldSelector === undefined
}

function describeMissingInformer(
  { kind, apiVersion }: CacheKind,
  { namespace, isElsewhere }: { namespace: string | undefined; isElsewhere: boolean },
): string {
  const where = namespace === undefined ? '' : ` of namespace ${JSON.stringify(namespace)}`
  const how =
    isElsewhere && namespace !== undefined
      ? `add ${JSON.stringify(namespace)} to the namespaces of its informer handle`
      : `call cache.getInformer(${kind}) first`
  return `no informer for ${kind} (${apiVersion})${where}: ${how}, or read from the server with the client`
}
