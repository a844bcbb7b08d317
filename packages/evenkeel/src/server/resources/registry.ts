/**
 * Every resource that is served, found by group, version and plural name.
 *
 * The set can change while the server runs (custom resources come and go); `generation` tells those who derive
 * documents from it when to make them anew.
 */
import type { Resource } from './resource.ts'

export class Registry {
  readonly #byPath = new Map<string, Resource>()
  readonly #groups = new Set<string>()
  #generation = 1

  constructor(resources: Iterable<Resource> = []) {
    for (const resource of resources) this.#put(resource)
  }

  /** Grows with every change of the set. */
  get generation(): number {
    return this.#generation
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`)
  }

  /** Whether anything of a group is served. */
  hasGroup(group: string): boolean {
    return this.#groups.has(group)
  }

  all(): Resource[] {
    return [...this.#byPath.values()]
  }

  /** Serves a resource, in place of one that has the same path. */
  add(resource: Resource): void {
    this.#put(resource)
    this.#generation++
  }

  /** Serves a resource no longer, if it is still this one that is served. */
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

function pathOf({ group, version, plural }: Resource): string {
  return `${group}/${version}/${plural}`
}
