/**
 * Conversion by a function of the program that embeds the server.
 */
import { deepCopy, isJsonObject } from '#api'
import type { JsonObject, JsonValue, UnstructuredObject } from '#api'
import { checkConverted } from './check-converted.ts'
import { conversionError, formatType } from './conversion.ts'
import type { Conversion } from './conversion.ts'

/**
 * Gives an object in another version of its kind (`v2`). The object is a copy: it may be changed and given back.
 *
 * `apiVersion` need not be set, and of the metadata only changes of labels and annotations count.
 */
export type ConvertObject = (
  object: UnstructuredObject,
  version: string,
) => UnstructuredObject | Promise<UnstructuredObject>

const functionConverter = 'conversion function'

/** A conversion that calls a function for each object. */
export function functionConversion(convert: ConvertObject): Conversion {
  return async (objects, apiVersion) => {
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
    const converted: JsonValue[] = []
    for (const object of objects) {
      try {
        converted.push(
          checkResult(object, await convert(deepCopy(object) as unknown as UnstructuredObject, version), apiVersion),
        )
      } catch (error) {
        throw conversionError(
          `${functionConverter} for ${formatType(object)} failed: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        )
      }
    }
    return checkConverted(objects, converted, { converter: functionConverter, apiVersion })
  }
}

// JSON is what will be stored: what has no place in it (undefined, dates) shows now and not at the next read.
function checkResult(object: JsonObject, result: unknown, apiVersion: string): JsonValue {
  const plain = result === undefined ? null : (JSON.parse(JSON.stringify(result)) as JsonValue)
  if (!isJsonObject(plain)) return plain
  const isUntouched = plain['apiVersion'] === undefined || plain['apiVersion'] === object['apiVersion']
  return isUntouched ? { ...plain, apiVersion } : plain
}
