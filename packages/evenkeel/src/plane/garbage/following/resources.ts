/**
 * Which resources the collector follows, out of all that a server has.
 */
import type { DiscoveredResource } from '#client'

/** Told about others, owned by nobody, and many. */
const ignored: ReadonlySet<string> = new Set([' events', 'events.k8s.io events'])

const needed = ['list', 'watch', 'delete']

/** Each resource once, in the version that the server names first, if its objects can be listed, watched and deleted. */
export function selectFollowed(resources: readonly DiscoveredResource[]): DiscoveredResource[] {
  const preferred = new Map<string, DiscoveredResource>()
  for (const resource of resources) {
    const name = `${resource.group} ${resource.plural}`
    if (!preferred.has(name)) preferred.set(name, resource)
  }
  return [...preferred]
    .filter(([name, { verbs }]) => !ignored.has(name) && needed.every((verb) => verbs.includes(verb)))
    .map(([, resource]) => resource)
}
