/**
 * A controller as its author declares it: which kind, what else matters, what to do.
 *
 * A declaration is data and functions: watches, RBAC rules and finalizers follow from it. Mistakes in it are reported
 * when the controller is created, not when it runs.
 *
 * A verb is one value in `verbs` of a declaration, from which watches, RBAC rules, finalizers, kinds and a part of every
 * run follow, as if the author had written all that by hand. Verbs are stateless: what they keep between two runs is on
 * the server.
 */
import {
  checkQualifiedName,
  type ActionDefinition,
  type Kind,
  type KubeObject,
  type ObjectKey,
  type ObjectOf,
} from '#api'
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
  /** Run again after so many milliseconds. */
  readonly afterMs?: number
  /** The priority of that run. @default that of this run */
  readonly priority?: number
  /** Nothing can be done until something changes; the text says what, for people. */
  readonly park?: string
}

export type Reconciled = ReconcileResult | undefined | void

/** One step of a cleanup. */
export interface CleanupStep<K extends Kind = Kind, Extra extends object = object> {
  /** A name with a domain: `demo.example.com/bucket`. */
  readonly finalizer: string
  /** Do not add the finalizer beforehand: the code that creates something to clean up adds it first. @default false */
  readonly onDemand?: boolean
  /** After how long, counted from the deletion, the step has timed out. @default never */
  readonly timeoutMs?: number
  /** What then: keep trying, or remove the finalizer and record in an event what may be left behind. @default 'keepTrying' */
  readonly onTimeout?: 'keepTrying' | 'giveUp'
  cleanup(object: ReadOf<K>, context: ReconcileContext<K> & Extra): Promise<Reconciled> | Reconciled
}

/** A kind whose objects are owned by those of the controller. */
export interface OwnsDeclaration<K extends CacheKind = CacheKind>
  extends EnqueueOwnerOptions, Pick<GetInformerOptions<CachedOf<K>>, 'labelSelector' | 'fieldSelector'> {
  readonly kind: K
  /** @default every event passes */
  readonly predicates?: readonly Predicate[]
  /**
   * Some children cannot have an owner reference: in another namespace, or in none. `children` then keeps a list of them
   * on the parent, behind a finalizer.
   *
   * @default false
   */
  readonly elsewhere?: boolean
}

/** A kind whose objects matter to those of the controller. Give `map` or `enqueue`. */
export interface WatchDeclaration<K extends CacheKind = CacheKind> extends GetInformerOptions<CachedOf<K>> {
  readonly kind: K
  /** The keys that an object is about; called for the old and the new state. */
  map?(...parameters: Parameters<MapObject<CachedOf<K> & KubeObject>>): ReturnType<MapObject>
  /** `enqueueOwner(...)`, `enqueueSelf`, or your own. */
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

/** A rule, and where it is needed. */
export interface ScopedPolicyRule extends PolicyRule {
  /** @default the namespaces of the controller */
  readonly namespaces?: readonly string[] | 'all'
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
  /** Further sources of keys. @default none */
  readonly sources?: readonly Source[]
  /** Which events of its own kind are passed on. @default all */
  readonly predicates?: readonly Predicate[]
  /**
   * `dependsOn(...)`, `action(...)`, `external(...)`: what follows from them is added to the declaration. They run in this
   * order; a verb that changes something does not begin while a dependency before it is not ready. An action of the form
   * `token` needs `reports: ['actions']` of the kind.
   *
   * @default none
   */
  readonly verbs?: readonly VerbFor<K>[]

  /** Makes the actual state match the object. Never called for an object that is being deleted. */
  reconcile?(object: ReadOf<K>, context: ReconcileContext<K> & Extra): Promise<Reconciled> | Reconciled
  /**
   * Cleans up before the object is deleted; a finalizer is added before the first `reconcile` and removed afterwards. As
   * steps, each has its own finalizer; they are added together and removed in order.
   */
  cleanup?: CleanupStep<K, Extra>['cleanup'] | readonly CleanupStep<K, Extra>[]
  /** @default the kind's group and the controller's name: `demo.example.com/website` */
  readonly finalizer?: string
  /** After a failed step: skip the later ones, or run them anyway. @default 'stop' */
  readonly cleanupPolicy?: 'stop' | 'continue'
  /** Instead of `reconcile`: gets the key alone, whether or not the object exists. */
  reconcileKey?(key: ObjectKey, context: BaseContext & Extra): Promise<Reconciled> | Reconciled

