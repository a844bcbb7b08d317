/**
 * Objects without asking the server: what informers follow, read in memory, our own writes included.
 *
 * Nothing is followed that nobody asked for: reading a kind that is not held is a mistake and says how to hold it.
 * Invariants: what is handed out is frozen and shared, never a copy; a read never goes behind our own writes; a kind,
 * namespace and selection is watched once, however many hold it, and in whatever forms they do from the beginning.
 */
import { silentLogger, SystemClock, SystemRandom } from '#base'
import type { AbortOptions, Clock, Logger, Metrics, Random } from '#base'
import { ApiError, defaultCluster, notFound, parseApiVersion } from '#api'
import type { KubeObject, LabelSelector, TypeMeta } from '#api'
import type { Client, WriteNotice } from '#client'
import { clientListWatch } from './connecting/client-list-watch.ts'
import { Informer } from './informer.ts'
import type { WriteFacts } from './informer.ts'
import { Budget } from './sharing/budget.ts'
import { CacheMeter } from './sharing/cache-metrics.ts'
import { Holding } from './sharing/holding.ts'
import { Members } from './sharing/members.ts'
import type { Member, SharedSource } from './sharing/members.ts'
import type { Union } from './sharing/union.ts'
import { formOf } from './storing/form.ts'
import { servedKind } from './storing/pick.ts'
import type { CachedOf, CacheKind } from './storing/pick.ts'
import type { CacheQuery, CacheScope } from './storing/query.ts'

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
  /** @default counted and shown to nobody */
  readonly metrics?: Metrics
  /**
   * How much memory the objects should take at most. Above it nothing is thrown away, as that would be a lie to readers:
   * the log says which kinds take it, and what can be done.
   *
   * @default 536_870_912 (512 MiB)
   */
  readonly bytesMax?: number
}

