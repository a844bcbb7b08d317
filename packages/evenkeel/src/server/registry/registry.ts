/**
 * All served resources by group, version and plural name.
 *
 * The set changes while the server runs, with CustomResourceDefinitions; `generation` tells documents derived from
 * it when to be made again.
 */
import type { Resource } from '@evenkeel/builtins'

export class Registry {
  readonly #byPath: Map<string, Resource>
  readonly #groups: Set<string>
  #generation = 1

  constructor(resources: readonly Resource[] = []) {
    const { byPath, groups } = indexOf(resources)
    this.#byPath = new Map(byPath)
    this.#groups = new Set(groups)
  }

  /** Grows with every change of the set. */
  get generation(): number {
    return this.#generation
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`)
  }

  /** Whether any resource of a group is served. */
  hasGroup(group: string): boolean {
    return this.#groups.has(group)
  }

  all(): Resource[] {
    return [...this.#byPath.values()]
  }

  /** A resource by its storage names. */
  stored(group: string, plural: string): Resource | undefined {
    for (const resource of this.#byPath.values())
      if (resource.storage.plural === plural && resource.storage.group === group) return resource
    return undefined
  }

  /** Serves a resource; replaces one with the same path. */
  add(resource: Resource): void {
    this.#put(resource)
    this.#generation++
  }

  /** Stops serving a resource, unless it was replaced. */
  remove(resource: Resource): void {
    if (this.#byPath.get(pathOf(resource)) !== resource) return
    this.#byPath.delete(pathOf(resource))
    if (!this.all().some(({ group }) => group === resource.group)) this.#groups.delete(resource.group)
    this.#generation++
  }

  #put(resource: Resource): void {
    this.#byPath.set(pathOf(resource), resource)
    this.#groups.add(resource.group)
  }
}

interface Index {
  readonly byPath: ReadonlyMap<string, Resource>
  readonly groups: ReadonlySet<string>
}

/** Servers in one process start with the same resources: copying an index is faster than building it. */
const indexes = new WeakMap<readonly Resource[], Index>()

function indexOf(resources: readonly Resource[]): Index {
  let known = indexes.get(resources)
  if (!known)
    indexes.set(
      resources,
      (known = {
        byPath: new Map(resources.map((resource) => [pathOf(resource), resource])),
        groups: new Set(resources.map(({ group }) => group)),
      }),
    )
  return known
}

function pathOf({ group, version, plural }: Resource): string {
  return `${group}/${version}/${plural}`
}
