/**
 * The sources that follow from a declaration: its own kind, what it owns, what it watches, and whatever else it names.
 */
import type { KubeObject } from '#api'
import type { CacheEvent, CacheKind } from '#cache'
import type { ControllerDeclaration, OwnsDeclaration, WatchDeclaration } from '../declaration.ts'
import { enqueueMapped, enqueueOwner } from './handler.ts'
import type { EventHandler, MapObject } from './handler.ts'
import { kindSource } from './kind-source.ts'
import { ownerIndex, ownerUids } from './owner-index.ts'
import type { Source } from './source.ts'

const tenHoursMs = 36_000_000

/** `observe` hears every event of the controller's own kind. */
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
