/**
 * The directives of strategic merge patches, and the errors of malformed patches.
 *
 *     $patch: replace | delete          replaces or deletes the object that contains it
 *     $retainKeys: [keys]               removes every other key of the object
 *     $setElementOrder/<list>: [...]    the order of a list afterwards
 *     $deleteFromPrimitiveList/<list>   items to remove from a list of scalars
 *
 * Errors have the text of upstream. A malformed directive is `BadRequest`. Every other error is `Invalid`: upstream
 * answers some of these with 500, although the patch is always at fault.
 */
import { setOwn, type JsonArray, type JsonObject, type JsonObjectDraft, type JsonValue } from '@evenkeel/cel/primitives'
import { ApiError } from '../errors/api-error.ts'
import { badRequest } from '../errors/constructors.ts'

export const patchWord = '$patch'
export const orderPrefix = '$setElementOrder'
export const deletePrefix = '$deleteFromPrimitiveList'
const retainKeysWord = '$retainKeys'

/** The fields of a patch object that are still to be merged. Directive handlers remove what they have applied. */
export type RemainingFields = Map<string, JsonValue>

/** Applies and removes `$retainKeys`: keys that it does not list are removed, and the patch may not set them. */
export function retainKeys(draft: JsonObjectDraft, remaining: RemainingFields): void {
  const listed = remaining.get(retainKeysWord)
  if (listed === undefined) return
  remaining.delete(retainKeysWord)
  if (!Array.isArray(listed) || listed.some((key) => typeof key === 'object' && key !== null))
    throw malformed('retainKeys')
  const retained = new Set<JsonValue>(listed)
  for (const [key, value] of remaining) {
    if (value === null || key.startsWith(deletePrefix) || key.startsWith(orderPrefix)) continue
    if (!retained.has(key)) throw malformed('retainKeys')
  }
  for (const key of Object.keys(draft)) if (!retained.has(key)) delete draft[key]
}

/** The field of a directive such as `$setElementOrder/containers`. */
export function fieldOfDirective(directive: string, prefix: string): string {
  if (directive[prefix.length] !== '/')
    throw malformed(prefix === orderPrefix ? 'setElementOrder list' : 'primitive list')
  return directive.slice(prefix.length + 1)
}

/**
 * A value of the patch as it goes into the object, where there was nothing to merge it with: objects that carry a
 * `$patch` are dropped. `undefined` when the value is one itself.
 *
 * @param options.nulls `drop` also removes keys whose value is null, at any depth.
 */
export function withoutDirectives(
  value: JsonValue,
  options: { readonly nulls: 'keep' | 'drop' },
): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    return (value as JsonArray).map((item) => withoutDirectives(item, options)).filter((item) => item !== undefined)
  }
  const entries = Object.entries(value as JsonObject).filter(
    ([, child]) => child !== undefined && (child !== null || options.nulls === 'keep'),
  )
  if (entries.some(([key]) => key === patchWord)) return undefined
  const draft: JsonObjectDraft = {}
  for (const [key, child] of entries) {
    const kept = withoutDirectives(child as JsonValue, options)
    if (kept !== undefined) setOwn(draft, key, kept)
  }
  return draft
}

// Errors.

/** `what` as upstream calls the list: `retainKeys`, `setElementOrder list`, `primitive list`. */
function malformed(what: string): ApiError {
  return badRequest(`invalid patch format of ${what}`)
}

export function unprocessable(message: string): ApiError {
  return new ApiError('Invalid', message)
}

export function noMergeKey(mergeKey: string): ApiError {
  return unprocessable(`an item of the list does not contain declared merge key: ${mergeKey}`)
}

export function unexpected(wanted: 'list' | 'map', value: JsonValue): ApiError {
  return unprocessable(`expected a ${wanted}, but received a ${typeOf(value)}`)
}

export type PatchType = 'nil' | 'list' | 'map' | 'string' | 'bool' | 'int64' | 'float64'

/** The type of a value as the merge distinguishes them: Go reads whole numbers and others into different types. */
export function typeOf(value: JsonValue): PatchType {
  if (value === null) return 'nil'
  if (Array.isArray(value)) return 'list'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64'
    case 'bigint':
      return 'int64'
    default:
      return 'map'
  }
}
