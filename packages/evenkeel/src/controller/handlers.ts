/**
 * Room 18, second half: to whom does the event matter?
 *
 * Before: predicates let the event pass. After: the queue gets the keys.
 *
 * An update is about what the object was and what it is: a child that moved from one owner to another matters to both.
 */
import { parseApiVersion, type Kind, type KubeObject, type OwnerReference } from '#api'
import type { Logger } from '#base'
import type { CacheEvent, CacheKey, ObjectCache } from '#cache'
import { peek } from './reconcile-client.ts'

export interface HandlerContext {
  readonly cache: ObjectCache
  readonly log: Logger
  /** Aborts when the handler takes too long, or is no longer wanted. */
  readonly signal: AbortSignal
  /** Called for a child whose owner was deleted and made again: it belongs to nobody. */
  readonly onStaleOwner: () => void
}

/** Says which keys of the controller's own kind an event is about. What it throws is logged and counted. */
export type EventHandler<T extends KubeObject = KubeObject> = (
  event: CacheEvent<T>,
  context: HandlerContext,
) => Iterable<CacheKey> | Promise<Iterable<CacheKey>>

/** Says which keys an object is about. */
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
 * An owner that was deleted and made again under the same name is another one: it does not inherit the child. It hears of
 * its end though: the child may have stood where one of its own belongs.
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

/** Whatever the function says, for what the object was and for what it is. */
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

/** The group of an apiVersion; nothing that could be one for a malformed text, which is other people's data. */
function groupOf(apiVersion: string): string | undefined {
  return apiVersion.split('/').length > 2 ? undefined : parseApiVersion(apiVersion).group
}

function reportStaleOwner(object: KubeObject, reference: OwnerReference, { log, onStaleOwner }: HandlerContext): void {
  onStaleOwner()
  const { namespace = '', name = '' } = object.metadata
  log.warn('an object names an owner that was deleted and made again; it is not taken over', {
    kind: object.kind,
    object: `${namespace}/${name}`,
    owner: `${reference.kind} ${reference.name}`,
    ownerUid: reference.uid,
  })
}

/*
 * Objects by the UIDs of their owners: how a parent finds its children without looking at everybody else's.
 */

/** The name of the index that every owned kind has in the cache. */
export const ownerIndex = 'owner uid'

/** One function for all: who adds the same index again shares it. */
export function ownerUids({ metadata: { ownerReferences = [] } }: KubeObject): readonly string[] {
  return ownerReferences.map(({ uid }) => uid)
}
