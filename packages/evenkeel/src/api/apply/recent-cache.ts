/**
 * The last few things seen of each key, the latest first: what was seen lately is likely to come again.
 */
export class RecentCache<Key extends object, Item> {
  readonly #items = new WeakMap<Key, Item[]>()
  readonly #countMax: number

  constructor(countMax: number) {
    this.#countMax = countMax
  }

  /** The first that is right. It moves one place to the front, so what comes often is found soon. */
  find(key: Key, isRight: (item: Item) => boolean): Item | undefined {
    const items = this.#items.get(key)
    if (!items) return undefined
    for (let index = 0; index < items.length; index++) {
      const item = items[index] as Item
      if (!isRight(item)) continue
      if (index > 0) [items[index - 1], items[index]] = [item, items[index - 1] as Item]
      return item
    }
    return undefined
  }

  add(key: Key, item: Item): void {
    const items = this.#items.get(key)
    if (!items) this.#items.set(key, [item])
    else {
      items.unshift(item)
      if (items.length > this.#countMax) items.pop()
    }
  }
}
