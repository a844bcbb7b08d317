/**
 * Objects in the form in which schedules are compared, made once: most of what one schedule comes to, all the others
 * come to as well, and what was read from the same text is the same object.
 *
 * Invariants: the objects are frozen. Only what does not depend on the names of uids is remembered, as those are another
 * world's in another world.
 */
import type { JsonValue, UnstructuredObject } from '#api'

export interface UidNames {
  /** The names of uids that are, or were, in the world. */
  nameOf(uid: string): string | undefined
}

export class ObjectTexts {
  readonly #make: (object: UnstructuredObject, naming: UidNames) => JsonValue
  readonly #known = new WeakMap<UnstructuredObject, string>()

  constructor(make: (object: UnstructuredObject, naming: UidNames) => JsonValue) {
    this.#make = make
  }

  of(object: UnstructuredObject, naming: UidNames): string {
    const known = this.#known.get(object)
    if (known !== undefined) return known
    let isNamed = false
    const nameOf = (uid: string): string | undefined => {
      isNamed = true
      return naming.nameOf(uid)
    }
    const text = JSON.stringify(this.#make(object, { nameOf }))
    if (!isNamed) this.#known.set(object, text)
    return text
  }
}
