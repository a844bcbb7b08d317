/**
 * APIServices: which group versions another server serves.
 *
 * An APIService with `spec.service` sends its group version to that server, also when a CRD defines it here. One without
 * describes a local group version and changes nothing.
 *
 *   v1beta1.metrics.k8s.io   spec.service kube-system/metrics-server   every path below /apis/metrics.k8s.io/v1beta1
 */
import { isJsonObject, type JsonObject, type UnstructuredObject } from '#api'
import type { Informer, Informers } from '../informers.ts'

/** The group version of an APIService with a service. */
export interface AggregatedApi {
  /** `v1beta1.metrics.k8s.io` */
  readonly name: string
  readonly group: string
  readonly version: string
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number }
  /** PEM. */
  readonly caPem: string | undefined
  readonly insecureSkipTLSVerify: boolean
  readonly groupPriorityMinimum: number
  readonly versionPriority: number
  /** Whether the last check of the server succeeded. */
  readonly isAvailable: boolean
  readonly object: UnstructuredObject
}

/** The API, and its OpenAPI v3 document. */
const aggregatedPath = /^(?:\/openapi\/v3)?\/apis\/([^/]+)\/([^/]+)/

export class ApiServices {
  readonly #informer: Informer
  #version = -1
  #byGroupVersion: ReadonlyMap<string, AggregatedApi> = new Map()

  constructor(informers: Informers) {
    this.#informer = informers.forResource('apiregistration.k8s.io', 'apiservices')
  }

  /** Grows with every change. */
  get generation(): number {
    return this.#informer.version
  }

  /** The server of a path, if it is not this one. */
  findPath(path: string): AggregatedApi | undefined {
    const apis = this.#current()
    if (apis.size === 0) return undefined
    const [, group = '', version = ''] = aggregatedPath.exec(path) ?? []
    return apis.get(`${group}/${version}`)
  }

  has(group: string, version: string): boolean {
    return this.#current().has(`${group}/${version}`)
  }

  all(): readonly AggregatedApi[] {
    return [...this.#current().values()]
  }

  /** Calls a listener synchronously for every later change of an APIService. */
  onChange(listener: () => void): void {
    this.#informer.addEventHandler(listener)
  }

  #current(): ReadonlyMap<string, AggregatedApi> {
    if (this.#version !== this.#informer.version) {
      this.#version = this.#informer.version
      const apis = this.#informer.list().flatMap((object) => aggregatedApi(object) ?? [])
      this.#byGroupVersion = new Map(apis.map((api) => [`${api.group}/${api.version}`, api]))
    }
    return this.#byGroupVersion
  }
}

function aggregatedApi(object: UnstructuredObject): AggregatedApi | undefined {
  const spec = fieldsOf(object['spec'])
  const { service, group, version, caBundle } = spec
  if (!isJsonObject(service) || typeof group !== 'string' || group === '' || typeof version !== 'string')
    return undefined
  const { namespace, name, port = 443 } = service
  return {
    name: object.metadata.name ?? '',
    group,
    version,
    service: { namespace: String(namespace), name: String(name), port: Number(port) },
    caPem: typeof caBundle === 'string' && caBundle !== '' ? Buffer.from(caBundle, 'base64').toString() : undefined,
    insecureSkipTLSVerify: spec['insecureSkipTLSVerify'] === true,
    groupPriorityMinimum: Number(spec['groupPriorityMinimum'] ?? 0),
    versionPriority: Number(spec['versionPriority'] ?? 0),
    isAvailable: availableCondition(object)?.['status'] === 'True',
    object,
  }
}

/** The condition `Available` of an APIService. */
export function availableCondition(object: UnstructuredObject): JsonObject | undefined {
  const { conditions } = fieldsOf(object['status'])
  return Array.isArray(conditions)
    ? conditions.filter(isJsonObject).find(({ type }) => type === 'Available')
    : undefined
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value as JsonObject) ? (value as JsonObject) : {}
}
