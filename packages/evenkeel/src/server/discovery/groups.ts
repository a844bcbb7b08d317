/**
 * Served resources by group and version, in the order in which discovery lists them.
 *
 * Built-in groups stand in the order of the catalog, which is upstream's priority. Groups that exist only through
 * definitions follow in the order of the alphabet: upstream gives them all the same low priority.
 */
import type { Resource } from '../resources/resource.ts'
import { compareVersions } from './version-order.ts'

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
