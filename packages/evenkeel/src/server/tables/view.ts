/**
 * An object as the columns look at it: every question has an answer, whatever the object holds.
 *
 * Objects have usually passed a schema, but not always (an old version, a lenient kind), and a list must not fail because
 * of one odd object. So a value of another type than asked for counts as absent, and absent has the zero value of Go: an
 * empty text, 0, false, no items. Only own properties exist.
 */
import { getOwn, isJsonObject } from '#api'
import { age } from './age.ts'

export class FieldReader {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }

  /** What lies under a path of keys. */
  at(...path: readonly string[]): FieldReader {
    return new FieldReader(this.#get(path))
  }

  /** Whether something is there. JSON `null` is nothing. */
  has(...path: readonly string[]): boolean {
    const value = this.#get(path)
    return value !== undefined && value !== null
  }

  text(...path: readonly string[]): string {
    const value = this.#get(path)
    return typeof value === 'string' ? value : ''
  }

  /** A text that tells absent from empty. */
  optionalText(...path: readonly string[]): string | undefined {
    const value = this.#get(path)
    return typeof value === 'string' ? value : undefined
  }

  number(...path: readonly string[]): number {
    const value = this.#get(path)
    return typeof value === 'number' && Number.isFinite(value) ? value : 0
  }

  flag(...path: readonly string[]): boolean {
    return this.#get(path) === true
  }

  /** The items of an array. */
  list(...path: readonly string[]): FieldReader[] {
    const value = this.#get(path)
    return Array.isArray(value) ? value.map((item) => new FieldReader(item)) : []
  }

  /** The texts of an array. */
  texts(...path: readonly string[]): string[] {
    return this.list(...path).map((item) => item.text())
  }

  /** The entries of an object, in the order of their keys. */
  entries(...path: readonly string[]): [string, FieldReader][] {
    const value = this.#get(path)
    if (!isJsonObject(value)) return []
    return Object.keys(value)
      .sort()
      .map((key) => [key, new FieldReader(getOwn(value, key))])
  }

  /** How many items or entries there are. */
  size(...path: readonly string[]): number {
    const value = this.#get(path)
    return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
  }

  /** The age of the moment at a path. */
  age(nowMs: number, ...path: readonly string[]): string {
    return age(this.#get(path), nowMs)
  }

  #get(path: readonly string[]): unknown {
    let value = this.value
    for (const key of path) value = isJsonObject(value) ? getOwn(value, key) : undefined
    return value
  }
}
