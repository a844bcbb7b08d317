/**
 * Keeps ClusterRoles up to date that gather others by labels: who adds a role for a new kind and labels it
 * `rbac.authorization.k8s.io/aggregate-to-view: "true"` has extended `view`, and with it `edit` and `admin`.
 *
 * A gathering role may itself be gathered, so one change can go several steps; each step is a write that the next hears
 * of. Roles that gather each other come to rest, because rules only differ or are the same.
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

/*
 * What a ClusterRole that gathers others comes to hold: the rules of all that its selectors select, each once, in the
 * order of selectors and names.
 */

export interface ClusterRoleObject extends KubeObject {
  readonly rules?: readonly JsonObject[] | null
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] } | null
}

/** Whether a role gathers another. No role gathers itself. */
export function aggregates(
  { metadata: { name }, aggregationRule }: ClusterRoleObject,
  other: ClusterRoleObject,
): boolean {
  return (
    name !== other.metadata.name &&
    selectorsOf(aggregationRule).some((selector) => selectsLabels(selector, other.metadata.labels))
  )
}

/** The rules that a role should have; undefined when it gathers nothing and is none of our business. */
export function aggregateRules(
  role: ClusterRoleObject,
  all: readonly ClusterRoleObject[],
): readonly JsonObject[] | undefined {
  if (!role.aggregationRule) return undefined
  const sorted = [...all].sort((a, b) => compareText(a.metadata.name ?? '', b.metadata.name ?? ''))
  const gathered: JsonObject[] = []
  for (const selector of selectorsOf(role.aggregationRule)) {
    const selected = sorted.filter(
      (other) => other.metadata.name !== role.metadata.name && selectsLabels(selector, other.metadata.labels),
    )
    for (const rule of selected.flatMap(({ rules }) => rules ?? []))
      if (!gathered.some((known) => deepEqual(known, rule))) gathered.push(rule)
  }
  return gathered
}

function selectorsOf(rule: ClusterRoleObject['aggregationRule']): readonly LabelSelector[] {
  return rule?.clusterRoleSelectors ?? []
}
