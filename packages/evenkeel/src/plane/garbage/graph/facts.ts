/**
 * What the collector knows of one object: where it is, whose it is, and how far its deletion has come.
 *
 * Nothing else of an object is looked at, so nothing else is kept in memory.
 */
import { foregroundFinalizer, orphanFinalizer } from '#api'
import type { KubeObject, ObjectMeta, OwnerReference, TypeMeta } from '#api'

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
