/**
 * An object and its dependents, each with its state: for `evenkeel tree` and `evenkeel mcp`.
 */
import type { KubeObject } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { stateOf, type ObjectState } from './object-state.ts'
import { readOwnerGraph, type OwnedObject, type OwnerGraph } from './owner-graph.ts'

const depthMax = 12

export interface Branch {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly state: ObjectState
  readonly children: readonly Branch[]
}

/** Reads the dependents of an object, and which kinds could not be listed. */
export async function readTree(
  client: Client,
  root: KubeObject,
  { signal }: { readonly signal: AbortSignal },
): Promise<{ readonly branch: Branch; readonly unreadKinds: OwnerGraph['unreadKinds'] }> {
  const family = await readOwnerGraph(client, { namespace: root.metadata.namespace, signal })
  const branch = await grow(client, root, { family, signal, depth: 0, above: new Set() })
  return { branch, unreadKinds: family.unreadKinds }
}

interface Growing {
  readonly family: OwnerGraph
  readonly signal: AbortSignal
  readonly depth: number
  /** The uids above: stops at a cycle of owners. */
  readonly above: ReadonlySet<string>
}

async function grow(
  client: Client,
  member: OwnedObject | KubeObject,
  { family, signal, depth, above }: Growing,
): Promise<Branch> {
  const {
    apiVersion,
    kind,
    metadata: { name = '', namespace, uid = '' },
  } = member
  const whole =
    'spec' in member || 'status' in member
      ? member
      : await client.find({ apiVersion, kind }, { name, ...(namespace !== undefined && { namespace }) }, { signal })
  const within = new Set([...above, uid])
  const next = depth >= depthMax ? [] : family.childrenOf(uid).filter(({ metadata }) => !within.has(metadata.uid ?? ''))
  const children = await Promise.all(
    next.map((child) => grow(client, child, { family, signal, depth: depth + 1, above: within })),
  )
  return {
    apiVersion,
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    state: whole ? stateOf(whole) : { word: 'Gone', isGood: false, why: 'it was deleted in the meantime' },
    children,
  }
}
