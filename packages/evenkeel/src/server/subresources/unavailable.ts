/**
 * Parts of objects that only a node or a token issuer could serve: known to discovery, refused with a reason.
 */
import { ApiError } from '#api'
import type { ResourceRef } from '../call.ts'

/** The refusal of a subresource that this server cannot serve. */
export function unsupportedSubresource({ resource: { group, plural }, subresource, name }: ResourceRef): ApiError {
  const what = `${plural}/${subresource?.name ?? ''}`
  return new ApiError(
    'MethodNotAllowed',
    `${what} of ${JSON.stringify(name)} is not available: it needs a node, and this server runs no containers`,
    { subject: { group, kind: plural, name } },
  )
}
