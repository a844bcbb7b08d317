/**
 * A copy-on-write draft of a JSON document, addressed by JSON pointers (RFC 6901).
 *
 * A container is copied at the first change inside it, and from then on belongs to the draft:
 *
 *     before          after add /a/x        the root and `a` are new, `b` is the same object as before
 *     { a, b }   ──▶  { a', b }
 *
 * Invariants: the original is never written to; a container that the draft owns is reachable by one path only, so a
 * copy operation copies deeply. Keys are own data properties, whatever their names.
 *
 * In a pointer, `/spec/containers/0/image`, `~1` stands for `/` and `~0` for `~`.
 */
import {
  deepCopy,
  isJsonObject,
  setOwn,
  type JsonArray,
  type JsonObject,
  type JsonValue,
} from '@evenkeel/cel/primitives'

/** A pointer that cannot be resolved, with the reason. */
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

  /** The value at a path. @throws {PointerError} when there is none. */
  get(steps: readonly string[]): JsonValue {
    return steps.reduce<JsonValue>((value, step) => this.#child(value, step), this.#root)
  }

  /** Adds a value: inserts into arrays, sets in objects. */
  add(steps: readonly string[], value: JsonValue): void {
    const step = steps.at(-1)
    if (step === undefined) this.#root = value
    else {
      const container = this.#ownedContainer(steps)
      if (Array.isArray(container)) container.splice(this.#index(step, container.length, { insert: true }), 0, value)
      else setOwn(container, step, value)
    }
  }

  /** Replaces a value. @throws {PointerError} when there is none. */
  replace(steps: readonly string[], value: JsonValue): void {
    this.get(steps)
    const step = steps.at(-1)
    if (step === undefined) this.#root = value
    else {
      const container = this.#ownedContainer(steps)
      setOwn(container, Array.isArray(container) ? String(this.#index(step, container.length)) : step, value)
    }
  }

  /** Removes a value and returns it. @throws {PointerError} when there is none. */
  remove(steps: readonly string[]): JsonValue {
    const value = this.get(steps)
    const step = steps.at(-1)
    if (step === undefined) throw new PointerError('the whole document cannot be removed')
    const container = this.#ownedContainer(steps)
    if (Array.isArray(container)) container.splice(this.#index(step, container.length), 1)
    else delete (container as Record<string, unknown>)[step]
    return value
  }

  /** A copy of a value, for a second path. */
  copyOf(steps: readonly string[]): JsonValue {
    return deepCopy(this.get(steps))
  }

  /** The container of a path, made writable together with its ancestors. */
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

// JSON pointers.

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
