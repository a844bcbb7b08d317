/**
 * Reads objects of the core group straight from the store, for checks that must see the current state: the objects that
 * a service account token is bound to.
 */
import type { UnstructuredObject } from '#api'
import { assert } from '#base'
import type { Storage } from '../storage/storage.ts'
import type { Registry } from './registry.ts'

export class CoreObjects {
  readonly #storage: Storage
  readonly #registry: Registry

  constructor({ storage, registry }: { readonly storage: Storage; readonly registry: Registry }) {
    this.#storage = storage
    this.#registry = registry
  }

  async find(plural: string, namespace: string, name: string): Promise<UnstructuredObject | undefined> {
    const resource = this.#registry.find('', 'v1', plural)
    assert(resource, `${plural} are built in`)
    return (await this.#storage.get(name, { resource, namespace, name }))?.object
  }
}
