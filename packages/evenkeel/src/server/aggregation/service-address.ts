/**
 * The address of a Service that an APIService names.
 *
 * There is no cluster network that answers on cluster IPs, so the addresses of the endpoints are called, as
 * `--enable-aggregator-routing` of kube-apiserver does. A resolver of the embedding program comes first; what it does not
 * know is looked up. A Service of type ExternalName is called by its name.
 */
import { isJsonObject, type JsonObject, type UnstructuredObject } from '#api'
import type { ServiceAddress, WebhookOptions } from '../webhooks/client.ts'
import type { AggregatedApi } from './api-services.ts'

/** Reads the objects that describe a service. */
export interface ServiceReader {
  service(namespace: string, name: string): Promise<UnstructuredObject | undefined>
  endpointSlices(namespace: string, name: string): Promise<readonly UnstructuredObject[]>
}

/** An address, or the reason why there is none: that of the condition `Available`. */
type AddressResult =
  | { readonly ok: true; readonly address: ServiceAddress }
  | { readonly ok: false; readonly reason: string; readonly message: string }

export class ServiceAddresses {
  readonly #reader: ServiceReader
  readonly #resolveService: WebhookOptions['resolveService']

  readonly #known = new Map<string, Promise<AddressResult>>()

  constructor(reader: ServiceReader, { resolveService }: WebhookOptions) {
    this.#reader = reader
    this.#resolveService = resolveService
  }

  /** The address, or why there is none; remembered until {@link forget}. */
  resolve({ service }: AggregatedApi): Promise<AddressResult> {
    const key = `${service.namespace}/${service.name}:${service.port}`
    const known = this.#known.get(key) ?? this.#resolve(service)
    this.#known.set(key, known)
    known.catch(() => this.#known.delete(key))
    return known
  }

  /** A Service or an EndpointSlice has changed. */
  forget(): void {
    this.#known.clear()
  }

  async #resolve(service: AggregatedApi['service']): Promise<AddressResult> {
    const known = await this.#resolved(service)
    if (known) return { ok: true, address: known }
    const found = await this.#reader.service(service.namespace, service.name)
    const where = `service/${service.name} in ${JSON.stringify(service.namespace)}`
    if (!found) return { ok: false, reason: 'ServiceNotFound', message: `${where} is not present` }
    const spec = found['spec'] as JsonObject
    if (spec['type'] === 'ExternalName')
      return { ok: true, address: { host: String(spec['externalName']), port: service.port } }
    const port = itemsOf(spec['ports']).find((one) => one['port'] === service.port)
    if (!port)
      return { ok: false, reason: 'ServicePortError', message: `${where} is not listening on port ${service.port}` }
    return this.#endpoint(service, { where, portName: String(port['name'] ?? '') })
  }

  async #resolved(service: AggregatedApi['service']): Promise<ServiceAddress | undefined> {
    try {
      return await this.#resolveService?.(service)
    } catch {
      return undefined
    }
  }

  async #endpoint(
    { namespace, name }: AggregatedApi['service'],
    { where, portName }: { where: string; portName: string },
  ): Promise<AddressResult> {
    const slices = await this.#reader.endpointSlices(namespace, name)
    if (slices.length === 0)
      return { ok: false, reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${where}` }
    for (const slice of slices) {
      const address = readyAddress(slice, portName)
      if (address) return { ok: true, address }
    }
    const message = `endpointslices for ${where} have no addresses with port name ${JSON.stringify(portName)}`
    return { ok: false, reason: 'MissingEndpoints', message }
  }
}

/** The first ready endpoint of a slice that has the port. */
function readyAddress(slice: UnstructuredObject, portName: string): ServiceAddress | undefined {
  const port = itemsOf(slice['ports']).find(({ name = '', port }) => name === portName && typeof port === 'number')
  const endpoint = itemsOf(slice['endpoints']).find(({ conditions, addresses }) => {
    const isReady = !isJsonObject(conditions) || conditions['ready'] !== false
    return isReady && Array.isArray(addresses) && typeof addresses[0] === 'string'
  })
  if (!port || !endpoint) return undefined
  return { host: String((endpoint['addresses'] as readonly string[])[0]), port: Number(port['port']) }
}

function itemsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}
