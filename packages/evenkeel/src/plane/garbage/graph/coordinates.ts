/**
 * When dependents disagree on where their owner is: same uid, other kind, name or namespace.
 *
 * A reference is only as good as what it says: a uid that exists under another name does not keep a dependent alive. But
 * what one dependent says wrongly must not cost another its life either, so each is judged by its own words.
 */
import type { OwnerReference } from '#api'
import { identityIn, isInReach, isNamedBy } from './facts.ts'
import type { Identity } from './facts.ts'
import type { Node } from './node.ts'

/** Whether a dependent names its owner as it is, otherwise than it is, or, with several references, both. */
export function coordinatesMatch(
  dependent: Node,
  owner: Identity,
): { readonly isRight: boolean; readonly isWrong: boolean } {
  if (!isInReach(owner, dependent.identity.namespace)) return { isRight: false, isWrong: true }
  const references = referencesTo(dependent, owner.uid)
  return {
    isRight: references.some((reference) => isNamedBy(owner, reference)),
    isWrong: references.some((reference) => !isNamedBy(owner, reference)),
  }
}

export function referencesTo({ facts: { owners } }: Node, uid: string): OwnerReference[] {
  return owners.filter((reference) => reference.uid === uid)
}

/**
 * The next place to look for an owner that is not where it was looked for, by the words of its dependents; undefined when
 * all of them name that one place.
 *
 * Places are tried in a fixed order, around in a ring, so that none is left out however often this is asked.
 */
export function nextIdentity(dependents: Iterable<Node>, absent: Identity): Identity | undefined {
  let [first, following]: (Identity | undefined)[] = []
  for (const dependent of dependents) {
    for (const reference of referencesTo(dependent, absent.uid)) {
      const named = identityFrom(reference, dependent.identity.namespace, absent)
      const order = compare(named, absent)
      if (order === 0) continue
      if (!first || compare(named, first) < 0) first = named
      if (order > 0 && (!following || compare(named, following) < 0)) following = named
    }
  }
  return following ?? first
}

/** A kind that was found to have no namespaces has none for anybody. */
function identityFrom(
  reference: OwnerReference,
  namespace: string,
  { apiVersion, kind, namespace: absent }: Identity,
): Identity {
  const isClusterWide = absent === '' && reference.apiVersion === apiVersion && reference.kind === kind
  return identityIn(isClusterWide ? '' : namespace, reference)
}

function compare(a: Identity, b: Identity): number {
  return (
    compareText(a.kind, b.kind) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
