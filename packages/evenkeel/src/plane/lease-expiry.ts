/**
 * Deletes the leases by which API servers say that they are there, once their holders have fallen silent.
 *
 * Invariants: a lease that is renewed at the very moment stays, because it is deleted only in the state that was judged;
 * leases that elect leaders are not touched.
 */
import { declareKind, isConflict, parseTime } from '#api'
import type { KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'

interface LeaseObject extends KubeObject {
  readonly spec?: { readonly renewTime?: string | null; readonly leaseDurationSeconds?: number | null }
}

const leaseKind = declareKind<LeaseObject>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  statusSubresource: false,
})

/** What API servers put on their leases. */
const identityLabel = 'apiserver.kubernetes.io/identity'

export function leaseExpiryController(): ControllerDeclaration<typeof leaseKind> {
  return {
    name: 'lease-expiry',
    for: leaseKind,
    namespaces: ['kube-system', 'kube-node-lease'],
    labelSelector: identityLabel,
    rbac: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['delete'] }],
    async reconcile(lease, { client, clock, signal }) {
      const leftMs = expiryMs(lease) - clock.now()
      if (leftMs >= 0) return { afterMs: leftMs + 1 }
      const { uid, resourceVersion } = lease.metadata
      try {
        await client.delete(lease, { preconditions: { uid, resourceVersion }, ignoreNotFound: true, signal })
      } catch (error) {
        // Renewed after all: its event brings it back here.
        if (!isConflict(error)) throw error
      }
      return undefined
    },
  }
}

/** When a lease ends; one that does not say has ended. */
function expiryMs({ spec }: LeaseObject): number {
  const renewedMs = typeof spec?.renewTime === 'string' ? parseTime(spec.renewTime) : undefined
  return renewedMs === undefined || typeof spec?.leaseDurationSeconds !== 'number'
    ? -Infinity
    : renewedMs + spec.leaseDurationSeconds * 1000
}
