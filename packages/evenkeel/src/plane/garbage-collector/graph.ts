/**
 * Who belongs to whom, by uid, as far as the watches have told; and what work each change makes.
 *
 *   observe ──▶ nodes and links follow the object     remove ──▶ dependents have lost an owner: look at them
 *   an owner that nobody has seen ──▶ virtual node: look for it; verifyAbsent ──▶ as if it was removed
 *
 * Nothing here talks to anybody: events go in, work comes out. Events of one kind come in order, those of different kinds
 * in any order, so a dependent may well be seen before its owner, and an owner go before its dependents are seen.
 *
 * Invariants: one node per uid; a virtual node has dependents; every reference of a seen object to a uid in the graph is a
 * link, unless that uid was gone before (then the object has been told of as work); an owner that waits and a dependent of it are looked at together at least once after they came together.
 */
import { deepEqual, type OwnerReference, type TypeMeta } from '#api'
import {
  identityIn,
  isInReach,
  isNamedBy,
  isOrphaning,
  isWaiting,
  Node,
  noFacts,
  type Identity,
  type ObjectFacts,
} from './node.ts'

export class Graph {
  readonly absent = new AbsentOwners()
  readonly #nodes = new Map<string, Node>()

  get size(): number {
    return this.#nodes.size
  }

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  /** An object came or changed. */
  observe(identity: Identity, facts: ObjectFacts): Work {
    const work = noWork()
    const known = this.#nodes.get(identity.uid)
    const before = known?.facts ?? noFacts
    if (known?.isVirtual) this.#meet(known, identity, work)
    const node = known ?? new Node(identity, { facts, isVirtual: false })
    if (!known) this.#nodes.set(identity.uid, node)
    node.identity = identity
    node.facts = facts
    node.isVirtual = false
    if (!deepEqual(before.owners, facts.owners)) this.#relink(node, before.owners, work)
    this.#advance(node, before, work)
    return work
  }

  /** An object went. */
  remove(uid: string): Work {
    const work = noWork()
    const node = this.#nodes.get(uid)
    if (node) this.#take(node, work)
    return work
  }

  /** The server says that there is no such object at this place; with `namespace` empty, for a kind that has none. */
  verifyAbsent(identity: Identity): Work {
    const work = noWork()
    const node = this.#nodes.get(identity.uid)
    if (!node) return work
    if (!node.isVirtual && isSame(node.identity, identity)) {
      this.#take(node, work)
      return work
    }
    this.absent.add(identity)
    const wrong: Node[] = []
    for (const dependent of node.dependents) {
      const { isRight, isWrong } = coordinatesMatch(dependent, identity)
      if (isRight) work.deletes.push(dependent.uid)
      if (isWrong) wrong.push(dependent)
    }
    if (!node.isVirtual) return work
    const next = nextIdentity(wrong, identity)
    if (!next) {
      this.#nodes.delete(node.uid)
      return work
    }
    node.identity = next
    work.later.push(node.uid)
    return work
  }

  /** A kind is followed no more: what is not needed as an owner is forgotten, the rest is as if never seen. */
  lose({ apiVersion, kind }: TypeMeta): Work {
    const work = noWork()
    for (const node of [...this.#nodes.values()]) {
      if (node.isVirtual || node.identity.kind !== kind || node.identity.apiVersion !== apiVersion) continue
      this.#detach(node, work)
      node.facts = noFacts
      node.isVirtual = true
      if (node.dependentsCount > 0) work.deletes.push(node.uid)
      else this.#nodes.delete(node.uid)
    }
    return work
  }

  /** Whether waiting owners block each other in a ring that goes through this one, so that none would ever go. */
  isInRing(node: Node): boolean {
    const seen = new Set<Node>()
    const open = [node]
    for (let next = open.pop(); next; next = open.pop()) {
      for (const { uid } of next.facts.owners) {
        const owner = this.#nodes.get(uid)
        if (!owner?.isWaiting || !owner.isBlockedBy(next)) continue
        if (owner === node) return true
        if (!seen.has(owner)) open.push(owner)
        seen.add(owner)
      }
    }
    return false
  }

  /** A virtual node turns out to be real: those that named it otherwise than it is may have lost it. */
  #meet(node: Node, identity: Identity, work: Work): void {
    if (isSame(node.identity, identity)) return
    for (const dependent of node.dependents) {
      if (!coordinatesMatch(dependent, identity).isWrong) continue
      this.#reportMisplaced(dependent, identity, work)
      work.deletes.push(dependent.uid)
    }
  }

