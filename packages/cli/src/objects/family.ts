/**
 * Who belongs to whom: every object of the server by its owner references, read as metadata alone.
 */
import type { KubeObject } from 'evenkeel/api'
import { metadataOnly } from 'evenkeel/client'
import type { Client, DiscoveredResource } from 'evenkeel/client'

/** Lists that go on at a time. */
const listsMax = 8

/** Events are about others; the state of components is no object. */
const leftOut = new Set(['Event', 'ComponentStatus'])

export interface Member {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: KubeObject['metadata']
}

export interface Family {
  /** Those whose owner references name this uid. */
  childrenOf(uid: string): readonly Member[]
  find(uid: string): Member | undefined
  /** Kinds that could not be listed, and why. */
  readonly unread: readonly { readonly kind: string; readonly why: string }[]
}

/** Reads every kind that can be listed; those that may not be are told, not fatal. */
export async function readFamily(
  client: Client,
  { namespace, signal }: { namespace?: string | undefined; signal: AbortSignal },
): Promise<Family> {
  const kinds = (await client.resources()).filter(({ verbs, kind }) => verbs.includes('list') && !leftOut.has(kind))
  const members: Member[] = []
  const unread: { kind: string; why: string }[] = []
  const left = [...kinds]
  const work = async (): Promise<void> => {
    for (let kind = left.shift(); kind; kind = left.shift())
      await listOne(client, kind, { namespace, signal, members, unread })
  }
  await Promise.all(Array.from({ length: listsMax }, work))
  return familyOf(members, unread)
}

interface Collected {
  readonly namespace?: string | undefined
  readonly signal: AbortSignal
  readonly members: Member[]
  readonly unread: { kind: string; why: string }[]
}

async function listOne(
  client: Client,
  { apiVersion, kind, namespaced }: DiscoveredResource,
  { namespace, signal, members, unread }: Collected,
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

/** The same from members that were read already. */
function familyOf(members: readonly Member[], unread: Family['unread'] = []): Family {
  const byUid = new Map<string, Member>()
  const byOwner = new Map<string, Member[]>()
  for (const member of members) {
    const { uid, ownerReferences = [] } = member.metadata
    // One object under two versions of its group is one object.
    if (uid === undefined || byUid.has(uid)) continue
    byUid.set(uid, member)
    for (const { uid: owner } of ownerReferences) byOwner.set(owner, [...(byOwner.get(owner) ?? []), member])
  }
  for (const children of byOwner.values()) children.sort(compareMembers)
  return { childrenOf: (uid) => byOwner.get(uid) ?? [], find: (uid) => byUid.get(uid), unread }
}

function compareMembers(a: Member, b: Member): number {
  const [left, right] = [a, b].map(({ kind, metadata: { name = '' } }) => `${kind}/${name}`)
  return (left ?? '') < (right ?? '') ? -1 : 1
}
