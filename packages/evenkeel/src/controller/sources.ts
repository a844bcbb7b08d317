/**
 * Sources: where a controller's work comes from. Anything that can name keys to reconcile is a source.
 *
 * A source is a description and can be started more than once. `declaredSources` are those that follow from a
 * declaration: its own kind, what it owns, what it watches, and further sources that it names.
 *
 * Invariants of a started source: it never waits for the queue, and after `stop` has resolved it enqueues nothing.
 */
import type { KubeObject } from '#api'
import type { AbortOptions, Clock, Logger, Metrics, Random } from '#base'
import type { CacheEvent, CacheKey, CacheKind, ObjectCache } from '#cache'
import type { ControllerDeclaration, OwnsDeclaration, WatchDeclaration } from './declaration.ts'
import { enqueueMapped, enqueueOwner, ownerIndex, ownerUids, type EventHandler, type MapObject } from './handlers.ts'
import { kindSource } from './kind-source.ts'
import type { Cause } from './run-record.ts'

/** What a source gets from its controller. */
export interface SourceContext {
  readonly cache: ObjectCache
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Where a source may count. @default nowhere */
  readonly metrics?: Metrics | undefined
  /** Puts a key of the controller's kind into its queue. */
  enqueue(key: CacheKey, cause: Cause, options?: { priority?: number }): void
  /** Whether the changed fields are wanted for this key; computing them is expensive. */
  wantsChanges(key: CacheKey): boolean
  /** Called for an event that could not be mapped to keys. */
  onMapError(error: unknown): void
  onStaleOwner(): void
}

export interface StartedSource {
  readonly name: string
  /** Whether all initial objects were enqueued. */
  readonly hasSynced: boolean
  /** Why it does not work, in words; undefined while it does. */
  readonly problem: string | undefined
  /** Resolves when all initial objects were enqueued, however long that takes. */
  waitForSync(options?: AbortOptions): Promise<void>
  stop(): Promise<void>
}

export interface Source {
  /** For logs and causes: `owns Deployment`, `files`. */
  readonly name: string
  start(context: SourceContext): StartedSource
}

/** A source that was added to a controller: see `addSource`. */
export interface AddedSource extends AsyncDisposable {
  readonly hasSynced: boolean
  waitForSync(options?: AbortOptions): Promise<void>
  /** Removes it; no event of it is passed on from now on. */
  remove(): Promise<void>
}

const tenHoursMs = 36_000_000

/** `observe` is called with every event of the controller's own kind. */
export function declaredSources(
  declaration: ControllerDeclaration,
  { observe }: { observe: (event: CacheEvent) => void },
): Source[] {
  const {
    for: kind,
    owns = [],
    watches = [],
    sources = [],
    predicates,
    resyncMs = tenHoursMs,
    namespaces,
    labelSelector,
    fieldSelector,
  } = declaration
  const scope = {
    ...(namespaces !== undefined && { namespaces }),
    ...(labelSelector !== undefined && { labelSelector }),
    ...(fieldSelector !== undefined && { fieldSelector }),
  }
  return [
    kindSource<CacheKind>(kind, { ...scope, name: `for ${kind.kind}`, predicates, resyncMs, observe }),
    ...owns.map((owned) => ownedSource(declaration, 'group' in owned ? { kind: owned } : owned)),
    ...watches.map((watch) => watchedSource(declaration, watch)),
    ...sources,
  ]
}

function ownedSource(
  { for: owner, namespaces }: ControllerDeclaration,
  { kind, everyOwner = false, elsewhere = false, predicates, ...hold }: OwnsDeclaration,
): Source {
  const isNarrow = namespaces !== undefined && owner.scope === 'Namespaced' && !elsewhere
  const indexes = { [ownerIndex]: ownerUids }
  return kindSource<CacheKind>(kind, {
    ...hold,
    ...(isNarrow && { namespaces }),
    name: `owns ${kind.kind}`,
    predicates,
    indexes,
    handler: enqueueOwner(owner, { everyOwner }),
  })
}

function watchedSource({ for: owner }: ControllerDeclaration, watch: WatchDeclaration): Source {
  const { kind, enqueue, predicates, ...rest } = watch
  const { map, ...hold } = rest
  if ((map === undefined) === (enqueue === undefined))
    throw new RangeError(`the watch of ${kind.kind} by the controller for ${owner.kind} needs either map or enqueue`)
  const handler: EventHandler = enqueue ?? enqueueMapped<KubeObject>(map?.bind(watch) as MapObject)
  return kindSource<CacheKind>(kind, { ...hold, name: `watches ${kind.kind}`, predicates, handler })
}
