/**
 * A binary heap: the smallest item first, in O(log n), with removal from the middle.
 *
 * Invariants: no item comes before its parent; `#indexes` maps every item to its index; an item is
 * in the heap at most once. Items that compare equal come out in any order; for first-in-first-out
 * compare a sequence number too.
 *
 * Example. Pushing 5, 3, 8, 1 gives [1 3 8 5]: the children of index i are at 2i+1 and 2i+2. Deleting
 * 3 moves the last item, 5, to index 1: [1 5 8].
 */
import { assert } from './assert.ts'

/** Below 0 when `a` comes before `b`. */
type Compare<T> = (a: T, b: T) => number

/** A heap; the order of an item must not change while it is in the heap. */
export class Heap<T> {
  readonly #compare: Compare<T>
  readonly #items: T[] = []
  readonly #indexes = new Map<T, number>()

  constructor(compare: Compare<T>) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  /** The first item, without removing it. */
  peek(): T | undefined {
    return this.#items[0]
  }

  has(item: T): boolean {
    return this.#indexes.has(item)
  }

  push(item: T): void {
    assert(!this.#indexes.has(item), 'an item is pushed into a heap once')
    this.#items.push(item)
    this.#indexes.set(item, this.#items.length - 1)
    this.#rise(this.#items.length - 1)
  }

  /** Removes and returns the first item. */
  pop(): T | undefined {
    const first = this.#items[0]
    if (first !== undefined) this.delete(first)
    return first
  }

  /** Removes an item; false when it is not in the heap. */
  delete(item: T): boolean {
    const place = this.#indexes.get(item)
    if (place === undefined) return false
    const last = this.#items.pop()
    this.#indexes.delete(item)
    if (place === this.#items.length || last === undefined) return true
    this.#put(last, place)
    this.#rise(place)
    this.#sink(this.#indexes.get(last) ?? place)
    return true
  }

  #put(item: T, place: number): void {
    this.#items[place] = item
    this.#indexes.set(item, place)
  }

  #swapIfBefore(lower: number, upper: number): boolean {
    const [a, b] = [this.#items[lower], this.#items[upper]]
    if (a === undefined || b === undefined || this.#compare(a, b) >= 0) return false
    this.#put(a, upper)
    this.#put(b, lower)
    return true
  }

  #rise(from: number): void {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#swapIfBefore(place, parent)) return
      place = parent
    }
  }

  #sink(from: number): void {
    let place = from
    for (;;) {
      const child = this.#firstChild(place)
      if (child === undefined || !this.#swapIfBefore(child, place)) return
      place = child
    }
  }

  #firstChild(place: number): number | undefined {
    const left = 2 * place + 1
    const [a, b] = [this.#items[left], this.#items[left + 1]]
    if (a === undefined) return undefined
    return b !== undefined && this.#compare(b, a) < 0 ? left + 1 : left
  }
}
