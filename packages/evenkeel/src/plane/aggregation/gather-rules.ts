/**
 * What a ClusterRole that gathers others comes to hold: the rules of all that its selectors select, each once, in the
 * order of selectors and names.
 */
import { compareText, deepEqual, selectsLabels } from '#api'
import type { JsonObject, KubeObject, LabelSelector } from '#api'

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
