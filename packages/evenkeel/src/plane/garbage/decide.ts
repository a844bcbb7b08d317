/**
 * What is to be done about one object, from what is known of it and of its owners. Pure: the same facts, the same answer.
 *
 *   an owner that stands ─────────▶ keep it; references to owners that are gone or going are taken out
 *   else, an owner that let it go ▶ that reference is taken out; what is left is judged again
 *   else, an owner that waits ────▶ delete it, with its own dependents before it if it has any
 *   else ─────────────────────────▶ delete it, as its own finalizers say
 */
import type { OwnerReference } from '#api'
import type { ObjectFacts } from './graph/facts.ts'

/**
 * How it is with one owner.
 *
 * - `solid`: it is there. It may be being deleted: what it owns is looked at when it is gone.
 * - `waiting`: it is being deleted and waits for its dependents to go first.
 * - `dangling`: it is not there.
 * - `orphaned`: it is not there, and was to go without its dependents.
 */
export type OwnerState = 'solid' | 'waiting' | 'dangling' | 'orphaned'

export type Propagation = 'Background' | 'Foreground' | 'Orphan'

export type Decision =
  | { readonly do: 'keep' }
  /** Take these owners out of its references. */
  | { readonly do: 'strip'; readonly uids: ReadonlySet<string> }
  | { readonly do: 'delete'; readonly propagation: Propagation }

interface DecisionInput {
  readonly facts: ObjectFacts
  /** For each of its references, in their order. */
  readonly ownerStates: readonly OwnerState[]
  readonly hasDependents: boolean
}

export function decide({ facts, ownerStates: standings, hasDependents }: DecisionInput): Decision {
  const { owners } = facts
  if (owners.length === 0) return { do: 'keep' }
  const uidsOf = (...wanted: readonly OwnerState[]): Set<string> => uidsWith(owners, standings, wanted)
  if (standings.includes('solid')) {
    const uids = uidsOf('dangling', 'waiting', 'orphaned')
    // A uid that is named twice, once rightly, holds it all the same.
    for (const uid of uidsOf('solid')) uids.delete(uid)
    return uids.size === 0 ? { do: 'keep' } : { do: 'strip', uids }
  }
  if (standings.includes('orphaned')) return { do: 'strip', uids: uidsOf('orphaned') }
  if (standings.includes('waiting') && hasDependents) return { do: 'delete', propagation: 'Foreground' }
  return { do: 'delete', propagation: ownPropagation(facts) }
}

/** What it says of its own dependents is to be honoured, also when it goes for want of an owner. */
function ownPropagation({ hasOrphanFinalizer, hasForegroundFinalizer }: ObjectFacts): Propagation {
  return hasOrphanFinalizer ? 'Orphan' : hasForegroundFinalizer ? 'Foreground' : 'Background'
}

function uidsWith(
  owners: readonly OwnerReference[],
  standings: readonly OwnerState[],
  wanted: readonly OwnerState[],
): Set<string> {
  return new Set(owners.filter((_, at) => wanted.includes(standings[at] ?? 'solid')).map(({ uid }) => uid))
}
