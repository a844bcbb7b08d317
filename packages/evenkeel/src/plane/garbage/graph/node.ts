/**
 * One object in the graph, or one that is only spoken of: a *virtual* node stands for an owner that somebody names and
 * nobody has seen.
 *
 * Invariants: `blockingCount` is the number of dependents that block; a node is in the dependents of another exactly
 * while one of its references names the other's uid and the other is in the graph. Only the graph changes nodes.
 */
import { isWaiting } from './facts.ts'
import type { ObjectFacts, Identity } from './facts.ts'

export class Node {
  identity: Identity
  facts: ObjectFacts
  /** Named by others, not seen yet. */
  isVirtual: boolean
  /** When it was wanted that it goes without its dependents; stays when the finalizer is gone. */
  orphanedAt = ''
  /** Who names it as an owner, and whether it blocks. Most objects have none. */
  #dependents: Map<Node, boolean> | undefined
  #blockingCount = 0

  constructor(identity: Identity, { facts, isVirtual }: { facts: ObjectFacts; isVirtual: boolean }) {
    this.identity = identity
    this.facts = facts
    this.isVirtual = isVirtual
  }

  get uid(): string {
    return this.identity.uid
  }

  get isBeingDeleted(): boolean {
    return this.facts.deletedAt !== ''
  }

  /** Being deleted, with its dependents before it. */
  get isWaiting(): boolean {
    return isWaiting(this.facts)
  }

  get dependents(): Iterable<Node> {
    return this.#dependents?.keys() ?? []
  }

  get dependentsCount(): number {
    return this.#dependents?.size ?? 0
  }

  /** Dependents that must go before it does, when it waits. */
  get blockingCount(): number {
    return this.#blockingCount
  }

  isBlockedBy(dependent: Node): boolean {
    return this.#dependents?.get(dependent) ?? false
  }

  link(dependent: Node, isBlocking: boolean): void {
    this.#dependents ??= new Map()
    this.#blockingCount += Number(isBlocking) - Number(this.isBlockedBy(dependent))
    this.#dependents.set(dependent, isBlocking)
  }

  unlink(dependent: Node): void {
    this.#blockingCount -= Number(this.isBlockedBy(dependent))
    this.#dependents?.delete(dependent)
    if (this.#dependents?.size === 0) this.#dependents = undefined
  }
}
