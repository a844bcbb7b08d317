/**
 * Discovery as separate documents: the versions of the core group, the list of groups, one group, one group version.
 *
 * Fields stand in upstream's order, so that documents compare byte by byte. The core group's documents carry no
 * apiVersion: that is how they have always been.
 */
import { createHash } from 'node:crypto'
import { formatApiVersion, type JsonObject } from '#api'
import type { Resource, Subresource } from '../resources/resource.ts'
import type { ServedGroup, ServedVersion } from './groups.ts'
import { shownVerbs } from './shown-verbs.ts'

/** `/api`. */
export function coreVersions({ versions }: ServedGroup, serverAddress: string | undefined): JsonObject {
  return {
    kind: 'APIVersions',
    versions: versions.map(({ version }) => version),
    serverAddressByClientCIDRs: serverAddress === undefined ? [] : [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** `/apis`: every group but the core one. */
export function groupList(groups: readonly ServedGroup[]): JsonObject {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(apiGroup) }
}

/** `/apis/GROUP`. */
export function groupDocument(group: ServedGroup): JsonObject {
  return { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(group) }
}

/** `/api/v1` and `/apis/GROUP/VERSION`. */
export function resourceList(served: ServedVersion): JsonObject {
  return {
    kind: 'APIResourceList',
    ...(served.group !== '' && { apiVersion: 'v1' }),
    groupVersion: formatApiVersion(served),
    resources: served.resources.flatMap((resource) => [
      apiResource(resource),
      ...resource.subresources.map((subresource) => apiSubresource(resource, subresource)),
    ]),
  }
}

function apiGroup({ name, versions }: ServedGroup): JsonObject {
  const described = versions.map(({ group, version }) => ({
    groupVersion: formatApiVersion({ group, version }),
    version,
  }))
  return { name, versions: described, preferredVersion: described[0] }
}

function apiResource(resource: Resource): JsonObject {
  const { plural, singular, scope, kind, shortNames, categories, virtual } = resource
  return {
    name: plural,
    singularName: singular,
    namespaced: scope === 'Namespaced',
    kind,
    verbs: shownVerbs(resource),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(!virtual && { storageVersionHash: storageVersionHash(resource) }),
  }
}

function apiSubresource(resource: Resource, { name, verbs, group, version, kind }: Subresource): JsonObject {
  return {
    name: `${resource.plural}/${name}`,
    singularName: '',
    namespaced: resource.scope === 'Namespaced',
    ...((group !== resource.group || version !== resource.version) && { group, version }),
    kind,
    verbs,
  }
}

/** Tells clients when the stored form changes, without telling them the form. */
function storageVersionHash({ storage: { group, version, kind } }: Resource): string {
  return createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')
}
