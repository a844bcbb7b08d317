/**
 * The ownership graph: nodes by UID as the watches report them, and the work that each change causes.
 *
 *   observe ──▶ update node and links          remove ──▶ its dependents have lost an owner: check them
 *   owner not observed yet ──▶ virtual node: look it up; verifyAbsent ──▶ as if it was removed
 *
 * The graph sends no requests: events go in, work comes out. Events of one kind are ordered, events of different kinds are
 * not. So a dependent may be observed before its owner, and an owner may be removed before its dependents are observed.
 *
 * Example: ReplicaSet r (UID 1) owns Pod p (UID 2), and p is observed first.
 *
 *   observe p ──▶ p has an owner reference to UID 1, which is unknown: a *virtual node* for r is added and linked to p.
 *                 Work: delete-check 1, which asks the server for r.
 *   a) observe r ──▶ the virtual node becomes real. No work.
 *   b) the server answers 404 ──▶ verifyAbsent(r): r is an *absent owner*, its virtual node is removed.
 *                 Work: delete-check 2. No owner of p exists, so p is deleted.
 *   10,000 pods of r: the absent owner is remembered, so r is looked up once, not 10,000 times.
 *
 * Dependents may disagree about an owner: same UID, but another kind, name or namespace. A reference with wrong
 * coordinates does not keep its dependent alive, and does not affect other dependents: each is checked by its own
 * reference.
 *
 * Invariants: there is one node for each UID; a virtual node has dependents; every owner reference of an observed object
 * to a UID in the graph is a link, unless that owner was removed before (then the object was enqueued); an owner in
 * foreground deletion and each of its dependents are checked at least once after both are known.
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

  /** An object was added or changed. */
  observe(identity: Identity, facts: ObjectFacts): Work {
    const work = noWork()
    const known = this.#nodes.get(identity.uid)
    const before = known?.facts ?? noFacts
    if (known?.isVirtual) this.#materialize(known, identity, work)
    const node = known ?? new Node(identity, { facts, isVirtual: false })
    if (!known) this.#nodes.set(identity.uid, node)
    node.identity = identity
    node.facts = facts
    node.isVirtual = false
    if (!deepEqual(before.owners, facts.owners)) this.#relink(node, before.owners, work)
    this.#startDeletion(node, before, work)
    return work
  }

  /** An object was deleted. */
  remove(uid: string): Work {
    const work = noWork()
    const node = this.#nodes.get(uid)
    if (node) this.#remove(node, work)
    return work
  }

  /** The server has no such object with these coordinates; `namespace` is empty for a cluster-scoped kind. */
  verifyAbsent(identity: Identity): Work {
    const work = noWork()
    const node = this.#nodes.get(identity.uid)
    if (!node) return work
    if (!node.isVirtual && isSame(node.identity, identity)) {
      this.#remove(node, work)
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

  /** A kind is no longer watched: its nodes are removed, or become virtual if they have dependents. */
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

  /** Whether this owner is in a cycle of foreground deletions that block each other forever. */
  isInCycle(node: Node): boolean {
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

  /** A virtual node becomes real: dependents with wrong coordinates are checked again. */
  #materialize(node: Node, identity: Identity, work: Work): void {
    if (isSame(node.identity, identity)) return
    for (const dependent of node.dependents) {
      if (!coordinatesMatch(dependent, identity).isWrong) continue
      this.#reportMisplaced(dependent, identity, work)
      work.deletes.push(dependent.uid)
    }
  }

  #relink(node: Node, before: readonly OwnerReference[], work: Work): void {
    const after = node.facts.owners
    let needsCheck = false
    for (const { uid } of before) {
      if (after.some((reference) => reference.uid === uid)) continue
      this.#unlink(node, uid, work)
      // The removed owner may have kept the object alive.
      needsCheck ||= after.length > 0
    }
    for (const { uid } of after) {
      const owner = this.#nodes.get(uid)
      if (owner) needsCheck = this.#link(node, owner, work) || needsCheck
      else if (!before.some((reference) => reference.uid === uid)) this.#linkVirtual(node, uid, work)
    }
    if (needsCheck) work.deletes.push(node.uid)
  }

  /** Links a dependent. @returns whether it must be checked: wrong coordinates, or an owner in deletion */
  #link(node: Node, owner: Node, work: Work): boolean {
    const references = referencesTo(node, owner.uid)
    const isBlocking = references.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
    if (owner.isBlockedBy(node) && !isBlocking) work.deletes.push(owner.uid)
    owner.link(node, isBlocking)
    if (!owner.isVirtual) this.#reportMisplaced(node, owner.identity, work)
    const { namespace } = node.identity
    const needsCheck =
      !isInReach(owner.identity, namespace) || references.some((reference) => !isNamedBy(owner.identity, reference))
    return needsCheck || owner.isWaiting || (owner.isVirtual && owner.identity.namespace !== namespace)
  }

  #linkVirtual(node: Node, uid: string, work: Work): void {
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

  /** Starts an orphan or foreground deletion, once. */
  #startDeletion(node: Node, before: ObjectFacts, work: Work): void {
    const { facts } = node
    if (isOrphaning(facts)) {
      node.orphanedAt = facts.deletedAt
      if (!isOrphaning(before)) work.orphans.push(node.uid)
    }
    if (!isWaiting(facts) || isWaiting(before)) return
    for (const { uid } of node.dependents) work.deletes.push(uid)
    work.deletes.push(node.uid)
  }

  #remove(node: Node, work: Work): void {
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

