/**
 * The namespace lifecycle, the one admission rule that always holds: no new objects in a namespace that is missing or
 * being deleted, and some namespaces cannot be deleted.
 *
 * The create handler calls it directly because it returns a condition of the commit. Hooks, policies and webhooks are
 * plugins; see `plugins.ts`.
 */
import { forbidden, namespaceTerminating, notFound } from '#api'
import type { Check } from '#store'
import type { ResourceRef } from '../request-context.ts'
import { objectKey, type Storage } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'

const namespaceStorage = { group: '', plural: 'namespaces', version: 'v1', kind: 'Namespace' }
const protectedNamespaces: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])
const noChecks: readonly Check[] = []

interface NamespaceState {
  readonly revision: number
  readonly terminating: boolean
}

/** When this many namespaces are remembered, all are dropped. */
const statesMax = 10_000

export class NamespaceLifecycle {
  readonly #storage: Storage
  /** The last seen state of each namespace by key, so that a create does not parse it again. */
  readonly #states = new Map<string, NamespaceState>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  /**
   * Checks that the namespace of a new object exists and is not being deleted.
   *
   * @returns the condition that keeps this true until the commit: the namespace is at the revision that was read.
   * @throws {ApiError} `NotFound` or `Forbidden`
   */
  async requireActive({ resource, namespace }: ResourceRef, name: string): Promise<readonly Check[]> {
    if (namespace === '') return noChecks
    const key = objectKey(this.#storage.cluster, namespaceStorage, { name: namespace })
    const found = await this.#storage.store.get(key)
    if (!found.ok || found.entry === undefined) throw notFound({ kind: 'namespaces', name: namespace })
    const { value, revision } = found.entry
    if (this.#isTerminating(key, value, revision))
      throw namespaceTerminating({ group: resource.group, kind: resource.plural, name }, namespace)
    return [{ key, expect: revision }]
  }

  #isTerminating(key: string, value: Uint8Array, revision: number): boolean {
    const last = this.#states.get(key)
    if (last?.revision === revision) return last.terminating
    const terminating = new StoredObject(value, revision).object.metadata.deletionTimestamp !== undefined
    if (this.#states.size > statesMax) this.#states.clear()
    this.#states.set(key, { revision, terminating })
    return terminating
  }
}

/**
 * Refuses to delete a namespace that the server needs.
 *
 * @throws {ApiError} `Forbidden`
 */
export function refuseProtectedNamespace({ resource }: ResourceRef, name: string): void {
  if (resource.isNamespace && protectedNamespaces.has(name))
    throw forbidden({ kind: 'namespaces', name }, 'this namespace may not be deleted')
}
