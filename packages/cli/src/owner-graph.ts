/**
 * The owner graph: all objects of the server by their owner references. Reads only metadata.
 */
import type { KubeObject } from 'evenkeel'
import { metadataOnly } from 'evenkeel/client'
import type { Client, DiscoveredResource } from 'evenkeel/client'

/** How many lists run at a time. */
const listsMax = 8

/** Events are no dependents; a ComponentStatus is not stored. */
const leftOut = new Set(['Event', 'ComponentStatus'])

export interface OwnedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: KubeObject['metadata']
}

export interface OwnerGraph {
  /** The objects whose owner references name this uid. */
  childrenOf(uid: string): readonly OwnedObject[]
  find(uid: string): OwnedObject | undefined
  /** Kinds that could not be listed, with the reason. */
  readonly unreadKinds: readonly { readonly kind: string; readonly why: string }[]
}

/** Lists every kind. A kind that may not be listed is recorded in `unreadKinds`. */
export async function readOwnerGraph(
  client: Client,
  { namespace, signal }: { namespace?: string | undefined; signal: AbortSignal },
): Promise<OwnerGraph> {
  const kinds = (await client.resources()).filter(({ verbs, kind }) => verbs.includes('list') && !leftOut.has(kind))
  const members: OwnedObject[] = []
  const unread: { kind: string; why: string }[] = []
  const left = [...kinds]
  const work = async (): Promise<void> => {
    for (let kind = left.shift(); kind; kind = left.shift())
      await listOne(client, kind, { namespace, signal, members, unread })
  }
  await Promise.all(Array.from({ length: listsMax }, work))
  return ownerGraphOf(members, unread)
}

interface ListResults {
  readonly namespace?: string | undefined
  readonly signal: AbortSignal
  readonly members: OwnedObject[]
  readonly unread: { kind: string; why: string }[]
}

async function listOne(
  client: Client,
  { apiVersion, kind, namespaced }: DiscoveredResource,
  { namespace, signal, members, unread }: ListResults,
): Promise<void> {
  try {
    const { items } = await client.list(metadataOnly({ apiVersion, kind }), {
      signal,
      ...(namespaced && namespace !== undefined && { namespace }),
    })
    for (const { metadata } of items) members.push({ apiVersion, kind, metadata })
  } catch (error) {
    if (signal.aborted) throw error
    unread.push({ kind, why: (error as Error).message })
  }
}

/** Builds the graph from objects that were already read. */
function ownerGraphOf(members: readonly OwnedObject[], unread: OwnerGraph['unreadKinds'] = []): OwnerGraph {
  const byUid = new Map<string, OwnedObject>()
  const byOwner = new Map<string, OwnedObject[]>()
  for (const member of members) {
    const { uid, ownerReferences = [] } = member.metadata
    // Two versions of a group list the same object.
    if (uid === undefined || byUid.has(uid)) continue
    byUid.set(uid, member)
    for (const { uid: owner } of ownerReferences) byOwner.set(owner, [...(byOwner.get(owner) ?? []), member])
  }
  for (const children of byOwner.values()) children.sort(compareOwnedObjects)
  return { childrenOf: (uid) => byOwner.get(uid) ?? [], find: (uid) => byUid.get(uid), unreadKinds: unread }
}

function compareOwnedObjects(a: OwnedObject, b: OwnedObject): number {
  const [left, right] = [a, b].map(({ kind, metadata: { name = '' } }) => `${kind}/${name}`)
  return (left ?? '') < (right ?? '') ? -1 : 1
}
