/**
 * Items by what is in them: every index gives an object any number of values, and finds objects by value.
 *
 * Worked example, an index `node` on pods: `{ n1: [web, db], n2: [job] }`. When `db` moves to n2, it is deleted under
 * its old value, which was remembered, and added under the new one: `{ n1: [web], n2: [job, db] }`.
 *
 * Invariants: an item is found under exactly the values its object had when it was added; a value without items is not
 * kept. If an index function throws, the object has no value in that index and the error is reported; lookups may miss
 * the object, everything else works.
 */
import type { KubeObject } from '#api'
import type { Item } from './items.ts'

/** The values under which an object is found; none is fine. */
export type IndexValues<T extends KubeObject> = (object: T) => readonly string[] | string | undefined

interface Index<T extends KubeObject> {
  readonly values: IndexValues<T>
  readonly items: Map<string, Set<Item<T>>>
  /** The values of each item, so that deleting it needs no second call of the function. */
  readonly filed: Map<Item<T>, readonly string[]>
}

export class Indexes<T extends KubeObject> {
  readonly #indexes = new Map<string, Index<T>>()
  readonly #onError: (index: string, item: Item<T>, error: unknown) => void

  constructor({ onError }: { onError: (index: string, item: Item<T>, error: unknown) => void }) {
    this.#onError = onError
  }

  get names(): readonly string[] {
    return [...this.#indexes.keys()]
  }

  /** Adds an index and fills it with the present items. @throws {RangeError} when the name is taken by another function. */
  add(name: string, values: IndexValues<T>, existing: Iterable<Item<T>>): void {
    const known = this.#indexes.get(name)
    if (known) {
      if (known.values === values) return
      throw new RangeError(`index ${JSON.stringify(name)} already exists with another function: choose another name`)
    }
    const index: Index<T> = { values, items: new Map(), filed: new Map() }
    this.#indexes.set(name, index)
    for (const item of existing) this.#file(name, index, item)
  }

  remove(name: string): void {
    this.#indexes.delete(name)
  }

  put(item: Item<T>, old: Item<T> | undefined): void {
    for (const [name, index] of this.#indexes) {
      if (old) remove(index, old)
      this.#file(name, index, item)
    }
  }

  delete(item: Item<T>): void {
    for (const index of this.#indexes.values()) remove(index, item)
  }

  /** Starts again with other items. */
  rebuild(items: () => Iterable<Item<T>>): void {
    for (const [name, index] of this.#indexes) {
      index.items.clear()
      index.filed.clear()
      for (const item of items()) this.#file(name, index, item)
    }
  }

  /** The items under a value; undefined when there is no such index. */
  find(name: string, value: string): Iterable<Item<T>> | undefined {
    const index = this.#indexes.get(name)
    return index && (index.items.get(value) ?? [])
  }

  #file(name: string, index: Index<T>, item: Item<T>): void {
    let found: ReturnType<IndexValues<T>>
    try {
      found = index.values(item.object)
    } catch (error) {
      this.#onError(name, item, error)
      return
    }
    if (found === undefined || found.length === 0) return
    const values = typeof found === 'string' ? [found] : [...new Set(found)]
    index.filed.set(item, values)
    for (const value of values) {
      const items = index.items.get(value)
      if (items) items.add(item)
      else index.items.set(value, new Set([item]))
    }
  }
}

function remove<T extends KubeObject>(index: Index<T>, item: Item<T>): void {
  for (const value of index.filed.get(item) ?? []) {
    const items = index.items.get(value)
    items?.delete(item)
    if (items?.size === 0) index.items.delete(value)
  }
  index.filed.delete(item)
}
