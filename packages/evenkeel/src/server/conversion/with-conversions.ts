/**
 * Computations that need objects in other versions, and cannot wait in the middle.
 *
 * The computation is broken off at what it lacks, that is asked for, and it runs
 * again from the beginning. It must therefore be pure up to its end; it comes as far each time as it knows versions.
 */
import { isJsonObject } from '#api'
import type { JsonObject, UnstructuredObject } from '#api'
import type { StoredObjectReader } from '../resources/resource.ts'

/** An object in a version of its kind, by the name of the version. */
export type ConvertNow = (object: JsonObject, version: string) => JsonObject

/** What a computation lacks. It never leaves this file. */
class MissingConversion extends Error {
  readonly object: JsonObject
  readonly version: string

  constructor(object: JsonObject, version: string) {
    super(`an object is needed in ${version}`)
    this.object = object
    this.version = version
  }
}

/** Far more versions than anybody serves, times the objects that one write is about. */
const roundsMax = 1000

/**
 * The result of a computation on objects of a custom kind.
 *
 * @throws {ApiError} 500, when a converter failed.
 */
export async function withConversions<T>(
  convert: NonNullable<StoredObjectReader['convert']>,
  compute: (convert: ConvertNow) => T,
): Promise<T> {
  const known = new Map<string, JsonObject>()
  const convertNow: ConvertNow = (object, version) => {
    // An object that says nothing yet says the same in every version.
    if (!isJsonObject(object['metadata'])) return object
    const found = known.get(conversionKey(object, version))
    if (found === undefined) throw new MissingConversion(object, version)
    return found
  }
  for (let round = 0; round < roundsMax; round++) {
    try {
      return compute(convertNow)
    } catch (lacking) {
      if (!(lacking instanceof MissingConversion)) throw lacking
      const { object, version } = lacking
      const [converted] = await convert([object as unknown as UnstructuredObject], version)
      known.set(conversionKey(object, version), converted as unknown as JsonObject)
    }
  }
  throw new RangeError(`a computation asked for more than ${roundsMax} conversions`)
}

function conversionKey(object: JsonObject, version: string): string {
  return `${version} ${JSON.stringify(object)}`
}
