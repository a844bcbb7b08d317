/**
 * Lists: of values that an expression made, or of JSON that is turned into values element by element when asked.
 *
 * A list is immutable, with one exception: a loop that builds a list owns it and appends to it (`growing`) until it is done,
 * else `map` and `filter` would take quadratic time.
 */
import type { Value } from './value.ts'

/** Turns a piece of JSON into the value its schema says it is. */
export type Adapt = (json: unknown) => Value

/** How a list in an object compares and adds, when its schema says it is more than a sequence. */
export type ListSemantics = { readonly kind: 'set' } | { readonly kind: 'map'; readonly keys: readonly string[] }

interface JsonListOptions {
  readonly semantics?: ListSemantics | undefined
  /**
   * Whether a schema says how to read it.
   *
   * @default true
   */
  readonly hasSchema?: boolean
}

export class ListValue {
  readonly items: readonly unknown[]
  /** Undefined: the items are values already. */
  readonly adapt: Adapt | undefined
  readonly semantics: ListSemantics | undefined
  /** Read by a schema, which makes it strict about what it is compared with. */
  readonly hasSchema: boolean
  growing = false

  private constructor(items: readonly unknown[], adapt?: Adapt, { semantics, hasSchema = true }: JsonListOptions = {}) {
    this.items = items
    this.adapt = adapt
    this.semantics = semantics
    this.hasSchema = adapt !== undefined && hasSchema
  }

  static of(values: readonly Value[]): ListValue {
    return new ListValue(values)
  }

  static ofJson(json: readonly unknown[], adapt: Adapt, options: JsonListOptions = {}): ListValue {
    return new ListValue(json, adapt, options)
  }

  /** An empty list that {@link append} changes in place. */
  static growing(): ListValue {
    const result = new ListValue([])
    result.growing = true
    return result
  }

  get size(): number {
    return this.items.length
  }

  /** The element at an index that exists. */
  at(index: number): Value {
    return this.adapt ? this.adapt(this.items[index]) : (this.items[index] as Value)
  }

  values(): readonly Value[] {
    const { adapt } = this
    return adapt ? this.items.map((item) => adapt(item)) : (this.items as readonly Value[])
  }

  /** This list with the other's elements behind its own: the same object while it grows, a new one otherwise. */
  append(other: ListValue): ListValue {
    if (!this.growing) return ListValue.of([...this.values(), ...other.values()])
    const own = this.items as Value[]
    for (const value of other.values()) own.push(value)
    return this
  }
}
