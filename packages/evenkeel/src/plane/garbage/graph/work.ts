/**
 * What follows from a change of the graph: whom to look at, whose dependents to set free, whom to warn about.
 */
import type { OwnerReference } from '#api'
import type { Identity } from './facts.ts'

/** A dependent that names an owner in another namespace. */
export interface Misplaced {
  readonly dependent: Identity
  readonly reference: OwnerReference
}

export interface Work {
  /** Uids of objects that may have to go, or may be let go. Some may be named twice. */
  readonly deletes: string[]
  /** Uids of virtual nodes to be looked for at another place, not at once. */
  readonly later: string[]
  /** Uids of objects whose dependents are to lose them. */
  readonly orphans: string[]
  readonly misplaced: Misplaced[]
}

export function noWork(): Work {
  return { deletes: [], later: [], orphans: [], misplaced: [] }
}
