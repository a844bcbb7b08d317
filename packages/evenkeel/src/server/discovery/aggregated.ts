/**
 * Discovery in one document (`apidiscovery.k8s.io/v2`): all groups with all versions, resources and subresources.
 *
 * A kind of the same group version is named without them for built-in kinds, and with them for custom resources:
 * clients accept both, and this is what upstream says.
 */
import type { JsonObject } from '#api'
import type { Resource, Subresource } from '../resources/resource.ts'
import type { ServedGroup, ServedVersion } from './groups.ts'
import { shownVerbs } from './shown-verbs.ts'

/** `/api` for the core group, `/apis` for all others. */
export function groupDiscoveryList(groups: readonly ServedGroup[]): JsonObject {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(groupDiscovery),
  }
}

function groupDiscovery({ name, versions }: ServedGroup): JsonObject {
  return { metadata: name === '' ? {} : { name }, versions: versions.map(versionDiscovery) }
}

function versionDiscovery({ version, resources }: ServedVersion): JsonObject {
  return { version, resources: resources.map(resourceDiscovery), freshness: 'Current' }
}

function resourceDiscovery(resource: Resource): JsonObject {
  const { plural, scope, singular, shortNames, categories, subresources } = resource
  return {
    resource: plural,
    responseKind: responseKind(resource, resource),
    scope,
    singularResource: singular,
    verbs: shownVerbs(resource),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((subresource) => subresourceDiscovery(resource, subresource)),
    }),
  }
}

function subresourceDiscovery(resource: Resource, subresource: Subresource): JsonObject {
  return { subresource: subresource.name, responseKind: responseKind(resource, subresource), verbs: subresource.verbs }
}

function responseKind(resource: Resource, { group, version, kind }: Resource | Subresource): JsonObject {
  const isHere = group === resource.group && version === resource.version
  return isHere && !resource.custom ? { group: '', version: '', kind } : { group, version, kind }
}
