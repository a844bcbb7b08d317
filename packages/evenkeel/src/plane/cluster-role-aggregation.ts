/**
 * Aggregates ClusterRoles: a role with the label `rbac.authorization.k8s.io/aggregate-to-view: "true"` extends `view`, and
 * with it `edit` and `admin`.
 *
 * An aggregated role may be aggregated itself, so a change may take several steps; each step is a write that triggers the
 * next. Roles that aggregate each other converge, because a role is written only if its rules differ.
 *
 * The rules of an aggregated role are those of all selected roles, each once, in the order of selectors and names.
 */
import {
  compareText,
  declareKind,
  deepEqual,
  selectsLabels,
  type JsonObject,
  type KubeObject,
  type LabelSelector,
} from '#api'
import { watching, type ControllerDeclaration } from '#controller'

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
    // `escalate`: it writes permissions that it does not have, but only those of existing roles.
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

export interface ClusterRoleObject extends KubeObject {
  readonly rules?: readonly JsonObject[] | null
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] } | null
}

/** Whether a role aggregates another. No role aggregates itself. */
export function aggregates(
  { metadata: { name }, aggregationRule }: ClusterRoleObject,
  other: ClusterRoleObject,
): boolean {
  return (
    name !== other.metadata.name &&
    selectorsOf(aggregationRule).some((selector) => selectsLabels(selector, other.metadata.labels))
  )
}

/** The desired rules of a role; undefined if it has no aggregation rule. */
export function aggregateRules(
  role: ClusterRoleObject,
  all: readonly ClusterRoleObject[],
): readonly JsonObject[] | undefined {
  if (!role.aggregationRule) return undefined
  const sorted = [...all].sort((a, b) => compareText(a.metadata.name ?? '', b.metadata.name ?? ''))
  const aggregated: JsonObject[] = []
  for (const selector of selectorsOf(role.aggregationRule)) {
    const selected = sorted.filter(
      (other) => other.metadata.name !== role.metadata.name && selectsLabels(selector, other.metadata.labels),
    )
    for (const rule of selected.flatMap(({ rules }) => rules ?? []))
      if (!aggregated.some((known) => deepEqual(known, rule))) aggregated.push(rule)
  }
  return aggregated
}

function selectorsOf(rule: ClusterRoleObject['aggregationRule']): readonly LabelSelector[] {
  return rule?.clusterRoleSelectors ?? []
}
