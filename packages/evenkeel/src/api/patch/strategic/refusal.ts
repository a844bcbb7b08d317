/**
 * Refusals of strategic merge patches, in upstream's words.
 *
 * A directive that is not written as it must be is `BadRequest`. Everything else that does not work out is `Invalid`:
 * upstream answers some of these with 500, though it is always the patch that is wrong.
 */
import { ApiError } from '../../error/api-error.ts'
import { badRequest } from '../../error/makers.ts'
import type { JsonValue } from '../../json.ts'

/** `what` as upstream calls the list: `retainKeys`, `setElementOrder list`, `primitive list`. */
export function malformed(what: string): ApiError {
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
    default:
      return 'map'
  }
}
