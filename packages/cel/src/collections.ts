/**
 * Lists and maps: of values, or of JSON that is converted element by element on access.
 *
 * They are immutable, with one exception: a loop that builds a list or map owns it and appends in place (`growing`) until it
 * ends; otherwise `map` and `filter` would take quadratic time.
 *
 * Map keys are strings, bools and integers; equal numbers of different types are the same key. A JSON object is a map too: with
 * the schema of a map any key can be read; with the schema of an object only its fields exist, their names are escaped as CEL
 * identifiers, and a null field is absent.
 */
import { escapeName, unescapeName } from './escape.ts'
import { getOwn } from './primitives/json.ts'
import { Double, EvaluationError, intFromBigInt, noSuchOverload, Uint, type Value } from './values.ts'

/** Converts JSON to a value according to a schema. */
export type Adapt = (json: unknown) => Value

/** The semantics of a list with `x-kubernetes-list-type: set` or `map`, for comparison and addition. */
export type ListSemantics = { readonly kind: 'set' } | { readonly kind: 'map'; readonly keys: readonly string[] }

interface JsonListOptions {
  readonly semantics?: ListSemantics | undefined
  /**
   * Whether it has a schema.
   *
   * @default true
   */
  readonly hasSchema?: boolean
}

export class ListValue {
  readonly items: readonly unknown[]
  /** Undefined when the items are values. */
  readonly adapt: Adapt | undefined
  readonly semantics: ListSemantics | undefined
  /** Has a schema, which makes comparisons strict. */
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

  /** An empty list that {@link append} extends in place. */
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

  /** This list with the elements of another appended: the same object while it is growing, a new one otherwise. */
  append(other: ListValue): ListValue {
    if (!this.growing) return ListValue.of([...this.values(), ...other.values()])
    const own = this.items as Value[]
    for (const value of other.values()) own.push(value)
    return this
  }
}

/** A map of values or of JSON. */
export abstract class MapValue {
  abstract readonly size: number
  /** The value of a key; undefined when it is absent; an error for an invalid key. */
  abstract find(key: Value): Value | undefined
  abstract keys(): readonly Value[]
}

/** A key for which the equality of a JavaScript Map is that of CEL map keys. */
type CanonicalKey = string | number | bigint | boolean

export class EntryMap extends MapValue {
  readonly #entries: Map<CanonicalKey, readonly [Value, Value]>
  growing = false

  constructor(entries = new Map<CanonicalKey, readonly [Value, Value]>()) {
    super()
    this.#entries = entries
  }

  /** A map of entries; later entries win. An error for an invalid key. */
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

  /** This map with one more entry: the same object while it is growing, a new one otherwise. An error when the key exists. */
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
  /** Has a schema, which makes comparisons strict. */
  readonly hasSchema: boolean
  readonly #adaptOf: (name: string) => Adapt | undefined

  /** `adaptOf` returns the conversion of a property; undefined for a name outside the schema. */
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

  /** The value of a property by its unescaped name. */
  property(name: string): Value | undefined {
    const direct = this.json[name]
    // Only names inherited from Object.prototype need the slower check for an own property.
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
