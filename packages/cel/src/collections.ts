/**
 * Lists: of values that an expression made, or of JSON that is turned into values element by element when asked.
 *
 * A list is immutable, with one exception: a loop that builds a list owns it and appends to it (`growing`) until it is done,
 * else `map` and `filter` would take quadratic time.
 */
import { escapeName, unescapeName } from './escape.ts'
import { getOwn } from './primitives/json.ts'
import { Double, EvaluationError, intFromBigInt, noSuchOverload, Uint, type Value } from './values.ts'

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

/*
 * Maps: of values that an expression made, and JSON objects read in place.
 *
 * Keys are strings, bools and whole numbers; numbers of different types that are equal are the same key. A JSON object is
 * a map too: as a map of a schema any key may be asked for, as an object only the fields of its schema exist, their names
 * are escaped as CEL identifiers, and a field that is null is absent.
 */

export abstract class MapValue {
  abstract readonly size: number
  /** The value of a key; undefined when it is not there; an error when it can be no key. */
  abstract find(key: Value): Value | undefined
  abstract keys(): readonly Value[]
}

/** Something that a JavaScript Map tells apart exactly as CEL tells map keys apart. */
type CanonicalKey = string | number | bigint | boolean

export class EntryMap extends MapValue {
  readonly #entries: Map<CanonicalKey, readonly [Value, Value]>
  growing = false

  constructor(entries = new Map<CanonicalKey, readonly [Value, Value]>()) {
    super()
    this.#entries = entries
  }

  /** Later entries win. An error when something can be no key. */
  static from(entries: Iterable<readonly [Value, Value]>): EntryMap | EvaluationError {
    const result = new Map<CanonicalKey, readonly [Value, Value]>()
    for (const entry of entries) {
      const key = canonicalKey(entry[0])
      if (key === undefined) return new EvaluationError(`unsupported key type: ${typeof entry[0]}`)
      result.set(key, entry)
    }
    return new EntryMap(result)
  }

  get size(): number {
    return this.#entries.size
  }

  find(key: Value): Value | undefined {
    const canonical = canonicalKey(key)
    return canonical === undefined ? undefined : this.#entries.get(canonical)?.[1]
  }

  keys(): readonly Value[] {
    return Array.from(this.#entries.values(), ([key]) => key)
  }

  /** With one more entry: the same object while it grows, a new one otherwise. An error when the key is there already. */
  insert(key: Value, value: Value, describe: (key: Value) => string): EntryMap | EvaluationError {
    const canonical = canonicalKey(key)
    if (canonical === undefined) return noSuchOverload
    if (this.#entries.has(canonical)) return new EvaluationError(`insert failed: key ${describe(key)} already exists`)
    const result = this.growing ? this : new EntryMap(new Map(this.#entries))
    result.#entries.set(canonical, [key, value])
    return result
  }
}

export class JsonMap extends MapValue {
  readonly json: Readonly<Record<string, unknown>>
  readonly isObject: boolean
  /** Read by a schema, which makes it strict about what it is compared with. */
  readonly hasSchema: boolean
  readonly #adaptOf: (name: string) => Adapt | undefined

  /** `adaptOf` says how to read the value of a name; undefined where the schema knows no such name. */
  constructor(
    json: Readonly<Record<string, unknown>>,
    adaptOf: (name: string) => Adapt | undefined,
    { isObject, hasSchema = true }: { isObject: boolean; hasSchema?: boolean },
  ) {
    super()
    this.json = json
    this.isObject = isObject
    this.hasSchema = hasSchema
    this.#adaptOf = adaptOf
  }

  get size(): number {
    return Object.keys(this.json).length
  }

  knows(name: string): boolean {
    return this.#adaptOf(name) !== undefined
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload
    const name = this.isObject ? unescapeName(key) : key
    return name === undefined ? undefined : this.property(name)
  }

  /** The value of a property by its real name. */
  property(name: string): Value | undefined {
    const direct = this.json[name]
    // Most names lead nowhere but to own properties; those that every object inherits are the exception.
    const json = typeof direct === 'function' || name === '__proto__' ? getOwn(this.json, name) : direct
    if (json === undefined || (json === null && this.isObject)) return undefined
    const adapt = this.#adaptOf(name)
    return adapt && adapt(json)
  }

  keys(): readonly Value[] {
    const names = Object.keys(this.json)
    return this.isObject ? names.filter((name) => this.knows(name)).map((name) => escapeName(name) ?? name) : names
  }
}

export function canonicalKey(key: Value): CanonicalKey | undefined {
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean' || typeof key === 'bigint')
    return key
  if (key instanceof Uint) return intFromBigInt(key.value)
  if (key instanceof Double && Number.isInteger(key.value)) return intFromBigInt(BigInt(key.value))
  return undefined
}