  #relink(node: Node, before: readonly OwnerReference[], work: Work): void {
    const after = node.facts.owners
    let isDoubtful = false
    for (const { uid } of before) {
      if (after.some((reference) => reference.uid === uid)) continue
      this.#unlink(node, uid, work)
      // What was not judged because of the owner that is left out now must be judged again.
      isDoubtful ||= after.length > 0
    }
    for (const { uid } of after) {
      const owner = this.#nodes.get(uid)
      if (owner) isDoubtful = this.#link(node, owner, work) || isDoubtful
      else if (!before.some((reference) => reference.uid === uid)) this.#linkUnseen(node, uid, work)
    }
    if (isDoubtful) work.deletes.push(node.uid)
  }

  /** Says whether the owner may not be what it is taken for, or is going. */
  #link(node: Node, owner: Node, work: Work): boolean {
    const references = referencesTo(node, owner.uid)
    const isBlocking = references.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
    if (owner.isBlockedBy(node) && !isBlocking) work.deletes.push(owner.uid)
    owner.link(node, isBlocking)
    if (!owner.isVirtual) this.#reportMisplaced(node, owner.identity, work)
    const { namespace } = node.identity
    const isDoubtful =
      !isInReach(owner.identity, namespace) || references.some((reference) => !isNamedBy(owner.identity, reference))
    return isDoubtful || owner.isWaiting || (owner.isVirtual && owner.identity.namespace !== namespace)
  }

  #linkUnseen(node: Node, uid: string, work: Work): void {
    const [reference] = referencesTo(node, uid)
    if (!reference) return
    const owner = new Node(identityIn(node.identity.namespace, reference), { facts: noFacts, isVirtual: true })
    this.#nodes.set(uid, owner)
    this.#link(node, owner, work)
    work.deletes.push(uid)
  }

  #unlink(node: Node, uid: string, work: Work): void {
    const owner = this.#nodes.get(uid)
    if (!owner) return
    if (owner.isBlockedBy(node)) work.deletes.push(uid)
    owner.unlink(node)
    if (owner.isVirtual && owner.dependentsCount === 0) this.#nodes.delete(uid)
  }

  /** Begins what a deletion asks for, once. */
  #advance(node: Node, before: ObjectFacts, work: Work): void {
    const { facts } = node
    if (isOrphaning(facts)) {
      node.orphanedAt = facts.deletedAt
      if (!isOrphaning(before)) work.orphans.push(node.uid)
    }
    if (!isWaiting(facts) || isWaiting(before)) return
    for (const { uid } of node.dependents) work.deletes.push(uid)
    work.deletes.push(node.uid)
  }

  #take(node: Node, work: Work): void {
    this.#nodes.delete(node.uid)
    if (node.orphanedAt !== '') this.absent.noteOrphaned(node.uid, node.orphanedAt)
    if (node.dependentsCount > 0) this.absent.add(node.identity)
    for (const { uid } of node.dependents) work.deletes.push(uid)
    this.#detach(node, work)
  }

  #detach(node: Node, work: Work): void {
    for (const { uid } of node.facts.owners) {
      if (this.#nodes.get(uid)?.isWaiting) work.deletes.push(uid)
      this.#unlink(node, uid, work)
    }
  }

  #reportMisplaced(dependent: Node, owner: Identity, work: Work): void {
    const [reference] = referencesTo(dependent, owner.uid)
    if (reference && !isInReach(owner, dependent.identity.namespace))
      work.misplaced.push({ dependent: dependent.identity, reference })
  }
}

