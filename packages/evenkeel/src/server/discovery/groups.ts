/**
 * Served resources by group and version, in the order of discovery.
 *
 * Built-in groups are in the order of the catalog, which is upstream's priority. Groups of CRDs follow in alphabetical
 * order, because upstream gives them all the same low priority.
 */
import type { Resource } from '@evenkeel/builtins'

export interface ServedVersion {
  readonly group: string
  readonly version: string
  readonly resources: readonly Resource[]
}

export interface ServedGroup {
  /** Empty for the core group. */
  readonly name: string
  /** Preferred version first; never empty. */
  readonly versions: readonly ServedVersion[]
}

export function groupResources(resources: readonly Resource[]): ServedGroup[] {
  const builtin = collect(
    resources.filter(({ custom }) => !custom),
    ({ group }) => group,
  )
  const names = new Set(builtin.keys())
  const added = [...new Set(resources.map(({ group }) => group))].filter((name) => !names.has(name)).sort()
  const all = collect(resources, ({ group }) => group)
  return [...names, ...added].map((name) => toGroup(name, all.get(name) ?? []))
}

function toGroup(name: string, resources: readonly Resource[]): ServedGroup {
  const versions = [...collect(resources, ({ version }) => version)].sort(([a], [b]) => compareVersions(a, b))
  return {
    name,
    versions: versions.map(([version, served]) => ({ group: name, version, resources: served.sort(byPlural) })),
  }
}

function byPlural(a: Resource, b: Resource): number {
  return a.plural < b.plural ? -1 : 1
}

function collect(resources: readonly Resource[], keyOf: (resource: Resource) => string): Map<string, Resource[]> {
  const lists = new Map<string, Resource[]>()
  for (const resource of resources) {
    const list = lists.get(keyOf(resource))
    if (list) list.push(resource)
    else lists.set(keyOf(resource), [resource])
  }
  return lists
}

// The order of API versions, the preferred one first: `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`, and then other
// names in alphabetical order.

const form = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/
const stages = ['alpha', 'beta', undefined]

/** For `sort`: negative when `a` is preferred. */
export function compareVersions(a: string, b: string): number {
  const left = rank(a)
  const right = rank(b)
  if (!left || !right) return left ? -1 : right ? 1 : compareNames(a, b)
  for (const [index, value] of left.entries()) {
    const difference = (right[index] ?? 0) - value
    if (difference !== 0) return difference
  }
  return 0
}

/** Stage, major and minor, most important first; nothing for a name of another form. */
function rank(version: string): [number, number, number] | undefined {
  const match = form.exec(version)
  if (!match) return undefined
  return [stages.indexOf(match[2]), Number(match[1]), Number(match[3] ?? 0)]
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
