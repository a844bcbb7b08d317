/**
 * The query of a request: names with values, read often and nearly always empty.
 *
 * `URLSearchParams` reads the text; asking it is slow, so the values are laid out once in a plain map.
 */
export class Query {
  readonly #values: ReadonlyMap<string, readonly string[]> | undefined

  constructor(text = '') {
    if (text === '') return
    const values = new Map<string, string[]>()
    for (const [name, value] of new URLSearchParams(text)) {
      const known = values.get(name)
      if (known) known.push(value)
      else values.set(name, [value])
    }
    this.#values = values
  }

  /** The first value of a name; null when there is none. */
  get(name: string): string | null {
    return this.#values?.get(name)?.[0] ?? null
  }

  getAll(name: string): readonly string[] {
    return this.#values?.get(name) ?? []
  }

  has(name: string): boolean {
    return this.#values?.has(name) ?? false
  }
}
