/**
 * The objects of an informer by namespace: a write asks for those of its own namespace, and most namespaces have none.
 */
import type { UnstructuredObject } from '#api'
import type { Informer } from '../informers.ts'

export class NamespaceIndex {
  readonly #byNamespace = new Map<string, Map<string, UnstructuredObject>>()

  constructor(informer: Informer) {
    for (const object of informer.list()) this.#put(object)
    informer.addEventHandler((old, next) => {
      if (next) this.#put(next)
      else if (old) this.#remove(old)
    })
  }

  has(namespace: string): boolean {
    return this.#byNamespace.has(namespace)
  }

  /** All objects of a namespace, sorted by name. */
  in(namespace: string): readonly UnstructuredObject[] {
    const objects = this.#byNamespace.get(namespace)
    return objects === undefined ? [] : [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object)
  }

  #put(object: UnstructuredObject): void {
    const { namespace = '', name = '' } = object.metadata
    const objects = this.#byNamespace.get(namespace) ?? new Map<string, UnstructuredObject>()
    this.#byNamespace.set(namespace, objects.set(name, object))
  }

  #remove({ metadata: { namespace = '', name = '' } }: UnstructuredObject): void {
    const objects = this.#byNamespace.get(namespace)
    objects?.delete(name)
    if (objects?.size === 0) this.#byNamespace.delete(namespace)
  }
}
