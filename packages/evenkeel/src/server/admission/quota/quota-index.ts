/**
 * Which quotas a namespace has, by name: asked with every creation, and most namespaces have none.
 */
import type { UnstructuredObject } from '#api'
import type { Informer } from '../../views/view.ts'

export class QuotaIndex {
  readonly #byNamespace = new Map<string, Map<string, UnstructuredObject>>()

  constructor(view: Informer) {
    for (const quota of view.list()) this.#put(quota)
    view.addEventHandler((old, next) => {
      if (next) this.#put(next)
      else if (old) this.#remove(old)
    })
  }

  has(namespace: string): boolean {
    return this.#byNamespace.has(namespace)
  }

  /** All quotas of a namespace, sorted by name. */
  in(namespace: string): readonly UnstructuredObject[] {
    const quotas = this.#byNamespace.get(namespace)
    return quotas === undefined ? [] : [...quotas].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, quota]) => quota)
  }

  #put(quota: UnstructuredObject): void {
    const { namespace = '', name = '' } = quota.metadata
    const quotas = this.#byNamespace.get(namespace) ?? new Map<string, UnstructuredObject>()
    this.#byNamespace.set(namespace, quotas.set(name, quota))
  }

  #remove({ metadata: { namespace = '', name = '' } }: UnstructuredObject): void {
    const quotas = this.#byNamespace.get(namespace)
    quotas?.delete(name)
    if (quotas?.size === 0) this.#byNamespace.delete(namespace)
  }
}
