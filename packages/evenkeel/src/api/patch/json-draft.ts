/**
 * A JSON document being changed, while everybody who holds the original keeps seeing the original.
 *
 * A container is copied the first time something inside it changes, and from then on belongs to the draft:
 *
 *     before          after add /a/x        the root and `a` are new, `b` is the very same object as before
 *     { a, b }   ──▶  { a', b }
 *
 * Invariants: what was given is never written to; a container the draft owns is reachable by one path only (a copy
 * operation therefore copies deeply). Keys are own data properties, whatever they are called.
 */
import {
  deepCopy,
  isJsonObject,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonValue,
} from '@evenkeel/cel/primitives'

/** A place that a step cannot reach: the sentence says why. */
export class PointerError extends Error {}

type Container = JsonObject | JsonArray

export class JsonDraft {
  #root: JsonValue
  readonly #owned = new Set<unknown>()
  readonly #negativeIndices: boolean

  constructor(document: JsonValue, { negativeIndices = false }: { negativeIndices?: boolean } = {}) {
    this.#root = document
    this.#negativeIndices = negativeIndices
  }

  get document(): JsonValue {
    return this.#root
  }

  /** The value at a place. @throws {PointerError} when there is none. */
  get(steps: readonly string[]): JsonValue {
    return steps.reduce<JsonValue>((value, step) => this.#child(value, step), this.#root)
  }

  /** Puts a value where nothing need be yet: inserts into arrays, sets in objects. */
  add(steps: readonly string[], value: JsonValue): void {
    const step = steps.at(-1)
    if (step === undefined) this.#root = value
    else {
      const container = this.#ownedContainer(steps)
      if (Array.isArray(container)) container.splice(this.#index(step, container.length, { insert: true }), 0, value)
      else setOwn(container, step, value)
    }
  }

  /** Puts a value in the place of another. @throws {PointerError} when there is none. */
  replace(steps: readonly string[], value: JsonValue): void {
    this.get(steps)
    const step = steps.at(-1)
    if (step === undefined) this.#root = value
    else {
      const container = this.#ownedContainer(steps)
      setOwn(container, Array.isArray(container) ? String(this.#index(step, container.length)) : step, value)
    }
  }

  /** Takes a value out and gives it back. @throws {PointerError} when there is none. */
  remove(steps: readonly string[]): JsonValue {
    const value = this.get(steps)
    const step = steps.at(-1)
    if (step === undefined) throw new PointerError('the whole document cannot be removed')
    const container = this.#ownedContainer(steps)
    if (Array.isArray(container)) container.splice(this.#index(step, container.length), 1)
    else delete (container as Record<string, unknown>)[step]
    return value
  }

  /** A value that may stand in a second place. */
  copyOf(steps: readonly string[]): JsonValue {
    return deepCopy(this.get(steps))
  }

  /** The container of a place, made writable together with everything above it. */
  #ownedContainer(steps: readonly string[]): object {
    let container = this.#own(this.#root)
    this.#root = container
    for (const step of steps.slice(0, -1)) {
      const child = this.#own(this.#child(container, step))
      setOwn(container, Array.isArray(container) ? String(this.#index(step, container.length)) : step, child)
      container = child
    }
    return container
  }

  #own(value: JsonValue): Container {
    if (typeof value !== 'object' || value === null) throw new PointerError('a scalar has nothing inside')
    if (this.#owned.has(value)) return value
    const copy = Array.isArray(value) ? [...(value as JsonArray)] : { ...(value as JsonObject) }
    this.#owned.add(copy)
    return copy
  }

  #child(container: JsonValue, step: string): JsonValue {
    if (Array.isArray(container)) return (container as JsonArray)[this.#index(step, container.length)] as JsonValue
    if (!isJsonObject(container))
      throw new PointerError(`there is nothing inside a scalar, so no ${JSON.stringify(step)}`)
    const child = Object.hasOwn(container, step) ? container[step] : undefined
    if (child === undefined) throw new PointerError(`there is no ${JSON.stringify(step)}`)
    return child
  }

  #index(step: string, length: number, { insert = false }: { insert?: boolean } = {}): number {
    if (insert && step === '-') return length
    const size = insert ? length + 1 : length
    const pattern = this.#negativeIndices ? /^(-?[1-9][0-9]*|0)$/ : /^([1-9][0-9]*|0)$/
    if (!pattern.test(step)) throw new PointerError(`${JSON.stringify(step)} is no index of an array`)
    const index = Number(step) < 0 ? Number(step) + size : Number(step)
    if (index < 0 || index >= size) throw new PointerError(`index ${step} lies outside an array of ${length}`)
    return index
  }
}

/*
 * JSON pointers (RFC 6901): `/spec/containers/0/image`, where `~1` stands for `/` and `~0` for `~`.
 */

/** The steps of a pointer, outermost first; the empty pointer is the whole document. `undefined` when malformed. */
export function parsePointer(pointer: string): readonly string[] | undefined {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function formatPointer(steps: readonly string[]): string {
  return steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
