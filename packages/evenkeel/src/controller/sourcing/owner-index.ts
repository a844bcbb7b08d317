/**
 * Objects by the UIDs of their owners: how a parent finds its children without looking at everybody else's.
 */
import type { KubeObject } from '#api'

/** The name of the index that every owned kind has in the cache. */
export const ownerIndex = 'owner uid'

/** One function for all: who adds the same index again shares it. */
export function ownerUids({ metadata: { ownerReferences = [] } }: KubeObject): readonly string[] {
  return ownerReferences.map(({ uid }) => uid)
}