function isSame(a: Identity, b: Identity): boolean {
  return a.kind === b.kind && a.apiVersion === b.apiVersion && a.namespace === b.namespace && a.name === b.name
}

/*
 * When dependents disagree on where their owner is: same uid, other kind, name or namespace.
 *
 * A reference is only as good as what it says: a uid that exists under another name does not keep a dependent alive. But
 * what one dependent says wrongly must not cost another its life either, so each is judged by its own words.
 */

/** Whether a dependent names its owner as it is, otherwise than it is, or, with several references, both. */
function coordinatesMatch(dependent: Node, owner: Identity): { readonly isRight: boolean; readonly isWrong: boolean } {
  if (!isInReach(owner, dependent.identity.namespace)) return { isRight: false, isWrong: true }
  const references = referencesTo(dependent, owner.uid)
  return {
    isRight: references.some((reference) => isNamedBy(owner, reference)),
    isWrong: references.some((reference) => !isNamedBy(owner, reference)),
  }
}

function referencesTo({ facts: { owners } }: Node, uid: string): OwnerReference[] {
  return owners.filter((reference) => reference.uid === uid)
}

/**
 * The next place to look for an owner that is not where it was looked for, by the words of its dependents; undefined when
 * all of them name that one place.
 *
 * Places are tried in a fixed order, around in a ring, so that none is left out however often this is asked.
 */
function nextIdentity(dependents: Iterable<Node>, absent: Identity): Identity | undefined {
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

/*
 * Owners that are known not to exist, so that ten thousand children of one owner ask for it once.
 *
 * An owner is absent under the name, kind and namespace by which it was looked for: the same uid may well be there under
 * another name, when a reference is wrong. Uids are never given twice, so what is absent stays absent.
 *
 * Invariant: no more than `sizeMax` of each are remembered, the least recently used are forgotten first; forgetting costs
 * a question to the server, nothing else.
 */

export class AbsentOwners {
  readonly #absent: Recent<true>
  readonly #orphanedAt: Recent<string>

  /** @param options.sizeMax 1000 unless it is given */
  constructor({ sizeMax = 1000 }: { sizeMax?: number } = {}) {
    this.#absent = new Recent(sizeMax)
    this.#orphanedAt = new Recent(sizeMax)
  }

  add(identity: Identity): void {
    this.#absent.set(textOf(identity), true)
  }

  has(identity: Identity): boolean {
    return this.#absent.get(textOf(identity)) === true
  }

  /** Remembers that an owner went, or goes, without its dependents, and when that was wanted. */
  noteOrphaned(uid: string, deletedAt: string): void {
    this.#orphanedAt.set(uid, deletedAt)
  }

  /**
   * Whether the owner left this dependent behind on purpose. Those that were there when its deletion was wanted are meant;
   * what was made later for an owner that was going is garbage like any other.
   */
  hasOrphaned(uid: string, createdAt: string): boolean {
    const deletedAt = this.#orphanedAt.get(uid)
    // RFC 3339 in UTC, by the second, both by the server: text order is time order.
    return deletedAt !== undefined && createdAt <= deletedAt
  }
}

class Recent<V> {
  readonly #sizeMax: number
  readonly #values = new Map<string, V>()

  constructor(sizeMax: number) {
    if (!(Number.isInteger(sizeMax) && sizeMax >= 1))
      throw new RangeError(`sizeMax must be a whole number of 1 or more, got ${sizeMax}`)
    this.#sizeMax = sizeMax
  }

  get(key: string): V | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: V): void {
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values.keys()
    if (this.#values.size > this.#sizeMax && oldest !== undefined) this.#values.delete(oldest)
  }
}

function textOf({ apiVersion, kind, namespace, name, uid }: Identity): string {
  return JSON.stringify([uid, apiVersion, kind, namespace, name])
}

/*
 * What follows from a change of the graph: whom to look at, whose dependents to set free, whom to warn about.
 */

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

function noWork(): Work {
  return { deletes: [], later: [], orphans: [], misplaced: [] }
}
