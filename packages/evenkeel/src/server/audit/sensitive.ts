/**
 * What carries credentials: nothing of its content is written down, unless the owner of the server asked for it.
 */
import type { ResourcePath } from '#wire'

const sensitive: ReadonlySet<string> = new Set([
  '/secrets',
  '/serviceaccounts/token',
  'authentication.k8s.io/tokenreviews',
])

export function isSensitive(place: ResourcePath | undefined): boolean {
  if (place === undefined) return false
  const { group, resource, subresource } = place
  return sensitive.has(`${group}/${resource}`) || sensitive.has(`${group}/${resource}/${subresource}`)
}
