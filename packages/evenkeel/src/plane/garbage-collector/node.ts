/**
 * One object in the graph, or one that is only spoken of: a *virtual* node stands for an owner that somebody names and
 * nobody has seen.
 *
 * Invariants: `blockingCount` is the number of dependents that block; a node is in the dependents of another exactly
 * while one of its references names the other's uid and the other is in the graph. Only the graph changes nodes.
 */
import {
  foregroundFinalizer,
  orphanFinalizer,
  type KubeObject,
  type ObjectMeta,
  type OwnerReference,
  type TypeMeta,
} from '#api'

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

/*
 * What the collector knows of one object: where it is, whose it is, and how far its deletion has come.
 *
 * Nothing else of an object is looked at, so nothing else is kept in memory.
 */

/** Where an object is, or is said to be. */
export interface Identity extends TypeMeta {
  /** Empty for objects of the whole cluster. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface ObjectFacts {
  /** Empty when it was never seen. */
  readonly version: string
  readonly owners: readonly OwnerReference[]
  readonly createdAt: string
  /** Empty while it is not being deleted; from then on it is never empty again. */
  readonly deletedAt: string
  readonly hasOrphanFinalizer: boolean
  readonly hasForegroundFinalizer: boolean
}

/** Of an object that was never seen. */
export const noFacts: ObjectFacts = {
  version: '',
  owners: [],
  createdAt: '',
  deletedAt: '',
  hasOrphanFinalizer: false,
  hasForegroundFinalizer: false,
}

export function identityOf({
  apiVersion,
  kind,
  metadata: { namespace = '', name = '', uid = '' },
}: KubeObject): Identity {
  return { apiVersion, kind, namespace, name, uid }
}

export function factsOf({
  resourceVersion = '',
  ownerReferences = [],
  creationTimestamp,
  deletionTimestamp = '',
  finalizers = [],
}: ObjectMeta): ObjectFacts {
  return {
    version: resourceVersion,
    owners: ownerReferences,
    createdAt: creationTimestamp ?? '',
    deletedAt: deletionTimestamp,
    hasOrphanFinalizer: finalizers.includes(orphanFinalizer),
    hasForegroundFinalizer: finalizers.includes(foregroundFinalizer),
  }
}

/** Being deleted, and its dependents are to lose it first. */
export function isOrphaning({ deletedAt, hasOrphanFinalizer }: ObjectFacts): boolean {
  return deletedAt !== '' && hasOrphanFinalizer
}

/** Being deleted, and its dependents are to go first. With both finalizers it orphans first: what is orphaned is safe. */
export function isWaiting({ deletedAt, hasOrphanFinalizer, hasForegroundFinalizer }: ObjectFacts): boolean {
  return deletedAt !== '' && hasForegroundFinalizer && !hasOrphanFinalizer
}

/** Whether a reference names an object exactly as it is. */
export function isNamedBy({ apiVersion, kind, name, uid }: Identity, reference: OwnerReference): boolean {
  return (
    reference.uid === uid && reference.name === name && reference.kind === kind && reference.apiVersion === apiVersion
  )
}

/** Whether objects of a namespace can belong to it: owners live beside what they own, or above all namespaces. */
export function isInReach({ namespace: own }: Identity, namespace: string): boolean {
  return own === '' || own === namespace
}

/** What a reference says of its owner, as seen from a namespace. */
export function identityIn(namespace: string, { apiVersion, kind, name, uid }: OwnerReference): Identity {
  return { apiVersion, kind, namespace, name, uid }
}
