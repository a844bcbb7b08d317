/**
 * The client: every request to an API server as a method.
 *
 * It is thin on purpose. A transport carries requests (in process or HTTP), `reads.ts` and `writes.ts` make them, and
 * `mapper.ts` knows the resources of kinds. Kinds in full (`defineKind`, `evenkeel/kinds/...`) need no discovery; objects
 * by `apiVersion` and `kind` alone are looked up in the server's discovery, once. `raw` requests any other path: health,
 * version, metrics, logs.
 *
 * Errors: `ApiError` when the server refuses, `ConnectionError` when there is no response, `UnknownKindError` when the
 * server lacks the kind, `RangeError` for invalid arguments, the signal's reason when it aborts.
 */
import type { JsonObject, KubeObject, ObjectList, Stored, UnstructuredObject } from '#api'
import type { AbortOptions } from '#base'
import { makeCore, type ClientCore, type ClientDefaults, type ClientOptions } from './core.ts'
import { createOrUpdate, dropFinalizer, ensureFinalizer, type CreateOrUpdateResult } from './create-or-update.ts'
import { sendRaw, type RawRequest, type RawResponse } from './raw-request.ts'
import { findObject, getObject, listObjects, listPage, listPages, watchObjects } from './reads.ts'
import type {
  ApplyOptions,
  CallOptions,
  CreateOptions,
  DeleteAllOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectName,
  PageOptions,
  PatchFromOptions,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from './request-options.ts'
import type { DiscoveredResource, KindLike, ReadOf, Resource, WriteResult, WrittenOf } from './resource.ts'
import { Subresource, type Scale } from './subresource.ts'
import type { WatchStream } from './watch-stream.ts'
import {
  applyObject,
  createObject,
  deleteObject,
  deleteObjects,
  patchDifference,
  patchObject,
  updateObject,
  type PatchBody,
} from './writes.ts'

/**
 * Reads, writes and watches objects of any API server. Kinds give the types; an object in flight is never changed.
 *
 * @example
 * const client = await connect()
 * const site = await client.get(Website, { name: 'web', namespace: 'default' })
 * await client.patch(site, { spec: { replicas: 3 } })
 * for await (const event of client.watch(Website)) console.log(event.type)
 */
export class Client {
  readonly #core: ClientCore
  readonly #close: () => Promise<void>

  /**
   * To reach the cluster of a kubeconfig, see `connect`.
   *
   * @example const client = new Client({ transport: server.transport })
   */
  constructor(options: ClientOptions | Client, defaults: ClientDefaults = {}) {
    this.#core =
      options instanceof Client
        ? { ...options.#core, defaults: { ...options.#core.defaults, ...defaults } }
        : makeCore(options)
    this.#close = options instanceof Client ? options.#close : (options.close ?? (() => Promise.resolve()))
  }

  /**
   * The same client with other defaults: a field owner, a reconcile id, a namespace.
   *
   * @example const teamA = client.with({ namespace: 'team-a', fieldManager: 'installer' })
   */
  with(defaults: ClientDefaults): Client {
    return new Client(this, defaults)
  }

  /** The namespace of objects when none is given. @example const namespace = client.namespace ?? 'default' */
  get namespace(): string | undefined {
    return this.#core.defaults.namespace
  }

  /** Closes connections. Clients made by {@link with} share them. @example await client.close() */
  close(): Promise<void> {
    return this.#close()
  }

  /** Closes connections at the end of an `await using` block. @example await using client = await connect() */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }

  // Reading

  /**
   * One object.
   *
   * @throws {ApiError} `NotFound`: use {@link find} if that is expected.
   * @example const site = await client.get(Website, { name: 'web', namespace: 'default' })
   */
  async get<K extends KindLike>(kind: K, key: ObjectName, options: GetOptions = {}): Promise<ReadOf<K>> {
    return (await getObject(this.#core, kind, { key, options })) as ReadOf<K>
  }

  /**
   * One object, or undefined when it does not exist. A missing kind is still an error.
   *
   * @example if (!(await client.find(Website, { name: 'web' }))) console.log('there is none')
   */
  async find<K extends KindLike>(kind: K, key: ObjectName, options: GetOptions = {}): Promise<ReadOf<K> | undefined> {
    return (await findObject(this.#core, kind, { key, options })) as ReadOf<K> | undefined
  }

  /**
   * All objects of a kind, or those selected, as one list at one version. Large lists are requested page by page.
   *
   * @example const { items } = await client.list(Website, { namespace: 'default', labelSelector: 'tier=gold' })
   */
  async list<K extends KindLike>(kind: K, options: ListOptions = {}): Promise<ObjectList<ReadOf<K>>> {
    return (await listObjects(this.#core, kind, options)) as ObjectList<ReadOf<K>>
  }

  /**
   * One page of a list; `metadata.continue` is the token of the next.
   *
   * @example const { items, metadata } = await client.page(Website, { limit: 100 })
   */
  async page<K extends KindLike>(kind: K, options: PageOptions = {}): Promise<ObjectList<ReadOf<K>>> {
    return (await listPage(this.#core, kind, options)) as ObjectList<ReadOf<K>>
  }

  /**
   * A list page by page, so that it is never in memory as a whole.
   *
   * @throws {ApiError} `Expired`, when that takes too long.
   * @example for await (const { items } of client.pages(Website)) console.log(items.length)
   */
  pages<K extends KindLike>(kind: K, options: ListOptions = {}): AsyncIterable<ObjectList<ReadOf<K>>> {
    return listPages(this.#core, kind, options) as AsyncIterable<ObjectList<ReadOf<K>>>
  }

  /**
   * Changes as they happen. The request is sent when the stream is first read; leaving the loop ends it.
   *
   * The server may end it at any time, which is normal: start again at the last version seen. An `ERROR` event with reason
   * `Expired` says that this is no longer possible.
   *
   * @example for await (const { type, object } of client.watch(Website)) console.log(type, object.metadata.name)
   */
  watch<K extends KindLike>(kind: K, options: WatchOptions = {}): WatchStream<ReadOf<K>> {
    return watchObjects(this.#core, kind, options) as WatchStream<ReadOf<K>>
  }

  // Writing

  /**
   * Stores a new object.
   *
   * @throws {ApiError} `AlreadyExists`.
   * @example await client.create(Website, { metadata: { name: 'web' }, spec: { image: 'nginx' } })
   */
  create<T extends KubeObject>(object: T, options?: CreateOptions): Promise<Stored<T>>
  create<K extends KindLike>(kind: K, object: WrittenOf<K>, options?: CreateOptions): Promise<ReadOf<K>>
  async create(first: KubeObject | KindLike, second: unknown = {}, third: CreateOptions = {}): Promise<unknown> {
    const { object, options } = this.#objectAndOptions<CreateOptions>(first, second, third)
    return await createObject(this.#core, { object }, options)
  }

  /**
   * Replaces an object. With `metadata.resourceVersion`, only if it is still at that version.
   *
   * @throws {ApiError} `Conflict`.
   * @example await client.update({ ...site, spec: { ...site.spec, replicas: 3 } })
   */
  async update<T extends KubeObject>(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    return (await updateObject(this.#core, { object }, options)) as Stored<T>
  }

  /**
   * Changes what the patch names. The object may be a reference (`refTo`).
   *
   * @example await client.patch(site, { spec: { replicas: 3 } })
   */
  async patch<R extends KubeObject>(object: R, patch: PatchBody, options: PatchOptions = {}): Promise<WriteResult<R>> {
    return (await patchObject(this.#core, { object }, { ...options, patch })) as WriteResult<R>
  }

  /**
   * Changes an object from one state to another by a merge patch, if it is still in the first one.
   *
   * Nothing is sent when nothing differs. A field cannot be set to `null` this way.
   *
   * @example await client.patchFrom(site, { ...site, spec: { ...site.spec, replicas: 3 } })
   */
  async patchFrom<T extends KubeObject>(from: T, to: T, options: PatchFromOptions = {}): Promise<Stored<T>> {
    return (await patchDifference(this.#core, { object: from }, { ...options, to })) as Stored<T>
  }

  /**
   * Server-side apply: creates the object, or sets the given fields and removes fields that are no longer given.
   *
   * @example await client.apply(Website, { metadata: { name: 'web' }, spec: { image: 'nginx' } }, { fieldManager: 'me' })
   */
  apply<R extends KubeObject>(object: R, options?: ApplyOptions): Promise<Stored<R>>
  apply<K extends KindLike>(kind: K, object: WrittenOf<K>, options?: ApplyOptions): Promise<ReadOf<K>>
  async apply(first: KubeObject | KindLike, second: unknown = {}, third: ApplyOptions = {}): Promise<unknown> {
    const { object, options } = this.#objectAndOptions<ApplyOptions>(first, second, third)
    return await applyObject(this.#core, { object }, options)
  }

  /**
   * Deletes an object. Returns it while finalizers or a grace period hold it, undefined when it is deleted.
   *
   * @example await client.delete(site, { propagationPolicy: 'Foreground', ignoreNotFound: true })
   */
  async delete<R extends KubeObject>(
    object: R,
    options: DeleteOptions & { ignoreNotFound?: boolean } = {},
  ): Promise<WriteResult<R> | undefined> {
    return (await deleteObject(this.#core, object, options)) as WriteResult<R> | undefined
  }

  /**
   * Deletes all objects of a kind in a namespace, or those selected.
   *
   * @example await client.deleteAllOf(Website, { namespace: 'default', labelSelector: 'tier=trial' })
   */
  deleteAllOf<K extends KindLike>(kind: K, options: DeleteAllOptions = {}): Promise<void> {
    return deleteObjects(this.#core, kind, options)
  }

  // Subresources

  /**
   * Patches the status and nothing else.
   *
   * @example await client.patchStatus(site, { url: 'http://web' }) // the fields of the status, not { status: … }
   */
  patchStatus<R extends KubeObject>(
    object: R,
    status: StatusPatch<R>,
    options: WriteOptions = {},
  ): Promise<WriteResult<R>> {
    return this.subresource('status').patch(object, { status }, options)
  }

  /**
   * Replaces the status; the rest of the object is ignored.
   *
   * @example await client.updateStatus({ ...site, status: { url: 'http://web' } })
   */
  updateStatus<T extends KubeObject>(object: T, options: WriteOptions = {}): Promise<Stored<T>> {
    return this.subresource('status').update(object, options) as Promise<Stored<T>>
  }

  /**
   * Server-side apply of the status and nothing else.
   *
   * @example await client.applyStatus({ ...refTo(Website, { name: 'web' }), status: { url: 'http://web' } }, { fieldManager: 'me' })
   */
  applyStatus<T extends KubeObject>(object: T, options: ApplyOptions = {}): Promise<Stored<T>> {
    return this.subresource('status').apply(object, options) as Promise<Stored<T>>
  }

  /** The current and the desired number of replicas. @example const { spec } = await client.getScale(deployment) */
  getScale(object: KubeObject, options: GetOptions = {}): Promise<Scale> {
    return this.subresource('scale').get<Scale>(object, options)
  }

  /** Sets the desired number of replicas. @example await client.setScale(deployment, 3) */
  setScale(object: KubeObject, replicas: number, options: WriteOptions = {}): Promise<Scale> {
    if (!(Number.isInteger(replicas) && replicas >= 0))
      throw new RangeError(`replicas must be a whole number from 0, got ${replicas}`)
    return this.subresource('scale').patch(object, { spec: { replicas } }, options) as Promise<Scale>
  }

  /**
   * A subresource: `approval`, `eviction`, `token`, `log`.
   *
   * @example await client.subresource('eviction').create(pod, eviction)
   */
  subresource(name: string): Subresource {
    return new Subresource(this.#core, name)
  }

  // Writes that read first

  /**
   * Adds a finalizer and returns the object.
   *
   * @throws {RangeError} when it is being deleted: then nothing is sent.
   * @example const held = await client.addFinalizer(site, 'demo.example.com/bucket')
   */
  async addFinalizer<T extends KubeObject>(
    object: T,
    finalizer: string,
    options: WriteOptions = {},
  ): Promise<Stored<T>> {
    return (await ensureFinalizer(this.#core, object, { ...options, finalizer })) as Stored<T>
  }

  /**
   * Removes a finalizer and returns the object; undefined when it is deleted.
   *
   * @example await client.removeFinalizer(site, 'demo.example.com/bucket')
   */
  async removeFinalizer<T extends KubeObject>(
    object: T,
    finalizer: string,
    options: WriteOptions = {},
  ): Promise<Stored<T> | undefined> {
    return (await dropFinalizer(this.#core, object, { ...options, finalizer })) as Stored<T> | undefined
  }

  /**
   * Creates an object, or changes the existing one to the desired state; after a conflict it reads again.
   *
   * @param change returns the desired state from the current one, or from `seed` when there is none. It may be called more
   * than once and must not change its argument.
   * @example await client.createOrUpdate(seed, (current) => ({ ...current, data: { color: 'red' } }))
   */
  async createOrUpdate<T extends KubeObject>(
    seed: T,
    change: (current: T | Stored<T>) => T,
    options: CreateOptions = {},
  ): Promise<CreateOrUpdateResult<Stored<T>>> {
    return (await createOrUpdate(this.#core, seed, {
      ...options,
      change: change as unknown as (current: KubeObject) => KubeObject,
    })) as CreateOrUpdateResult<Stored<T>>
  }

  // Everything else

  /**
   * A request to any path: `/version`, `/readyz`, `/logs`.
   *
   * @throws {ApiError} when the server refuses.
   * @example const version = (await client.raw({ path: '/version' })).json()
   */
  raw(request: RawRequest, options: CallOptions = {}): Promise<RawResponse> {
    return sendRaw(this.#core, request, options)
  }

  /**
   * The resource of a kind.
   *
   * @throws {UnknownKindError}
   * @example const { plural } = await client.resourceOf(Website)
   */
  resourceOf(kind: KindLike, options: AbortOptions = {}): Promise<Resource> {
    return this.#core.mapper.resolve(kind, options)
  }

  /**
   * Every resource of the server; requested once, and again with `reload`.
   *
   * @example const names = (await client.resources()).map(({ plural }) => plural)
   */
  resources(options: AbortOptions & { reload?: boolean } = {}): Promise<readonly DiscoveredResource[]> {
    return this.#core.mapper.resources(options)
  }

  /** Both forms of arguments: the object alone, or its kind and the rest. */
  #objectAndOptions<O>(first: KubeObject | KindLike, second: unknown, third: O): { object: KubeObject; options: O } {
    if ('metadata' in first) return { object: first, options: second as O }
    // A kind in full is added to the mapper, so that it needs no discovery.
    this.#core.mapper.find(first)
    const { apiVersion, kind } = first
    return { object: { ...(second as UnstructuredObject), apiVersion, kind }, options: third }
  }
}

/** Some fields of a status; `null` deletes one. */
type StatusPatch<R> = R extends { readonly status?: infer S } ? PartialDeep<Exclude<S, undefined>> : JsonObject

type PartialDeep<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [Name in keyof T]?: PartialDeep<T[Name]> | null }
    : T
