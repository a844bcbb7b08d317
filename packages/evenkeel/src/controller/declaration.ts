/**
 * A controller as its author writes it down: which kind, what else matters, what to do.
 *
 * A declaration is data and functions, nothing half-built: watches, permissions and finalizers follow from it.
 */
import { checkQualifiedName, type ActionDefinition, type Kind, type KubeObject, type ObjectKey } from '#api'
import type { CachedOf, CacheKind, GetInformerOptions } from '#cache'
import type { ReadOf } from '#client'
import type { BackoffOptions } from '#queue'
import type { BaseContext, ContextPlugin, ReconcileContext } from './context.ts'
import { checkSteps, cleanupSteps } from './finalizers.ts'
import type { EnqueueOwnerOptions, EventHandler, MapObject } from './handlers.ts'
import type { Predicate } from './predicates.ts'
import type { Source } from './sources.ts'

/**
 * What a reconcile returns to run again: after a time, or when something changes. A reconcile that returns nothing is
 * done until the next event.
 */
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

/**
 * A controller: which kind it reconciles, what else makes it run, and the functions that do the work.
 * `defineController` checks one and infers its types.
 */
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

/*
 * Mistakes in a declaration, said when it is made and not when it runs.
 */

/** The controller's name. @throws {RangeError} for a declaration that cannot be meant. */
export function checkDeclaration(declaration: ControllerDeclaration): string {
  const {
    for: kind,
    name = kind.kind.toLowerCase(),
    reconcile,
    reconcileKey,
    cleanup,
    concurrency = 1,
    timeoutMs,
    stuckMs,
    resyncMs = 0,
    verbs = [],
  } = declaration
  const who = `the controller ${name}`
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) || name.length > 63)
    throw new RangeError(
      `a controller's name has letters in lower case, digits, dots and dashes, got ${JSON.stringify(name)}`,
    )
  if (
    reconcileKey
      ? reconcile !== undefined || cleanup !== undefined
      : reconcile === undefined && cleanup === undefined && verbs.length === 0
  ) {
    throw new RangeError(
      `${who} needs a reconcile, with or without a cleanup, or verbs that do it all, or a reconcileKey and no cleanup`,
    )
  }
  if (!(Number.isInteger(concurrency) && concurrency >= 1))
    throw new RangeError(`the concurrency of ${who} must be a whole number of 1 or more, got ${concurrency}`)
  for (const [field, ms] of Object.entries({ timeoutMs, stuckMs })) {
    if (ms !== undefined && !(ms > 0 && ms < Infinity))
      throw new RangeError(`${field} of ${who} must be a number above 0, got ${ms}`)
  }
  if (!(resyncMs === 0 || (resyncMs >= 1000 && resyncMs < Infinity)))
    throw new RangeError(`resyncMs of ${who} must be 0 or at least 1000, got ${resyncMs}`)
  const steps = cleanupSteps(declaration, name)
  checkSteps(steps, kind)
  for (const { finalizer } of steps)
    for (const complaint of checkQualifiedName(finalizer))
      throw new RangeError(`the finalizer ${JSON.stringify(finalizer)} of ${who} is not allowed: ${complaint}`)
  return name
}

/*
 * A verb: one declaration of an author, from which watches, permissions, finalizers, kinds and a part of every run follow.
 *
 * Verbs are values. They are listed in `verbs` of a controller's declaration, which is then as if the author had written
 * all that by hand; what they keep between two runs is on the server, never in them.
 */

/** What follows from a verb. */
export interface VerbParts extends Pick<ControllerDeclaration, 'owns' | 'watches' | 'sources' | 'rbac'> {
  /** Put on with the author's own finalizers; cleaned up after them, those of the last verb first. */
  readonly cleanup?: readonly CleanupStep[]
}

export interface Verb<Extra extends object = object> extends ContextPlugin<Extra> {
  /** Kinds of its own that must be installed. @default none */
  readonly kinds?: readonly Kind[]
  /** What people may ask for, written into the definition of the controller's kind. */
  readonly action?: ActionDefinition
  /** What follows for this declaration. @default nothing. @throws {RangeError} for one it cannot be part of. */
  adds?(declaration: ControllerDeclaration): VerbParts
}

/** The declaration with everything that follows from its verbs. */
export function withVerbs(declaration: ControllerDeclaration, finalizerOf: () => string): ControllerDeclaration {
  const { verbs = [] } = declaration
  if (verbs.length === 0) return declaration
  const parts = verbs.map((verb) => verb.adds?.(declaration) ?? {})
  const cleanup = [...ownSteps(declaration, finalizerOf), ...parts.toReversed().flatMap((part) => part.cleanup ?? [])]
  const { cleanup: _, finalizer: __, ...rest } = declaration
  return {
    ...rest,
    owns: distinctKinds([...(declaration.owns ?? []), ...parts.flatMap(({ owns = [] }) => owns)]),
    watches: [...(declaration.watches ?? []), ...parts.flatMap(({ watches = [] }) => watches)],
    sources: [...(declaration.sources ?? []), ...parts.flatMap(({ sources = [] }) => sources)],
    rbac: [...(declaration.rbac ?? []), ...parts.flatMap(({ rbac = [] }) => rbac)],
    ...(declaration.reconcile && { reconcile: declaration.reconcile.bind(declaration) }),
    ...(declaration.reconcileKey && { reconcileKey: declaration.reconcileKey.bind(declaration) }),
    ...(cleanup.length > 0 && { cleanup }),
  }
}

function ownSteps(declaration: ControllerDeclaration, finalizerOf: () => string): readonly CleanupStep[] {
  const { cleanup, finalizer = finalizerOf() } = declaration
  if (cleanup === undefined) return []
  return typeof cleanup === 'function'
    ? [{ finalizer, cleanup: (object, context) => cleanup.call(declaration as CleanupStep, object, context) }]
    : cleanup
}

/** A kind that the author and a verb both name is watched once. */
function distinctKinds(owns: NonNullable<ControllerDeclaration['owns']>): NonNullable<ControllerDeclaration['owns']> {
  const seen = new Set<string>()
  return owns.filter((owned) => {
    const { apiVersion, kind } = 'group' in owned ? owned : owned.kind
    const isNew = !seen.has(`${apiVersion} ${kind}`)
    seen.add(`${apiVersion} ${kind}`)
    return isNew
  })
}
