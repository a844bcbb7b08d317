/**
 * The client of one reconcile: reads cached kinds from memory, writes under the reconcile's name.
 *
 * Kinds without an informer are read from the server; `live: true` reads anything from there. No read starts a watch.
 * Invariants: a read is never older than this process's own writes; no child is created for an owner that is being
 * deleted.
 */
import { isApiError, type KubeObject, type ObjectList, type OwnerReference, type Stored, type TypeMeta } from '#api'
import type { CacheKey, CacheKind, CacheQuery, ObjectCache } from '#cache'
import {
  Client,
  type ApplyOptions,
  type ClientDefaults,
  type CreateOptions,
  type CreateOrUpdateResult,
  type GetOptions,
  type KindLike,
  type ListOptions,
  type ObjectName,
  type ReadOf,
  type WrittenOf,
} from '#client'

interface ReconcileClientParts {
  readonly client: Client
  readonly cache: ObjectCache
  readonly defaults: ClientDefaults
}

/** Reads from the server even if the object is cached. */
interface LiveOption {
  /** @default false */
  readonly live?: boolean
}

interface CachedListOptions extends ListOptions, LiveOption {
  /** Objects that have this value in an index; only from the cache. */
  readonly index?: NonNullable<CacheQuery['index']>
}

export class ReconcileClient extends Client {
  readonly #cache: ObjectCache

  constructor({ client, cache, defaults }: ReconcileClientParts) {
    super(client, defaults)
    this.#cache = cache
  }

  override with(defaults: ClientDefaults): ReconcileClient {
    return new ReconcileClient({ client: this, cache: this.#cache, defaults })
  }

  override async get<K extends KindLike>(
    kind: K,
    key: ObjectName,
    { live = false, ...options }: GetOptions & LiveOption = {},
  ): Promise<ReadOf<K>> {
    const cached = live || options.resourceVersion !== undefined ? undefined : this.#fromCache(kind, key)
    return cached?.value === undefined
      ? await this.#getLive(kind, key, { options, isAbsent: cached !== undefined })
      : (cached.value as ReadOf<K>)
  }

  override async find<K extends KindLike>(
    kind: K,
    key: ObjectName,
    { live = false, ...options }: GetOptions & LiveOption = {},
  ): Promise<ReadOf<K> | undefined> {
    const cached = live || options.resourceVersion !== undefined ? undefined : this.#fromCache(kind, key)
    return cached ? (cached.value as ReadOf<K> | undefined) : await super.find(kind, key, options)
  }

  /** Undefined if the cache cannot have the object: the kind is not cached, or only under other names. */
  #fromCache<K extends KindLike>(kind: K, key: ObjectName): { readonly value: unknown } | undefined {
    return this.#cache.selects(kind, key) ? fromCache(() => this.#cache.find(kind, key)) : undefined
  }

  override async list<K extends KindLike>(
    kind: K,
    { live = false, index, ...options }: CachedListOptions = {},
  ): Promise<ObjectList<ReadOf<K>>> {
    const { namespace, labelSelector, fieldSelector, resourceVersion } = options
    if (index !== undefined)
      return listOf(kind, this.#cache.list(kind, { index, namespace, labelSelector }) as ReadOf<K>[])
    const cached =
      live || fieldSelector !== undefined || resourceVersion !== undefined
        ? undefined
        : fromCache(() => this.#cache.list(kind, { namespace, labelSelector }))
    return cached ? listOf(kind, cached.value as ReadOf<K>[]) : await super.list(kind, options)
  }

  override create<T extends KubeObject>(object: T, options?: CreateOptions): Promise<Stored<T>>
  override create<K extends KindLike>(kind: K, object: WrittenOf<K>, options?: CreateOptions): Promise<ReadOf<K>>
  override async create(
    first: KubeObject | KindLike,
    second: unknown = {},
    third: CreateOptions = {},
  ): Promise<unknown> {
    this.#refuseOrphans(
      'metadata' in first ? first : { ...(second as KubeObject), apiVersion: first.apiVersion, kind: first.kind },
      { isNew: true },
    )
    return await super.create(first as never, second as never, third)
  }

  override apply<R extends KubeObject>(object: R, options?: ApplyOptions): Promise<Stored<R>>
  override apply<K extends KindLike>(kind: K, object: WrittenOf<K>, options?: ApplyOptions): Promise<ReadOf<K>>
  override async apply(first: KubeObject | KindLike, second: unknown = {}, third: ApplyOptions = {}): Promise<unknown> {
    this.#refuseOrphans(
      'metadata' in first ? first : { ...(second as KubeObject), apiVersion: first.apiVersion, kind: first.kind },
      { isNew: false },
    )
    return await super.apply(first as never, second as never, third)
  }

  override createOrUpdate<T extends KubeObject>(
    seed: T,
    change: (current: T | Stored<T>) => T,
    options: CreateOptions = {},
  ): Promise<CreateOrUpdateResult<Stored<T>>> {
    return super.createOrUpdate(
      seed,
      (current) => {
        const wanted = change(current)
        if (current === seed) this.#refuseOrphans(wanted, { isNew: true })
        return wanted
      },
      options,
    )
  }

  /** An object that is not in the cache does not exist: the same `NotFound` as from the server, without a request. */
  #getLive<K extends KindLike>(
    kind: K,
    key: ObjectName,
    { options, isAbsent }: { options: GetOptions; isAbsent: boolean },
  ): Promise<ReadOf<K>> {
    if (!isAbsent) return super.get(kind, key, options)
    return Promise.resolve(this.#cache.get(kind, key) as ReadOf<K>)
  }

  /** An existing child may still be changed, e.g. to scale it down. @throws {RangeError} */
  #refuseOrphans(child: KubeObject, { isNew }: { isNew: boolean }): void {
    const { name, namespace, ownerReferences = [] } = child.metadata
    const owner = ownerReferences.find((reference) => this.#isTerminating(reference, namespace))
    if (!owner) return
    if (
      !isNew &&
      name !== undefined &&
      peek(this.#cache, child, { name, ...(namespace !== undefined && { namespace }) })
    )
      return
    throw new RangeError(
      `cannot create ${child.kind} ${name ?? child.metadata.generateName ?? ''}: its owner ${owner.kind} ${owner.name} is being deleted; end the reconcile when its signal aborts`,
    )
  }

  #isTerminating({ apiVersion, kind, name, uid }: OwnerReference, namespace: string | undefined): boolean {
    const owner =
      (namespace === undefined ? undefined : peek(this.#cache, { apiVersion, kind }, { name, namespace })) ??
      peek(this.#cache, { apiVersion, kind }, { name })
    return owner?.metadata.uid === uid && owner.metadata.deletionTimestamp !== undefined
  }
}

function listOf<K extends KindLike>({ apiVersion, kind }: K, items: ReadOf<K>[]): ObjectList<ReadOf<K>> {
  return { apiVersion, kind: `${kind}List`, metadata: {}, items } as ObjectList<ReadOf<K>>
}

/** The result of a read from the cache; undefined when the cache cannot answer: it has no informer, or no list yet. */
function fromCache<T>(read: () => T): { readonly value: T } | undefined {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof RangeError || isApiError(error)) return undefined
    throw error
  }
}

/** The object as the cache shows it, our own writes included; undefined if it is not cached. */
export function peek(
  cache: ObjectCache | undefined,
  kind: TypeMeta & CacheKind,
  key: CacheKey,
): KubeObject | undefined {
  if (!cache) return undefined
  return fromCache(() => cache.find({ apiVersion: kind.apiVersion, kind: kind.kind }, key))?.value as
    | KubeObject
    | undefined
}
