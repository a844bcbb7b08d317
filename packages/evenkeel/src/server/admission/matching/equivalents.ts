/**
 * Under which other groups and versions the objects of a resource are served.
 *
 * Who guards `apps/v1` deployments means the objects, whichever way they are written: with the match policy
 * `Equivalent` a rule about one form is asked about all of them.
 */
import type { ResourceRef } from '../../call.ts'
import type { Registry } from '../../resources/registry.ts'
import type { Resource } from '../../resources/resource.ts'

export class EquivalentResources {
  readonly #registry: Registry
  #generation = 0
  readonly #known = new Map<string, readonly Resource[]>()

  constructor(registry: Registry) {
    this.#registry = registry
  }

  /** All forms of a target but the one that was asked for. */
  of({ resource, subresource }: ResourceRef): readonly Resource[] {
    const others = this.#formsOf(resource).filter(
      ({ group, version }) => group !== resource.group || version !== resource.version,
    )
    return subresource === undefined
      ? others
      : others.filter(({ subresources }) => subresources.some(({ name }) => name === subresource.name))
  }

  #formsOf({ storage }: Resource): readonly Resource[] {
    if (this.#generation !== this.#registry.generation) this.#known.clear()
    this.#generation = this.#registry.generation
    const key = `${storage.group}/${storage.plural}`
    let forms = this.#known.get(key)
    if (forms === undefined) {
      forms = this.#registry
        .all()
        .filter((one) => one.storage.group === storage.group && one.storage.plural === storage.plural)
      this.#known.set(key, forms)
    }
    return forms
  }
}
