/**
 * Discovery documents as resources: the aggregated form, which says everything in two answers, and the old one, which
 * takes an answer for each group version.
 *
 * Documents come from servers of any kind, so what is missing or mistyped in them is left out, never trusted.
 */
import { formatApiVersion, isJsonObject, parseApiVersion } from '#api'
import type { JsonObject, JsonValue } from '#api'
import type { DiscoveredResource } from './resource.ts'

/** Asks for the aggregated form and takes the old one. */
export const discoveryAccept =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'

/** The resources of an aggregated document; undefined when it is none. */
export function readAggregated(document: JsonObject): DiscoveredResource[] | undefined {
  if (document['kind'] !== 'APIGroupDiscoveryList') return undefined
  return objectsOf(document['items']).flatMap((item) => {
    const group = textOf(objectOf(item['metadata'])['name'])
    return objectsOf(item['versions']).flatMap((version) => readVersion(version, group))
  })
}

function readVersion(document: JsonObject, group: string): DiscoveredResource[] {
  const version = textOf(document['version'])
  return objectsOf(document['resources']).map((resource) => ({
    group,
    version,
    apiVersion: formatApiVersion({ group, version }),
    kind: textOf(objectOf(resource['responseKind'])['kind']),
    plural: textOf(resource['resource']),
    singular: textOf(resource['singularResource']),
    namespaced: resource['scope'] === 'Namespaced',
    verbs: textsOf(resource['verbs']),
    shortNames: textsOf(resource['shortNames']),
    categories: textsOf(resource['categories']),
    subresources: objectsOf(resource['subresources']).map((subresource) => textOf(subresource['subresource'])),
  }))
}

/** The group versions that a server of the old kind lists: of `/api` and of `/apis`. */
export function readGroupVersions(document: JsonObject): string[] {
  if (document['kind'] === 'APIVersions') return textsOf(document['versions'])
  return objectsOf(document['groups']).flatMap((group) =>
    objectsOf(group['versions']).map((version) => textOf(version['groupVersion'])),
  )
}

/** The resources of one group version, in the old form. */
export function readResourceList(document: JsonObject, apiVersion: string): DiscoveredResource[] {
  const { group, version } = parseApiVersion(apiVersion)
  const resources = objectsOf(document['resources'])
  return resources
    .filter(({ name }) => !textOf(name).includes('/'))
    .map((resource) => {
      const plural = textOf(resource['name'])
      return {
        group,
        version,
        apiVersion,
        plural,
        kind: textOf(resource['kind']),
        singular: textOf(resource['singularName']),
        namespaced: resource['namespaced'] === true,
        verbs: textsOf(resource['verbs']),
        shortNames: textsOf(resource['shortNames']),
        categories: textsOf(resource['categories']),
        subresources: resources
          .map(({ name }) => textOf(name))
          .filter((name) => name.startsWith(`${plural}/`))
          .map((name) => name.slice(plural.length + 1)),
      }
    })
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function textsOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
