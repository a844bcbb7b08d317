/**
 * What a node is about: the way from a variable to it, such as `self`, `ports`, `@items`.
 *
 * Upstream keeps these ways in Go slices and appends to shared ones, so a later way can overwrite the last step of an earlier
 * one: after `x.b.all(y, y.c == x.a)` it takes `x.b` for `x.a`. Estimates show it, and definitions are refused by them, so
 * these ways share their memory exactly as Go's slices do: capacities double, and appending writes in place while it can.
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

  /** The same with one more step, in memory of its own. */
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
