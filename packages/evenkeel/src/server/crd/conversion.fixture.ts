/**
 * A kind in two versions with different fields, for tests: `host` and `port` in one, `address` in the other.
 */
import type { JsonObject, UnstructuredObject } from '#api'

const group = 'conv.example.com'

export const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const definitionPath = `${definitions}/hosts.${group}`

const shared = { size: { type: 'integer' }, note: { type: 'string' } }
const status = { type: 'object', properties: { ready: { type: 'boolean' }, replicas: { type: 'integer' } } }
const subresources = { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.replicas' } }

function versionOf(name: string, properties: object, rest: object): object {
  return {
    name,
    served: true,
    subresources,
    ...rest,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { ...shared, ...properties } }, status },
      },
    },
  }
}

interface Wanted {
  readonly conversion?: object
  /** The stored version. */
  readonly stored?: 'v1' | 'v2'
  readonly served?: readonly string[]
}

/** The CRD, with `v1` as stored version by default. */
export function definition({
  conversion = { strategy: 'None' },
  stored = 'v1',
  served = ['v1', 'v2'],
}: Wanted = {}): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `hosts.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'hosts', kind: 'Host' },
      conversion,
      versions: [
        versionOf(
          'v1',
          { host: { type: 'string' }, port: { type: 'integer', default: 80 } },
          { served: served.includes('v1'), storage: stored === 'v1', selectableFields: [{ jsonPath: '.spec.host' }] },
        ),
        versionOf(
          'v2',
          { address: { type: 'string' }, mode: { type: 'string', default: 'fast' } },
          {
            served: served.includes('v2'),
            storage: stored === 'v2',
            selectableFields: [{ jsonPath: '.spec.address' }],
          },
        ),
      ],
    },
  }
}

export function pathOf(name: 'v1' | 'v2', object = ''): string {
  return `/apis/${group}/${name}/namespaces/default/hosts${object && `/${object}`}`
}

/** A version and the name of an object: `v1/a`. */
export type HostName = `${'v1' | 'v2'}/${string}`

export function host(name: HostName, spec: object, metadata: object = {}): object {
  const [version, objectName] = name.split('/')
  return { apiVersion: `${group}/${version ?? ''}`, kind: 'Host', metadata: { name: objectName, ...metadata }, spec }
}

/** Converts between the two versions. */
export function convertHost(object: UnstructuredObject, name: string): UnstructuredObject {
  const { spec = {}, ...rest } = object as UnstructuredObject & { spec?: JsonObject }
  if (name === 'v2') {
    const { host: place, port, ...more } = spec
    return {
      ...rest,
      spec: { ...more, ...(place !== undefined && { address: `${String(place)}:${String(port)}` }) },
    }
  }
  const { address, mode: _, ...more } = spec
  const [place, port] = String(address ?? '').split(':')
  return {
    ...rest,
    spec: { ...more, ...(address !== undefined && { host: place, port: Number(port) }) },
  }
}
