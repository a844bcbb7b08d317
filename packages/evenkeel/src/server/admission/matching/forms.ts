/**
 * Objects in the form in which a write matched: who guards one version sees objects in that version, whichever way they
 * are written.
 */
import type { JsonObject, UnstructuredObject } from '#api'
import { convertBetween } from '../../convert.ts'
import type { Resource } from '../../resources/resource.ts'

/**
 * An object of one form of a resource in another.
 *
 * @throws {ApiError} 500, when a converter failed.
 */
export async function convertToVersion(
  object: UnstructuredObject,
  from: Resource,
  to: Resource,
): Promise<UnstructuredObject> {
  // What a subresource has of its own (Scale) is the same in all forms.
  if ((from.group === to.group && from.version === to.version) || object.kind !== from.kind) return object
  const { reading } = from
  if (reading === undefined)
    return convertBetween(object as unknown as JsonObject, from, to) as unknown as UnstructuredObject
  if (reading.convert === undefined) return reading.read(object, to.version)
  const [converted = object] = await reading.convert([object], to.version)
  return reading.read(converted, to.version)
}
