/**
 * A controller as its author writes it down: which kind, what else matters, what to do.
 *
 * A declaration is data and functions, nothing half-built: watches, permissions and finalizers follow from it.
 */
import type { Kind, KubeObject, ObjectKey } from '#api'
import type { CachedOf, CacheKind, GetInformerOptions } from '#cache'
import type { ReadOf } from '#client'
import type { BackoffOptions } from '#queue'
import type { BaseContext, ReconcileContext } from './context/context.ts'
import type { EnqueueOwnerOptions, EventHandler, MapObject } from './sourcing/handler.ts'
import type { Predicate } from './sourcing/predicate.ts'
import type { Source } from './sourcing/source.ts'
import type { Verb } from './verb.ts'

/** What a reconcile says at its end. Nothing: all is well, until something changes. */
export interface ReconcileResult {
  /** Look again after so many milliseconds. */
  readonly afterMs?: number
  /** The priority of that. @default that of this run */
  readonly priority?: number
  /** Nothing can be done until something changes; the text says what, for people. */
  readonly park?: string
}

export type Reconciled = ReconcileResult | undefined | void

/** One thing to clean up before an object may go. */
export interface CleanupStep<K extends Kind = Kind, Extra extends object = object> {
  /** A name with a domain: `demo.example.com/bucket`. */
  readonly finalizer: string
  /** Not put on beforehand: whoever has something to clean up puts it on before he begins. @default false */
  readonly onDemand?: boolean
  /** After how long, counted from the deletion, it has taken too long. @default never */
  readonly timeoutMs?: number
  /** What then: go on trying, or let the object go and say in an event what may be left behind. @default 'keepTrying' */
  readonly onTimeout?: 'keepTrying' | 'giveUp'
  cleanup(object: ReadOf<K>, context: ReconcileContext<K> & Extra): Promise<Reconciled> | Reconciled
}

/** A kind whose objects belong to those of the controller. */
export interface OwnsDeclaration<K extends CacheKind = CacheKind>
  extends EnqueueOwnerOptions, Pick<GetInformerOptions<CachedOf<K>>, 'labelSelector' | 'fieldSelector'> {
  readonly kind: K
  /** @default every event passes */
  readonly predicates?: readonly Predicate[]
  /**
   * Some are where an owner reference cannot reach: in another namespace, or in none. `children` then keeps a list of
   * them on the parent, behind a finalizer.
   *
   * @default false
   */
  readonly elsewhere?: boolean
}

/** A kind whose objects matter to those of the controller. Give `map` or `enqueue`. */
export interface WatchDeclaration<K extends CacheKind = CacheKind> extends GetInformerOptions<CachedOf<K>> {
  readonly kind: K
  /** Which keys an object is about; asked for what it was and for what it is. */
  map?(...parameters: Parameters<MapObject<CachedOf<K> & KubeObject>>): ReturnType<MapObject>
  /** `enqueueOwner(...)`, `enqueueSelf`, or one of your own. */
  readonly enqueue?: EventHandler
  /** @default every event passes */
  readonly predicates?: readonly Predicate[]
}

/**
 * A watch whose functions know the kind's type; a plain object in the list will do where that does not matter.
 *
 * @example
 * watches: [watching(Secret, { map: (secret) => [{ name: secret.data?.['for'] ?? '' }] })]
 */
export function watching<K extends CacheKind>(
  kind: K,
  declaration: Omit<WatchDeclaration<K>, 'kind'>,
): WatchDeclaration {
  return { ...declaration, kind } as unknown as WatchDeclaration
}

export interface PolicyRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
}

export interface ControllerDeclaration<K extends Kind = Kind, Extra extends object = object> {
  /** In logs, metrics, and as the owner of fields. @default the kind in lower case */
  readonly name?: string
  readonly for: K
  /** @default none */
  readonly owns?: readonly (Kind | OwnsDeclaration)[]
  /** @default none */
  readonly watches?: readonly WatchDeclaration[]
  /** Anything else that says which keys to look at. @default none */
  readonly sources?: readonly Source[]
  /** Which events of its own kind matter. @default all */
  readonly predicates?: readonly Predicate[]
  /** `dependsOn(...)`, `action(...)`, `external(...)`: what follows from them is as if it were declared here. @default none */
  readonly verbs?: readonly Verb[]

  /** Makes the world match the object. Never called for one that is being deleted. */
  reconcile?(object: ReadOf<K>, context: ReconcileContext<K> & Extra): Promise<Reconciled> | Reconciled
  /**
   * Cleans up before the object goes; a finalizer is put on before the first `reconcile` and taken off afterwards. As
   * steps, each has a finalizer of its own; they are put on together and taken in order.
   */
  cleanup?: CleanupStep<K, Extra>['cleanup'] | readonly CleanupStep<K, Extra>[]
  /** @default the kind's group and the controller's name: `demo.example.com/website` */
  readonly finalizer?: string
  /** After a step of the cleanup failed: leave the later ones, or try them all the same. @default 'stop' */
  readonly cleanupPolicy?: 'stop' | 'continue'
  /** Instead of `reconcile`: gets the key alone, whatever became of the object. */
  reconcileKey?(key: ObjectKey, context: BaseContext & Extra): Promise<Reconciled> | Reconciled

  /** How many objects are worked on at a time; each by one worker only. @default 1 */
  readonly concurrency?: number
  /** After how long a run is told to end. @default never */
  readonly timeoutMs?: number
  /** After how long a run that has not ended counts as stuck. @default timeoutMs, or 600_000 */
  readonly stuckMs?: number
  /** Abort a run whose object got a newer spec. @default false */
  readonly cancelOnNewGeneration?: boolean
  /** @default 5 ms, twice as long each time, at most 1000 s */
  readonly backoff?: Omit<BackoffOptions, 'random'>
  /** Look at every object again after about this long; 0 for never. @default 36_000_000 (ten hours) */
  readonly resyncMs?: number
  /** @default all */
  readonly namespaces?: readonly string[]
  readonly labelSelector?: GetInformerOptions<unknown>['labelSelector']
  readonly fieldSelector?: GetInformerOptions<unknown>['fieldSelector']
  /** Whether only the leader works. @default true */
  readonly needsLeader?: boolean
  /** What `reconcile` does beside what the declaration says. */
  readonly rbac?: readonly PolicyRule[]
}
