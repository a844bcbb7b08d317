/**
 * Variables that loops introduce, innermost first.
 */
import type { Type } from './type.ts'

export class Scope {
  readonly #names: ReadonlyMap<string, Type>
  readonly #outer: Scope | undefined

  constructor(names: Readonly<Record<string, Type>> = {}, outer?: Scope) {
    this.#names = new Map(Object.entries(names))
    this.#outer = outer
  }

  find(name: string): Type | undefined {
    return this.#names.get(name) ?? this.#outer?.find(name)
  }

  with(names: Readonly<Record<string, Type>>): Scope {
    return new Scope(names, this)
  }
}
