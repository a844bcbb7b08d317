/**
 * A node of the ownership graph: an object, or a *virtual* node for an owner that is referenced and not observed yet.
 *
 * A node keeps only what the collector needs: coordinates, owner references and the state of the deletion.
 *
 * Invariants: `blockingCount` is the number of dependents with `blockOwnerDeletion`; a node is among the dependents of
 * another exactly while one of its owner references has the UID of the other and the other is in the graph. Only the graph
 * changes nodes.
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
  /** Referenced, and not observed yet. */
  isVirtual: boolean
  /** When its orphan deletion was requested; kept after the finalizer is removed. */
  orphanedAt = ''
  /** Its dependents, and whether each blocks. Undefined if empty, as for most objects. */
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

  /** In foreground deletion: its dependents are deleted first. */
  get isWaiting(): boolean {
    return isWaiting(this.facts)
  }

  get dependents(): Iterable<Node> {
    return this.#dependents?.keys() ?? []
  }

  get dependentsCount(): number {
    return this.#dependents?.size ?? 0
  }

  /** Dependents that block its foreground deletion. */
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

/** The coordinates of an object, observed or referenced. */
export interface Identity extends TypeMeta {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface ObjectFacts {
  /** Empty if it was never observed. */
  readonly version: string
  readonly owners: readonly OwnerReference[]
  readonly createdAt: string
  /** Empty while it is not being deleted. */
  readonly deletedAt: string
  readonly hasOrphanFinalizer: boolean
  readonly hasForegroundFinalizer: boolean
}

/** The facts of an object that was never observed. */
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

/** In orphan deletion: its dependents lose their owner reference first. */
export function isOrphaning({ deletedAt, hasOrphanFinalizer }: ObjectFacts): boolean {
  return deletedAt !== '' && hasOrphanFinalizer
}

/** In foreground deletion. With both finalizers it orphans first, which is the safe order. */
export function isWaiting({ deletedAt, hasOrphanFinalizer, hasForegroundFinalizer }: ObjectFacts): boolean {
  return deletedAt !== '' && hasForegroundFinalizer && !hasOrphanFinalizer
}

/** Whether a reference has exactly the coordinates of an object. */
export function isNamedBy({ apiVersion, kind, name, uid }: Identity, reference: OwnerReference): boolean {
  return (
    reference.uid === uid && reference.name === name && reference.kind === kind && reference.apiVersion === apiVersion
  )
}

/** Whether it can own objects of a namespace: it is in the same namespace, or cluster-scoped. */
export function isInReach({ namespace: own }: Identity, namespace: string): boolean {
  return own === '' || own === namespace
}

/** The coordinates of a reference in an object of a namespace. */
export function identityIn(namespace: string, { apiVersion, kind, name, uid }: OwnerReference): Identity {
  return { apiVersion, kind, namespace, name, uid }
}
