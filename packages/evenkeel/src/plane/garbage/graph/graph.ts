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
import { deepEqual } from '#api'
import type { OwnerReference, TypeMeta } from '#api'
import { AbsentOwners } from './absent.ts'
import { coordinatesMatch, nextIdentity, referencesTo } from './coordinates.ts'
import { identityIn, isInReach, isNamedBy, isOrphaning, isWaiting, noFacts } from './facts.ts'
import type { ObjectFacts, Identity } from './facts.ts'
import { Node } from './node.ts'
import { noWork } from './work.ts'
import type { Work } from './work.ts'

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
