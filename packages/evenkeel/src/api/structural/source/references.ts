/**
 * References inside a JSON Schema, followed by putting what they refer to in their place.
 *
 * Structural schemas have no references, so a schema that refers to itself has no structural form.
 */
import { getOwn, isJsonObject } from '../../json.ts'
import type { JsonObject, JsonValue } from '../../json.ts'

/** More places than a sensible schema has: references to references can multiply without end. */
const placesMax = 20_000

/** Where a schema stands: what messages call the place, and the document its references are looked up in. */
export class ReferenceScope {
  readonly where: string
  readonly document: JsonObject
  readonly #trail: readonly string[]
  readonly #count: { places: number }

  constructor(
    document: JsonObject,
    where: string,
    { trail = [], count = { places: 0 } }: { trail?: readonly string[]; count?: { places: number } } = {},
  ) {
    this.document = document
    this.where = where
    this.#trail = trail
    this.#count = count
  }

  /** A place further in. */
  at(step: string, where = `${this.where}${step}`): ReferenceScope {
    if (++this.#count.places > placesMax)
      throw new RangeError(`${this.where}: the schema has more than ${placesMax} places once its references are put in`)
    return new ReferenceScope(this.document, where, { trail: this.#trail, count: this.#count })
  }

  /** The same place, behind a reference. */
  behind(ref: string): ReferenceScope {
    if (this.#trail.includes(ref)) {
      throw new RangeError(
        `${this.where} refers to itself (${ref}), which a custom resource cannot express: describe it to a fixed depth, or as an object of anything`,
      )
    }
    return new ReferenceScope(this.document, this.where, { trail: [...this.#trail, ref], count: this.#count })
  }

  /** The same place, where a schema brings definitions of its own. */
  within(schema: JsonObject): ReferenceScope {
    const bringsOwn =
      schema !== this.document && ['definitions', '$defs'].some((keyword) => isJsonObject(getOwn(schema, keyword)))
    return bringsOwn ? new ReferenceScope(schema, this.where, { trail: [], count: this.#count }) : this
  }
}

/**
 * The schema that stands at a place, with what is said beside the reference.
 *
 * @throws {RangeError} when a reference leads outside, nowhere, or back to itself.
 */
export function followRef(value: JsonObject, outer: ReferenceScope): { schema: JsonObject; scope: ReferenceScope } {
  let [schema, scope] = [value, outer.within(value)]
  for (let ref = getOwn(schema, '$ref'); ref !== undefined; ref = getOwn(schema, '$ref')) {
    if (typeof ref !== 'string' || !ref.startsWith('#'))
      throw new RangeError(
        `${scope.where} refers to ${JSON.stringify(ref)}, outside of the schema: put the definition in`,
      )
    const { $ref: _ref, ...beside } = schema
    scope = scope.behind(ref)
    schema = { ...find(ref, scope), ...beside }
  }
  return { schema, scope }
}

function find(ref: string, { document, where }: ReferenceScope): JsonObject {
  let found: JsonValue | undefined = document
  for (const step of ref.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    found = isJsonObject(found) ? getOwn(found, key) : undefined
  }
  if (!isJsonObject(found)) throw new RangeError(`${where} refers to ${ref}, which the schema does not define`)
  return found
}
