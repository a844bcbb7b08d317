/**
 * Room 10: does a policy object?
 *
 * Before: `validate` found the object well-formed. After: `persist` writes it. Here is the one policy that always holds,
 * the life of namespaces: nothing new in a namespace that is missing or being deleted, and some namespaces stay for ever.
 * Hooks, policies and webhooks are in `admission/`; the walks ask them through `admission/write-admission.ts`.
 */
import { forbidden, namespaceTerminating, notFound } from '#api'
import type { Check } from '#store'
import type { ResourceRef, ServerContext } from '../request-context.ts'
import { objectKey } from '../storage/storage.ts'
import { StoredObject } from '../storage/stored-object.ts'

const namespaces = { group: '', plural: 'namespaces', version: 'v1', kind: 'Namespace' }
const protectedNamespaces: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

interface NamespaceState {
  readonly revision: number
  readonly terminating: boolean
}

/** What was last seen of each namespace, by key, so that a create need not parse it again. Bounded by dropping all. */
const namespaceStates = new WeakMap<object, Map<string, NamespaceState>>()
const namespaceStatesMax = 10_000

/**
 * Lets something be made in a namespace that is there and stays.
 *
 * @returns the condition under which this holds until the commit: the namespace is as it was seen.
 * @throws {ApiError} `NotFound` or `Forbidden`
 */
export async function requireActiveNamespace(
  { resource, namespace }: ResourceRef,
  name: string,
  server: ServerContext,
): Promise<readonly Check[]> {
  if (namespace === '') return []
  const key = objectKey(server.cluster, namespaces, { name: namespace })
  const found = await server.store.get(key)
  if (!found.ok || found.entry === undefined) throw notFound({ kind: 'namespaces', name: namespace })
  const { value, revision } = found.entry
  if (isTerminating(server.store, key, { value, revision }))
    throw namespaceTerminating({ group: resource.group, kind: resource.plural, name }, namespace)
  return [{ key, expect: revision }]
}

/**
 * Lets something be deleted, unless the server cannot do without it.
 *
 * @throws {ApiError} `Forbidden`
 */
export function refuseProtectedNamespace({ resource: { group, plural } }: ResourceRef, name: string): void {
  if (group === '' && plural === 'namespaces' && protectedNamespaces.has(name))
    throw forbidden({ kind: 'namespaces', name }, 'this namespace may not be deleted')
}

function isTerminating(
  store: object,
  key: string,
  { value, revision }: { value: Uint8Array; revision: number },
): boolean {
  let known = namespaceStates.get(store)
  if (known === undefined || known.size > namespaceStatesMax) namespaceStates.set(store, (known = new Map()))
  const last = known.get(key)
  if (last?.revision === revision) return last.terminating
  const terminating = new StoredObject(value, revision).object.metadata.deletionTimestamp !== undefined
  known.set(key, { revision, terminating })
  return terminating
}
