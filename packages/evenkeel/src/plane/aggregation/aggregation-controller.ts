/**
 * Keeps ClusterRoles up to date that gather others by labels: who adds a role for a new kind and labels it
 * `rbac.authorization.k8s.io/aggregate-to-view: "true"` has extended `view`, and with it `edit` and `admin`.
 *
 * A gathering role may itself be gathered, so one change can go several steps; each step is a write that the next hears
 * of. Roles that gather each other come to rest, because rules only differ or are the same.
 */
import { declareKind, deepEqual } from '#api'
import { watching } from '#controller'
import type { ControllerDeclaration } from '#controller'
import { aggregateRules, aggregates } from './gather-rules.ts'
import type { ClusterRoleObject } from './gather-rules.ts'

const group = 'rbac.authorization.k8s.io'
const clusterRoleKind = declareKind<ClusterRoleObject>({
  group,
  version: 'v1',
  kind: 'ClusterRole',
  scope: 'Cluster',
  statusSubresource: false,
})
const name = 'clusterrole-aggregation-controller'

export function aggregationController(): ControllerDeclaration<typeof clusterRoleKind> {
  return {
    name,
    for: clusterRoleKind,
    concurrency: 5,
    watches: [
      watching(clusterRoleKind, {
        map: (changed, { cache }) =>
          cache
            .list(clusterRoleKind)
            .filter((role) => aggregates(role, changed))
            .map(({ metadata }) => ({ name: metadata.name })),
      }),
    ],
    // It may write rules that it does not hold: it only passes on what others were allowed to write.
    rbac: [{ apiGroups: [group], resources: ['clusterroles'], verbs: ['escalate', 'patch'] }],
    async reconcile(role, { client, signal }) {
      const rules = aggregateRules(role, (await client.list(clusterRoleKind, { signal })).items)
      if (rules === undefined || deepEqual(rules, role.rules ?? [])) return
      await client.apply(
        clusterRoleKind,
        { metadata: { name: role.metadata.name }, ...(rules.length > 0 && { rules }) },
        { fieldManager: name, force: true, signal },
      )
    },
  }
}
