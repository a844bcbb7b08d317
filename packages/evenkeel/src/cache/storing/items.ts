/**
 * Items by namespace and name.
 *
 * Two maps deep, so that a namespace is listed without looking at the others and no key text is kept for each object.
 * Invariants: no namespace is empty; the order is that of arrival.
 */
import type { KubeObject } from '#api'
import type { Item } from './item.ts'

export class Items<T extends KubeObject> {
  readonly #namespaces = new Map<string, Map<string, Item<T>>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(namespace: string, name: string): Item<T> | undefined {
    return this.#namespaces.get(namespace)?.get(name)
  }

  /** Puts an item in the place of the one with its name, which it gives back. */
  put(item: Item<T>): Item<T> | undefined {
    let names = this.#namespaces.get(item.namespace)
    if (!names) {
      names = new Map()
      this.#namespaces.set(item.namespace, names)
    }
    const old = names.get(item.name)
    names.set(item.name, item)
    if (!old) this.#size++
    return old
  }

  delete(namespace: string, name: string): Item<T> | undefined {
    const names = this.#namespaces.get(namespace)
    const old = names?.get(name)
    if (!names || !old) return undefined
    names.delete(name)
    if (names.size === 0) this.#namespaces.delete(namespace)
    this.#size--
    return old
  }

  /** All, or those of one namespace. Must not be kept while items come and go. */
  * values(namespace?: string): Generator<Item<T>> {
    if (namespace !== undefined) {
      yield* this.#namespaces.get(namespace)?.values() ?? []
      return
    }
    for (const names of this.#namespaces.values()) yield* names.values()
  }
}
