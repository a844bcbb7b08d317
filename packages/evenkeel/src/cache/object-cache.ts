/**
 * Objects without asking the server: what informers follow, read in memory, our own writes included.
 *
 * Nothing is followed that nobody asked for: reading a kind that is not held is a mistake and says how to hold it.
 * Invariants: what is handed out is frozen and shared, never a copy; a read never goes behind our own writes; a kind,
 * namespace and selection is watched once, however many hold it.
 */
import { silentLogger, SystemClock, SystemRandom } from '#base'
import type { AbortOptions, Clock, Logger, Random } from '#base'
import { ApiError, defaultCluster, notFound, parseApiVersion } from '#api'
import type { KubeObject, LabelSelector, TypeMeta } from '#api'
import type { Client, WriteNotice } from '#client'
import { clientListWatch } from './connecting/client-list-watch.ts'
import { Informer } from './informer.ts'
import type { WriteFacts } from './informer.ts'
import { Holding } from './sharing/holding.ts'
import { Members } from './sharing/members.ts'
import type { Member } from './sharing/members.ts'
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

  constructor({ client, cluster = defaultCluster, clock = new SystemClock(), random = new SystemRandom(), log = silentLogger }: ObjectCacheOptions) {
    this.#client = client
    this.#cluster = cluster
    this.#clock = clock
    this.#random = random
    this.#log = log
    this.#members = new Members({ log })
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
      return this.#members.hold({ kind, scope, transform, make: () => this.#makeInformer(kind, scope, options as HoldOptions<unknown>) })
    }
    return new Holding<CachedObject<K>>({ members: this.#members, hold, namespaces })
  }

  /** Resolves when everything that is held has been listed once. @throws {ApiError} `Forbidden`, at once, when we may not. */
  async waitForSync(options: AbortOptions = {}): Promise<void> {
    await Promise.all(this.#members.all.map(({ informer }) => informer.waitForSync(options)))
  }

  get hasSynced(): boolean {
    return this.#members.all.every(({ informer }) => informer.hasSynced)
  }

  /** One object. @throws {ApiError} `NotFound`. */
  get<K extends CacheKind>(kind: K, key: CacheKey): CachedOf<K> {
    const object = this.find(kind, key)
    if (object === undefined) throw notFound({ group: parseApiVersion(kind.apiVersion).group, kind: kind.kind, name: key.name })
    return object
  }

  /** One object, or undefined when it is not there. */
  find<K extends CacheKind>(kind: K, { name, namespace }: CacheKey): CachedOf<K> | undefined {
    for (const { informer } of this.#readable(kind, namespace)) {
      const object = informer.find({ name, ...namespace !== undefined && { namespace } })
      if (object !== undefined) return object as unknown as CachedOf<K>
    }
    return undefined
  }

  /** Objects of a kind, in no particular order. */
  list<K extends CacheKind>(kind: K, query: CacheQuery = {}): CachedOf<K>[] {
    const members = this.#readable(kind, query.namespace)
    return members.flatMap(({ informer }) => informer.list(query)) as unknown as CachedOf<K>[]
  }

  /** Shows an object as the server stored it for us, wherever it is held, until the watch tells of it. */
  noteWrite(object: KubeObject, facts: WriteFacts = {}): void {
    for (const { informer } of this.#holdersOf(object)) informer.noteWrite(object, facts)
  }

  /** Shows an object as gone until the watch tells of it. */
  noteDelete(object: TypeMeta & { readonly metadata: KubeObject['metadata'] }): void {
    const { name, namespace, uid, resourceVersion } = object.metadata
    if (!name) return
    const deleted = { name, ...namespace !== undefined && { namespace }, ...uid !== undefined && { uid }, ...resourceVersion !== undefined && { resourceVersion } }
    for (const { informer } of this.#holdersOf(object)) informer.noteDelete(deleted)
  }

  /** For a client's `hooks.afterWrite`: every write of that client is seen by reads from here on. */
  afterWrite(write: WriteNotice, object: KubeObject | undefined): void {
    if (write.dryRun || (write.subresource !== undefined && object?.kind !== write.kind)) return
    const { apiVersion, kind, namespace, name } = write
    if (object) this.noteWrite(object)
    else if (write.verb === 'delete' && name !== undefined) this.noteDelete({ apiVersion, kind, metadata: { name, ...namespace !== undefined && { namespace } } })
  }

  /** Resolves when what is held of a kind has come to a version; at once when nothing is. */
  async caughtUp(kind: CacheKind | TypeMeta, version: string, { namespace, signal }: AbortOptions & { namespace?: string } = {}): Promise<void> {
    const waiting = this.#members.all.filter((member) => isOfKind(member, kind) && holdsNamespace(member, namespace))
    await Promise.all(waiting.map(({ informer }) => informer.caughtUp(version, { signal })))
  }

  /** Tries again now, instead of waiting, wherever the kind was missing or refused. */
  wake(kind: TypeMeta): void {
    for (const member of this.#members.all) if (isOfKind(member, kind)) member.informer.wake()
  }

  /** What each informer is doing. */
  get states(): readonly CacheState[] {
    return this.#members.all.map(({ kind, scope, holders, informer }) => ({
      apiVersion: kind.apiVersion, kind: kind.kind, scope, holders, hasSynced: informer.hasSynced, objects: informer.size, ahead: informer.aheadCount, ...informer.state,
    }))
  }

  #makeInformer(kind: CacheKind, scope: CacheScope, { transform, keepManagedFields = false, streaming = true }: HoldOptions<unknown>): Informer<KubeObject> {
    const form = formOf<KubeObject>(kind, { keepManagedFields, onBroken: (error) => { informer.relist(error) } })
    const source = clientListWatch<KubeObject>({ client: this.#client, kind: servedKind(kind), scope, form })
    const informer: Informer<KubeObject> = new Informer<KubeObject>({
      source, form, scope, streaming, group: parseApiVersion(kind.apiVersion).group, kind: kind.kind, cluster: this.#cluster,
      clock: this.#clock, random: this.#random, log: this.#log, transform: transform as ((object: KubeObject) => KubeObject) | undefined,
    })
    return informer
  }

  /** The informers that together answer a question, all of them in sync. */
  #readable(kind: CacheKind, namespace: string | undefined): readonly Member[] {
    const members = this.#members.ofKind(kind)
    const able = members.filter((member) => holdsNamespace(member, namespace))
    if (able.length === 0) throw new RangeError(howToHold(kind, { namespace, isHeldElsewhere: members.length > 0 }))
    const whole = able.find((member) => isUnselected(member) && (member.scope.namespace === undefined || member.scope.namespace === namespace))
    const unselected = able.filter(isUnselected)
    const used = whole ? [whole] : unselected.length > 0 ? unselected : able
    const late = used.find(({ informer }) => !informer.hasSynced)
    if (late) throw new ApiError('ServiceUnavailable', `the cache has not listed ${kind.kind} yet (${late.informer.state.phase}): wait with waitForSync`, { retryAfterMs: 1000 })
    return used
  }

  #holdersOf({ apiVersion, kind }: TypeMeta): readonly Member[] {
    return this.#members.all.filter((member) => isOfKind(member, { apiVersion, kind }))
  }
}

