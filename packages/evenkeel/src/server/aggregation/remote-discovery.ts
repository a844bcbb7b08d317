/**
 * Discovery documents of aggregated servers, as entries of the aggregated document of this server.
 *
 * Nothing of them is trusted: what has another form is left out, and the version is that of the APIService.
 */
import { isJsonObject, type JsonObject } from '#api'
import type { AggregatedApi } from './api-services.ts'

/** The version of an APIService in an `APIGroupDiscoveryList`. */
export function versionIn(list: JsonObject, { group, version }: AggregatedApi): JsonObject | undefined {
  const found = itemsOf(list['items']).find(({ metadata }) => isJsonObject(metadata) && metadata['name'] === group)
  const entry = itemsOf(found?.['versions']).find((one) => one['version'] === version)
  return entry && { version, resources: itemsOf(entry['resources']) }
}

/** The same from an `APIResourceList`, whose subresources are resources with a slash in their name. */
export function legacyVersion(list: JsonObject, { group, version }: AggregatedApi): JsonObject {
  const all = itemsOf(list['resources']).filter(({ name }) => typeof name === 'string')
  const resources = all
    .filter(({ name }) => !(name as string).includes('/'))
    .map((resource) => {
      const { name, singularName = '', namespaced, shortNames, categories } = resource
      const parts = all.filter((one) => (one['name'] as string).startsWith(`${name as string}/`))
      return {
        resource: name as string,
        responseKind: kindOf(resource, { group, version }),
        scope: namespaced === true ? 'Namespaced' : 'Cluster',
        singularResource: singularName,
        verbs: textsOf(resource['verbs']),
        ...(Array.isArray(shortNames) && { shortNames: textsOf(shortNames) }),
        ...(Array.isArray(categories) && { categories: textsOf(categories) }),
        ...(parts.length > 0 && { subresources: parts.map((part) => subresource(part, { group, version })) }),
      }
    })
  return { version, resources }
}

function subresource(part: JsonObject, gv: Pick<AggregatedApi, 'group' | 'version'>): JsonObject {
  const [, name = ''] = (part['name'] as string).split(/\/(.*)/s)
  return { subresource: name, responseKind: kindOf(part, gv), verbs: textsOf(part['verbs']) }
}

function kindOf({ group, version, kind }: JsonObject, gv: Pick<AggregatedApi, 'group' | 'version'>): JsonObject {
  return { group: text(group) || gv.group, version: text(version) || gv.version, kind: text(kind) }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []
}

function itemsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
