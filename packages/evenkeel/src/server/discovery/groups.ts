/**
 * Served resources by group and version, in the order of discovery.
 *
 * Built-in groups are in the order of the catalog, which is upstream's priority. Groups of CRDs follow in alphabetical
 * order, because upstream gives them all the same low priority.
 */
import type { JsonObject } from '#api'
import { groupPriorities, type Resource } from '@evenkeel/builtins'

export interface ServedVersion {
  readonly group: string
  readonly version: string
  readonly resources: readonly Resource[]
  /** The entry of another server for this version, which has no resources here. */
  readonly remote?: JsonObject
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

/** A version that another server serves, with its priorities. */
export interface RemoteEntry {
  readonly group: string
  readonly version: string
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
  /** An `APIVersionDiscovery`. */
  readonly discovery: JsonObject
}

/** Local groups with the versions of other servers, which replace local ones, in the order of their priorities. */
export function withRemote(local: readonly ServedGroup[], remote: readonly RemoteEntry[]): ServedGroup[] {
  const groups = [...local]
  for (const name of new Set(remote.map(({ group }) => group))) {
    const entries = remote.filter(({ group }) => group === name)
    const at = groups.findIndex((group) => group.name === name)
    if (at >= 0) groups[at] = { name, versions: joinVersions(groups[at]?.versions ?? [], entries) }
    else groups.splice(placeOf(groups, entries, remote), 0, { name, versions: joinVersions([], entries) })
  }
  return groups
}

/** Before the first group of a lower priority, or of the same one with a later name. */
function placeOf(
  groups: readonly ServedGroup[],
  entries: readonly RemoteEntry[],
  remote: readonly RemoteEntry[],
): number {
  const name = entries[0]?.group ?? ''
  const priorityOf = (group: string): number =>
    Math.max(
      ...remote.flatMap((one) => (one.group === group ? [one.groupPriorityMinimum] : [])),
      groupPriorityOr(group, groups),
    )
  const mine = Math.max(...entries.map(({ groupPriorityMinimum }) => groupPriorityMinimum))
  const at = groups.findIndex((group) => {
    const other = priorityOf(group.name)
    return other < mine || (other === mine && compareNames(name, group.name) < 0)
  })
  return at < 0 ? groups.length : at
}

function groupPriorityOr(name: string, groups: readonly ServedGroup[]): number {
  const isLocal = groups.some(
    (group) => group.name === name && group.versions.some(({ remote }) => remote === undefined),
  )
  return isLocal ? groupPriority(name) : 0
}

function joinVersions(local: readonly ServedVersion[], entries: readonly RemoteEntry[]): ServedVersion[] {
  const priorities = new Map(entries.map(({ version, versionPriority }) => [version, versionPriority]))
  const priorityOf = ({ version }: ServedVersion): number => priorities.get(version) ?? customVersionPriority
  return [
    ...local.filter(({ version }) => !priorities.has(version)),
    ...entries.map(({ group, version, discovery }) => ({ group, version, resources: [], remote: discovery })),
  ].sort((a, b) => priorityOf(b) - priorityOf(a) || compareVersions(a.version, b.version))
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

/** The core group is listed alone, and the group of APIServices always comes first. */
const firstPriority = 30_000
const customPriority = 1000

/** The priority of a group that this server serves: `groupPriorityMinimum` of its APIServices. */
function groupPriority(group: string): number {
  if (group === '' || group === 'apiregistration.k8s.io') return firstPriority
  return groupPriorities.get(group) ?? customPriority
}

/** The priority of a version of a CRD. */
const customVersionPriority = 100