type CachedObject<K extends CacheKind> = CachedOf<K> & KubeObject

/** What one informer is doing, and for whom. */
export type CacheState = TypeMeta & Informer<KubeObject>['state'] & {
  readonly scope: CacheScope
  readonly holders: number
  readonly hasSynced: boolean
  readonly objects: number
  /** Writes of ours that the watch has not told yet. */
  readonly ahead: number
}

function isOfKind({ kind: held }: Member, { apiVersion, kind }: TypeMeta): boolean {
  return held.apiVersion === apiVersion && held.kind === kind
}

function holdsNamespace({ scope }: Member, namespace: string | undefined): boolean {
  return namespace === undefined || scope.namespace === undefined || scope.namespace === namespace
}

function isUnselected({ scope }: Member): boolean {
  return scope.labelSelector === undefined && scope.fieldSelector === undefined
}

function howToHold({ kind, apiVersion }: CacheKind, { namespace, isHeldElsewhere }: { namespace: string | undefined, isHeldElsewhere: boolean }): string {
  const where = namespace === undefined ? '' : ` of namespace ${JSON.stringify(namespace)}`
  const how = isHeldElsewhere && namespace !== undefined ? `add ${JSON.stringify(namespace)} to the namespaces of its hold` : `call cache.hold(${kind}) first`
  return `the cache holds no ${kind} (${apiVersion})${where}: ${how}, or read from the server with the client`
}
