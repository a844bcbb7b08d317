/**
 * The path from a variable to a node, such as `self`, `ports`, `@items`.
 *
 * cel-go keeps paths in Go slices and appends to shared ones, so a later path can overwrite the last step of an earlier one:
 * after `x.b.all(y, y.c == x.a)` it takes `x.b` for `x.a`. Estimates depend on it, and CRDs are refused by them, so these paths
 * share their memory exactly as Go slices do: the capacity doubles, and appending writes in place while there is capacity.
 *
 * Example. The path x.b has length 2 and capacity 2; appending `@items` copies it to capacity 4; appending `c` and then `d` to
 * x.b.@items writes both to the fourth slot, so the first of the two paths becomes x.b.@items.d.
 */
export class NodePath {
  readonly #memory: string[]
  readonly #length: number
  readonly #capacity: number

  private constructor(memory: string[], length: number, capacity: number) {
    this.#memory = memory
    this.#length = length
    this.#capacity = capacity
  }

  static of(step: string): NodePath {
    return new NodePath([step], 1, 1)
  }

  static append(path: NodePath | undefined, step: string): NodePath {
    return path ? path.#append(step) : NodePath.of(step)
  }

  get first(): string | undefined {
    return this.#memory[0]
  }

  steps(): readonly string[] {
    return this.#memory.slice(0, this.#length)
  }

  /** A copy with one more step, without shared memory. */
  separately(step: string): NodePath {
    const steps = [...this.steps(), step]
    return new NodePath(steps, steps.length, steps.length)
  }

  #append(step: string): NodePath {
    const isFull = this.#length === this.#capacity
    const memory = isFull ? this.#memory.slice(0, this.#length) : this.#memory
    memory[this.#length] = step
    return new NodePath(memory, this.#length + 1, isFull ? this.#capacity * 2 : this.#capacity)
  }
}
