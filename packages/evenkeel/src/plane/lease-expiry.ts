/**
 * Deletes expired identity leases of API servers.
 *
 * Invariants: a lease that is renewed in the meantime stays, because its resourceVersion is a precondition of the delete
 * request; leases of leader elections are not touched.
 */
import { isConflict, parseTime } from '#api'
import type { ControllerDeclaration } from '#controller'
import { leaseKind, type LeaseObject } from '#manager'

/** The label of identity leases of API servers. */
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
        // Renewed in the meantime: its update event starts the next reconcile.
        if (!isConflict(error)) throw error
      }
      return undefined
    },
  }
}

/** When a lease expires; a lease without times has expired. */
function expiryMs({ spec }: LeaseObject): number {
  const renewedMs = typeof spec?.renewTime === 'string' ? parseTime(spec.renewTime) : undefined
  return renewedMs === undefined || typeof spec?.leaseDurationSeconds !== 'number'
    ? -Infinity
    : renewedMs + spec.leaseDurationSeconds * 1000
}