  /** How many objects are reconciled at a time; one worker per object. @default 1 */
  readonly concurrency?: number
  /** After how long a run is aborted. @default never */
  readonly timeoutMs?: number
  /** After how long a run that has not ended counts as stuck. @default timeoutMs, or 600_000 */
  readonly stuckMs?: number
  /** Abort a run whose object got a newer spec. @default false */
  readonly cancelOnNewGeneration?: boolean
  /** @default 5 ms, twice as long each time, at most 1000 s */
  readonly backoff?: Omit<BackoffOptions, 'random'>
  /** Reconcile every object again after about this time; 0: never. @default 36_000_000 (ten hours) */
  readonly resyncMs?: number
  /** @default all */
  readonly namespaces?: readonly string[]
  readonly labelSelector?: GetInformerOptions<unknown>['labelSelector']
  readonly fieldSelector?: GetInformerOptions<unknown>['fieldSelector']
  /** Whether only the leader reconciles. @default true */
  readonly needsLeader?: boolean
  /** Rules for what `reconcile` does beyond the declaration. */
  readonly rbac?: readonly ScopedPolicyRule[]
}

/** The controller's name. @throws {RangeError} for an invalid declaration. */
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
    owns = [],
    watches = [],
    sources = [],
  } = declaration
  const who = `the controller ${name}`
  if (!/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) || name.length > 63)
    throw new RangeError(
      `a controller's name consists of lower case letters, digits, dots and dashes, got ${JSON.stringify(name)}`,
    )
  for (const [field, value] of Object.entries({ verbs, owns, watches, sources })) checkList(value, `${field} of ${who}`)
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

/** What follows from a verb. */
export interface VerbParts extends Pick<ControllerDeclaration, 'owns' | 'watches' | 'sources' | 'rbac'> {
  /** Added with the author's own finalizers; cleaned up after them, those of the last verb first. */
  readonly cleanup?: readonly CleanupStep[]
}

export interface Verb<Extra extends object = object> extends ContextPlugin<Extra> {
  /** Kinds of its own that must be installed. @default none */
  readonly kinds?: readonly Kind[]
  /** Verbs that this one needs: they run before it, listed or not. @default none */
  readonly needs?: readonly Verb[]
  /** Actions for the CRD of the controller's kind. */
  readonly action?: ActionDefinition
  /** What follows for this declaration. @default nothing. @throws {RangeError} when the verb does not fit it. */
  adds?(declaration: ControllerDeclaration): VerbParts
}

/**
 * The verbs that fit a kind: one that records something in the status needs its field there (`reports` of `defineKind`).
 * Kinds whose objects have no type of their own fit all verbs. The text of the last line is what the compiler shows.
 */
type VerbFor<K extends Kind> =
  HasActions<ObjectOf<K>> extends true
    ? Verb
    : Verb & { readonly '~reports'?: "define its kind with reports: ['actions']" }

type HasActions<T> = KubeObject extends T
  ? true
  : T extends { readonly status?: infer Status }
    ? 'actions' extends keyof NonNullable<Status>
      ? true
      : false
    : false

/** The verbs of a declaration in the order in which they run: as listed, each after those that it needs, and each once. */
export function verbsOf({ verbs = [] }: Pick<ControllerDeclaration, 'verbs'>): readonly Verb[] {
  const ordered = new Set<Verb>()
  const add = (verb: Verb): void => {
    for (const needed of verb.needs ?? []) add(needed)
    ordered.add(verb)
  }
  checkList(verbs, 'verbs of a controller')
  for (const verb of verbs) add(verb)
  return [...ordered]
}

/** @throws {RangeError} for one item without brackets, or an object of items: a program that is not type-checked has them. */
function checkList(value: unknown, what: string): void {
  if (!Array.isArray(value)) throw new RangeError(`${what} must be a list: write ${what.split(' ')[0]}: [...]`)
}

/** The declaration with everything that follows from its verbs. */
export function withVerbs(declared: ControllerDeclaration): ControllerDeclaration {
  const verbs = verbsOf(declared)
  if (verbs.length === 0) return declared
  const declaration = { ...declared, verbs }
  const parts = verbs.map((verb) => verb.adds?.(declaration) ?? {})
  const cleanup = [
    ...cleanupSteps(declared, declared.name ?? declared.for.kind.toLowerCase()),
    ...parts.toReversed().flatMap((part) => part.cleanup ?? []),
  ]
  const { cleanup: _, finalizer: __, ...rest } = declaration
  return {
    ...rest,
    owns: distinctKinds([...(declaration.owns ?? []), ...parts.flatMap(({ owns = [] }) => owns)]),
    watches: [...(declaration.watches ?? []), ...parts.flatMap(({ watches = [] }) => watches)],
    sources: [...(declaration.sources ?? []), ...parts.flatMap(({ sources = [] }) => sources)],
    rbac: [...(declaration.rbac ?? []), ...parts.flatMap(({ rbac = [] }) => rbac)],
    ...(declared.reconcile && { reconcile: declared.reconcile.bind(declared) }),
    ...(declared.reconcileKey && { reconcileKey: declared.reconcileKey.bind(declared) }),
    ...(cleanup.length > 0 && { cleanup }),
  }
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