export interface HoldOptions<T> {
  /** @default all namespaces */
  readonly namespaces?: readonly string[]
  readonly labelSelector?: string | LabelSelector
  readonly fieldSelector?: string | Readonly<Record<string, string>>
  /** Makes an object smaller before it is kept; prefer `pick`, which the type knows of. */
  readonly transform?: (object: T) => T
  /** @default false */
  readonly keepManagedFields?: boolean
  /** Take lists as streams where the server can. @default true */
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
  readonly #members: Members
  readonly #budget: Budget

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
    this.#budget = new Budget({ bytesMax, log, sources: () => this.#members.sources })
    const meter = metrics && new CacheMeter(metrics)
    this.#members = new Members({
      clock,
      log,
      onChange: () => {
        meter?.follow(this.#members.sources)
      },
    })
  }

  /** Runs the informers, also those that come later, until the signal aborts; then it resolves. */
  run(signal: AbortSignal): Promise<void> {
    return this.#members.run(signal)
  }

  /** Holds the objects of a kind in memory until it is released. Who asks for the same shares the informer. */
  hold<K extends CacheKind>(kind: K, options: HoldOptions<CachedOf<K>> = {}): Holding<CachedObject<K>> {
    const { namespaces, transform, labelSelector, fieldSelector } = options
    const hold = (namespace: string | undefined): Member => {
      const scope = { namespace, labelSelector, fieldSelector }
      const { keepManagedFields = false, streaming = true } = options
      const manner = `${keepManagedFields ? 'managed' : ''} ${streaming ? '' : 'paged'}`
      return this.#members.hold({
        kind,
        scope,
        transform,
        manner,
        make: (union) => this.#makeInformer(union, scope, options as HoldOptions<unknown>),
      })
    }
    return new Holding<CachedObject<K>>({ members: this.#members, hold, namespaces })
  }

  /** Resolves when everything that is held has been listed once. @throws {ApiError} `Forbidden`, at once, when we may not. */
  async waitForSync(options: AbortOptions = {}): Promise<void> {
    await Promise.all(this.#members.sources.map(({ informer }) => informer.waitForSync(options)))
  }

  get hasSynced(): boolean {
    return this.#members.sources.every(({ informer }) => informer.hasSynced)
  }

  /** One object. @throws {ApiError} `NotFound`. */
  get<K extends CacheKind>(kind: K, key: CacheKey): CachedOf<K> {
    const object = this.find(kind, key)
    if (object === undefined)
      throw notFound({ group: parseApiVersion(kind.apiVersion).group, kind: kind.kind, name: key.name })
    return object
  }

  /** One object, or undefined when it is not there. */
  find<K extends CacheKind>(kind: K, { name, namespace }: CacheKey): CachedOf<K> | undefined {
    for (const { view } of this.#readable(kind, namespace)) {
      const object = view.find({ name, ...(namespace !== undefined && { namespace }) })
      if (object !== undefined) return object as unknown as CachedOf<K>
    }
    return undefined
  }

  /** Objects of a kind, in no particular order. */
  list<K extends CacheKind>(kind: K, query: CacheQuery = {}): CachedOf<K>[] {
    const members = this.#readable(kind, query.namespace)
    return members.flatMap(({ view }) => view.list(query)) as unknown as CachedOf<K>[]
  }

  /** Shows an object as the server stored it for us, wherever it is held, until the watch tells of it. */
  noteWrite(object: KubeObject, facts: WriteFacts = {}): void {
    for (const { informer } of this.#holdersOf(object)) informer.noteWrite(object, facts)
  }

  /** Shows an object as gone until the watch tells of it. */
  noteDelete(object: TypeMeta & { readonly metadata: KubeObject['metadata'] }): void {
    const { name, namespace, uid, resourceVersion } = object.metadata
    if (!name) return
    const deleted = {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    }
    for (const { informer } of this.#holdersOf(object)) informer.noteDelete(deleted)
  }

  /** For a client's `hooks.afterWrite`: every write of that client is seen by reads from here on. */
  afterWrite(write: WriteNotice, object: KubeObject | undefined): void {
    if (write.dryRun || (write.subresource !== undefined && object?.kind !== write.kind)) return
    const { apiVersion, kind, namespace, name } = write
    if (object) this.noteWrite(object)
    else if (write.verb === 'delete' && name !== undefined)
      this.noteDelete({ apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }) } })
  }

  /** Resolves when what is held of a kind has come to a version; at once when nothing is. */
  async caughtUp(
    kind: CacheKind | TypeMeta,
    version: string,
    { namespace, signal }: AbortOptions & { namespace?: string } = {},
  ): Promise<void> {
    const waiting = this.#members.sources.filter(
      (source) => isOfKind(source, kind) && holdsNamespace(source, namespace),
    )
    await Promise.all(waiting.map(({ informer }) => informer.caughtUp(version, { signal })))
  }

  /** Tries again now, instead of waiting, wherever the kind was missing or refused. */
  wake(kind: TypeMeta): void {
    for (const { informer } of this.#holdersOf(kind)) informer.wake()
  }

  /** What each informer is doing. */
  get states(): readonly CacheState[] {
    return this.#members.sources.map(({ union, scope, members, informer }) => ({
      apiVersion: union.kind.apiVersion,
      kind: union.kind.kind,
      form: union.form,
      scope,
      holders: [...members].reduce((sum, { holders }) => sum + holders, 0),
      hasSynced: informer.hasSynced,
      objects: informer.size,
      bytes: informer.bytes,
      ahead: informer.aheadCount,
      ...informer.state,
    }))
  }

  /** What it asks the server for, and what it keeps of the answer, is settled when it begins. */
  #makeInformer(
    union: Union,
    scope: CacheScope,
    { transform, keepManagedFields = false, streaming = true }: HoldOptions<unknown>,
  ): Informer<KubeObject> {
    const { apiVersion, kind } = union.kind
    const onBroken = (error: Error): void => {
      informer.relist(error)
    }
    const form = lazy(() => formOf<KubeObject>(union.kind, { keepManagedFields, onBroken }))
    const source = lazy(() =>
      clientListWatch<KubeObject>({ client: this.#client, kind: servedKind(union.kind), scope, form: form() }),
    )
    const informer: Informer<KubeObject> = new Informer<KubeObject>({
      source: {
        list: (request) => source().list(request),
        watch: (request) => source().watch(request),
        find: async (key, options) => source().find?.(key, options),
      },
      form: { finish: (object) => form().finish(object), onBroken },
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

  /** The informers that together answer a question, all of them in sync. */
  #readable(kind: CacheKind, namespace: string | undefined): readonly Member[] {
    const members = this.#members.ofKind(kind)
    const able = members.filter((member) => holdsNamespace(member, namespace))
    if (able.length === 0) throw new RangeError(howToHold(kind, { namespace, isHeldElsewhere: members.length > 0 }))
    const whole = able.find(
      (member) =>
        isUnselected(member) && (member.scope.namespace === undefined || member.scope.namespace === namespace),
    )
    const unselected = able.filter(isUnselected)
    const used = whole ? [whole] : unselected.length > 0 ? unselected : able
    const late = used.find(({ view }) => !view.hasSynced)
    if (late)
      throw new ApiError(
        'ServiceUnavailable',
        `the cache has not listed ${kind.kind} yet (${late.view.state.phase}): wait with waitForSync`,
        { retryAfterMs: 1000 },
      )
    return used
  }

  #holdersOf({ apiVersion, kind }: TypeMeta): readonly SharedSource[] {
    return this.#members.sources.filter((source) => isOfKind(source, { apiVersion, kind }))
  }
}

type CachedObject<K extends CacheKind> = CachedOf<K> & KubeObject

/** What one informer is doing, and for whom. */
export type CacheState = TypeMeta &
  Informer<KubeObject>['state'] & {
    /** `whole`, `metadata`, or which fields: enough for everybody who holds it. */
    readonly form: string
    readonly scope: CacheScope
    readonly holders: number
    readonly hasSynced: boolean
    readonly objects: number
    /** About how much memory they take. */
    readonly bytes: number
    /** Writes of ours that the watch has not told yet. */
    readonly ahead: number
  }

function isOfKind({ union: { kind: held } }: SharedSource, { apiVersion, kind }: TypeMeta): boolean {
  return held.apiVersion === apiVersion && held.kind === kind
}

/** Made when it is first asked for, and then always the same. */
function lazy<R extends object>(make: () => R): () => R {
  let made: R | undefined
  return () => (made ??= make())
}

function holdsNamespace({ scope }: Pick<Member, 'scope'>, namespace: string | undefined): boolean {
  return namespace === undefined || scope.namespace === undefined || scope.namespace === namespace
}

function isUnselected({ scope }: Member): boolean {
  return scope.labelSelector === undefined && scope.fieldSelector === undefined
}

function howToHold(
  { kind, apiVersion }: CacheKind,
  { namespace, isHeldElsewhere }: { namespace: string | undefined; isHeldElsewhere: boolean },
): string {
  const where = namespace === undefined ? '' : ` of namespace ${JSON.stringify(namespace)}`
  const how =
    isHeldElsewhere && namespace !== undefined
      ? `add ${JSON.stringify(namespace)} to the namespaces of its hold`
      : `call cache.hold(${kind}) first`
  return `the cache holds no ${kind} (${apiVersion})${where}: ${how}, or read from the server with the client`
}
