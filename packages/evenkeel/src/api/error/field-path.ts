/**
 * The place of a field, as error messages write it: `spec.containers[0].name`, `metadata.labels[a/b]`.
 *
 * A path is a chain of steps towards its root, so validators pass paths down for free and only an error pays for text.
 */

/** An immutable path. Every method gives a longer path and leaves this one alone. */
export class FieldPath {
  readonly #parent: FieldPath | undefined
  readonly #step: string

  private constructor(parent: FieldPath | undefined, step: string) {
    this.#parent = parent
    this.#step = step
  }

  /** A path from the root of an object: `FieldPath.of('metadata', 'labels')`. */
  static of(first: string, ...names: readonly string[]): FieldPath {
    return new FieldPath(undefined, first).child(...names)
  }

  child(...names: readonly string[]): FieldPath {
    return names.reduce<FieldPath>((path, name) => new FieldPath(path, `.${name}`), this)
  }

  index(index: number): FieldPath {
    return new FieldPath(this, `[${index}]`)
  }

  key(key: string): FieldPath {
    return new FieldPath(this, `[${key}]`)
  }

  toString(): string {
    const steps: string[] = []
    for (let path: FieldPath | undefined = this; path !== undefined; path = path.#parent) steps.push(path.#step)
    return steps.reverse().join('')
  }
}