/** Whether a dependent has a reference with the right coordinates, one with wrong coordinates, or both. */
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
 * The next coordinates to look up for an absent owner, from the references of its dependents; undefined if all of them
 * name the absent coordinates.
 *
 * Coordinates are tried in a fixed cyclic order, so that none is skipped.
 */
function nextIdentity(dependents: Iterable<Node>, absent: Identity): Identity | undefined {
  let [lowest, next]: (Identity | undefined)[] = []
  for (const dependent of dependents) {
    for (const reference of referencesTo(dependent, absent.uid)) {
      const named = identityFrom(reference, dependent.identity.namespace, absent)
      const order = compare(named, absent)
      if (order === 0) continue
      if (!lowest || compare(named, lowest) < 0) lowest = named
      if (order > 0 && (!next || compare(named, next) < 0)) next = named
    }
  }
  return next ?? lowest
}

/** The coordinates of a reference; without a namespace if the kind is known to be cluster-scoped. */
function identityFrom(
  reference: OwnerReference,
  namespace: string,
  { apiVersion, kind, namespace: absent }: Identity,
): Identity {
  const isClusterScoped = absent === '' && reference.apiVersion === apiVersion && reference.kind === kind
  return identityIn(isClusterScoped ? '' : namespace, reference)
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

/**
 * Owners that do not exist, so that many dependents of one owner need one lookup.
 *
 * An owner is absent with the coordinates of the lookup: the same UID may exist under another name if a reference is
 * wrong. UIDs are never reused, so an absent owner stays absent. Each list keeps at most `sizeMax` entries, the most
 * recently used ones; an evicted entry costs one lookup.
 */
export class AbsentOwners {
  readonly #absent: LruMap<true>
  readonly #orphanedAt: LruMap<string>

  /** @param options.sizeMax @default 1000 */
  constructor({ sizeMax = 1000 }: { sizeMax?: number } = {}) {
    this.#absent = new LruMap(sizeMax)
    this.#orphanedAt = new LruMap(sizeMax)
  }

  add(identity: Identity): void {
    this.#absent.set(textOf(identity), true)
  }

  has(identity: Identity): boolean {
    return this.#absent.get(textOf(identity)) === true
  }

  /** Notes an orphan deletion of an owner, and when it was requested. */
  noteOrphaned(uid: string, deletedAt: string): void {
    this.#orphanedAt.set(uid, deletedAt)
  }

  /**
   * Whether the owner orphaned this dependent. Only dependents that existed when the deletion was requested are orphaned;
   * one that was created later is garbage.
   */
  hasOrphaned(uid: string, createdAt: string): boolean {
    const deletedAt = this.#orphanedAt.get(uid)
    // Both are RFC 3339 in UTC with seconds, by the server, so text order is time order.
    return deletedAt !== undefined && createdAt <= deletedAt
  }
}

class LruMap<V> {
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

/** A dependent with an owner reference to another namespace. */
export interface Misplaced {
  readonly dependent: Identity
  readonly reference: OwnerReference
}

/** The work that a change of the graph causes. */
export interface Work {
  /** UIDs of objects to check for deletion, or for the end of a foreground deletion. May contain duplicates. */
  readonly deletes: string[]
  /** UIDs of virtual nodes to look up with other coordinates, after a delay. */
  readonly later: string[]
  /** UIDs of owners whose dependents must be orphaned. */
  readonly orphans: string[]
  readonly misplaced: Misplaced[]
}

function noWork(): Work {
  return { deletes: [], later: [], orphans: [], misplaced: [] }
}
