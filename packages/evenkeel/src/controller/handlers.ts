/**
 * Event handlers: which keys is an event about?
 *
 *   informer ──event──▶ predicates ──▶ handler ──keys──▶ queue
 *
 * An update is about the old and the new state: a child that moved from one owner to another concerns both. Every owned
 * kind has an index by the UIDs of its owners, so that a parent finds its children without scanning the others.
 */
import { parseApiVersion, type Kind, type KubeObject, type OwnerReference } from '#api'
import type { Logger } from '#base'
import type { CacheEvent, CacheKey, ObjectCache } from '#cache'
import { peek } from './reconcile-client.ts'

export interface HandlerContext {
  readonly cache: ObjectCache
  readonly log: Logger
  /** Aborts when the handler takes too long, or its source is stopped. */
  readonly signal: AbortSignal
  /** Called for a child whose owner was deleted and created again: it has no owner. */
  readonly onStaleOwner: () => void
}

/** Returns the keys of the controller's own kind that an event is about. Errors are logged and counted. */
export type EventHandler<T extends KubeObject = KubeObject> = (
  event: CacheEvent<T>,
  context: HandlerContext,
) => Iterable<CacheKey> | Promise<Iterable<CacheKey>>

/** Returns the keys that an object is about. */
export type MapObject<T extends KubeObject = KubeObject> = (
  object: T,
  context: HandlerContext,
) => Iterable<CacheKey> | Promise<Iterable<CacheKey>>

export interface EnqueueOwnerOptions {
  /**
   * Every owner of the kind, not only the controller.
   *
   * @default false
   */
  readonly everyOwner?: boolean
}

/** The object itself. */
export const enqueueSelf: EventHandler = (event) => [event.key]

/**
 * The owner of the object, if it is of this kind: by group and kind, in any version, and by UID.
 *
 * An owner that was deleted and created again under the same name is another object and does not inherit the child. The
 * deletion of the child is reported to it though: the child may have blocked the name of one of its own.
 */
export function enqueueOwner(
  kind: Pick<Kind, 'group' | 'kind' | 'apiVersion' | 'scope'>,
  { everyOwner = false }: EnqueueOwnerOptions = {},
): EventHandler {
  return (event, context) => {
    const keys: CacheKey[] = []
    for (const object of statesOf(event)) {
      for (const reference of object.metadata.ownerReferences ?? []) {
        if (!isOfKind(reference, kind) || !(everyOwner || reference.controller === true)) continue
        const { namespace } = object.metadata
        const key = {
          name: reference.name,
          ...(kind.scope === 'Namespaced' && namespace !== undefined && { namespace }),
        }
        const owner = peek(context.cache, kind, key)
        const isInherited = owner !== undefined && owner.metadata.uid !== reference.uid
        if (isInherited && event.type !== 'delete') reportStaleOwner(object, reference, context)
        else keys.push(key)
      }
    }
    return keys
  }
}

/** The keys that the function returns for the old and the new state. */
export function enqueueMapped<T extends KubeObject>(map: MapObject<T>): EventHandler<T> {
  return (event, context) => {
    const found = statesOf(event).map((object) => map(object, context))
    if (found.some((keys) => keys instanceof Promise))
      return Promise.all(found.map(async (keys) => [...(await keys)])).then((all) => all.flat())
    return (found as Iterable<CacheKey>[]).flatMap((keys) => [...keys])
  }
}

function statesOf<T extends KubeObject>({ old, object, isResync }: CacheEvent<T>): readonly T[] {
  return old === undefined || old === object || isResync ? [object] : [old, object]
}

function isOfKind({ apiVersion, kind }: OwnerReference, owner: Pick<Kind, 'group' | 'kind'>): boolean {
  return kind === owner.kind && groupOf(apiVersion) === owner.group
}

/** The group of an apiVersion; for a malformed text, which is foreign data, a string that is no group. */
function groupOf(apiVersion: string): string | undefined {
  return apiVersion.split('/').length > 2 ? undefined : parseApiVersion(apiVersion).group
}

function reportStaleOwner(object: KubeObject, reference: OwnerReference, { log, onStaleOwner }: HandlerContext): void {
  onStaleOwner()
  const { namespace = '', name = '' } = object.metadata
  log.warn('owner was deleted and created again; the object is not adopted', {
    kind: object.kind,
    object: `${namespace}/${name}`,
    owner: `${reference.kind} ${reference.name}`,
    ownerUid: reference.uid,
  })
}

/** The name of the index that every owned kind has in the cache. */
export const ownerIndex = 'owner uid'

/** One function for all, so that equal indexes are shared. */
export function ownerUids({ metadata: { ownerReferences = [] } }: KubeObject): readonly string[] {
  return ownerReferences.map(({ uid }) => uid)
}
