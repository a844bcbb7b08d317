/**
 * A binary heap: the smallest item first, in O(log n), with removal from the middle.
 *
 * Invariants: `#items[0]` is never after any other item; `#places` maps every item to its
 * index; an item is in the heap at most once. Items that compare equal come out in any order,
 * so callers who need first-in-first-out put a sequence number into the comparison.
 */
import { assert } from './assert.ts'

/** Below 0 when `a` comes before `b`. */
export type Compare<T> = (a: T, b: T) => number

/** Items by order; the order of an item must not change while it is in the heap. */
export class Heap<T> {
  readonly #compare: Compare<T>
  readonly #items: T[] = []
  readonly #places = new Map<T, number>()

  constructor(compare: Compare<T>) {
    this.#compare = compare
  }

  get size(): number {
    return this.#items.length
  }

  /** The first item, left where it is. */
  peek(): T | undefined {
    return this.#items[0]
  }

  has(item: T): boolean {
    return this.#places.has(item)
  }

  push(item: T): void {
    assert(!this.#places.has(item), 'an item is pushed into a heap once')
    this.#items.push(item)
    this.#places.set(item, this.#items.length - 1)
    this.#rise(this.#items.length - 1)
  }

  /** Takes the first item out. */
  pop(): T | undefined {
    const first = this.#items[0]
    if (first !== undefined) this.delete(first)
    return first
  }

  /** Takes an item out, wherever it is; false when it was not there. */
  delete(item: T): boolean {
    const place = this.#places.get(item)
    if (place === undefined) return false
    const last = this.#items.pop()
    this.#places.delete(item)
    if (place === this.#items.length || last === undefined) return true
    this.#put(last, place)
    this.#rise(place)
    this.#sink(this.#places.get(last) ?? place)
    return true
  }

  #put(item: T, place: number): void {
    this.#items[place] = item
    this.#places.set(item, place)
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
