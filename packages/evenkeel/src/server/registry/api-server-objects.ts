/**
 * What a server that listens publishes about itself: its address in the Endpoints and the EndpointSlice of the Service
 * `default/kubernetes`, and the authorities that it trusts in the ConfigMap `extension-apiserver-authentication`, which
 * controllers and API servers behind it read at their start.
 *
 * Of several servers on one store each adds its own address, and removes it when it stops.
 */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { objectIn, objectsIn, textIn, textMapIn, textsIn, type JsonObject, type UnstructuredObject } from '#api'
import type { SystemObject } from '@evenkeel/builtins'
import { joinCertificates, requestHeaderValues, type PublishedProxies } from '../aggregation/request-header-values.ts'
import type { ResourceRef } from '../request-context.ts'
import { keepSystemObjects, type SystemObjectServices } from './system-objects.ts'

interface PublishedServer {
  /** The bound host and the port. */
  readonly host: string
  readonly port: number
  /** The authorities of client certificates, in PEM. */
  readonly clientCaPem: string
  /** The proxies that are trusted with names of users, this server among them. */
  readonly proxies: PublishedProxies
}

const serviceName = 'kubernetes'

/** Writes what is missing or differs. */
export async function publishApiServer(server: SystemObjectServices, published: PublishedServer): Promise<void> {
  const address = advertisedAddress(published.host)
  const others = server.storage.store.isShared === true ? await publishedAddresses(server) : []
  const addresses = address === undefined ? [] : [...new Set([...others, address])]
  await keepSystemObjects(
    [await authenticationObject(server, published), ...endpointObjects(addresses, published.port)],
    server,
  )
  await setTargetPort(server, published.port)
}

/** Removes the address of a server that stops, if others go on. */
export async function withdrawApiServer(
  server: SystemObjectServices,
  { host, port }: Pick<PublishedServer, 'host' | 'port'>,
): Promise<void> {
  const own = advertisedAddress(host)
  const all = await publishedAddresses(server)
  const rest = all.filter((address) => address !== own)
  if (rest.length > 0 && rest.length < all.length) await keepSystemObjects(endpointObjects(rest, port), server)
}

/** The address for clients: for a wildcard the first of this machine that others reach. Undefined for a name. */
function advertisedAddress(host: string): string | undefined {
  const address = host.replace(/^\[|\]$/g, '')
  if (address !== '0.0.0.0' && address !== '::') return isIP(address) === 0 ? undefined : address
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? [])
  return all.find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? '127.0.0.1'
}

async function publishedAddresses(server: SystemObjectServices): Promise<string[]> {
  const slice = await find(server, { group: 'discovery.k8s.io', plural: 'endpointslices' })
  return objectsIn(slice, 'endpoints').flatMap((endpoint) => textsIn(endpoint, 'addresses'))
}

async function find(
  { storage, registry }: SystemObjectServices,
  {
    group,
    plural,
    namespace = 'default',
    name = serviceName,
  }: Partial<SystemObject> & Pick<SystemObject, 'group' | 'plural'>,
): Promise<UnstructuredObject | undefined> {
  const resource = registry.stored(group, plural)
  return resource && (await storage.get(name, { resource, namespace, name }))?.object
}

function endpointObjects(addresses: readonly string[], port: number): SystemObject[] {
  const ports = [{ name: 'https', port, protocol: 'TCP' }]
  const addressType = addresses.some((address) => isIP(address) === 6) ? 'IPv6' : 'IPv4'
  const place = { namespace: 'default', name: serviceName }
  if (addresses.length === 0) return []
  return [
    {
      ...place,
      group: '',
      kind: 'Endpoints',
      plural: 'endpoints',
      labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
      fields: { subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports }] },
      keeps: ['subsets'],
    },
    {
      ...place,
      group: 'discovery.k8s.io',
      kind: 'EndpointSlice',
      plural: 'endpointslices',
      labels: { 'kubernetes.io/service-name': serviceName },
      generation: 1,
      fields: {
        addressType,
        endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
        ports,
      },
      keeps: ['addressType', 'endpoints', 'ports'],
    },
  ]
}

const authenticationName = 'extension-apiserver-authentication'

/** Authorities of other servers on the same store stay; values that this server does not know as well. */
async function authenticationObject(
  server: SystemObjectServices,
  { clientCaPem, proxies }: PublishedServer,
): Promise<SystemObject> {
  const place = { group: '', plural: 'configmaps', namespace: 'kube-system', name: authenticationName }
  const known = textMapIn(await find(server, place), 'data')
  const data: JsonObject = {
    ...known,
    'client-ca-file': joinCertificates(known['client-ca-file'] ?? '', clientCaPem),
    ...requestHeaderValues(proxies, known['requestheader-client-ca-file'] ?? ''),
  }
  return { ...place, kind: 'ConfigMap', fields: { data }, keeps: ['data'] }
}

/** The Service is created before the port is known. */
async function setTargetPort(server: SystemObjectServices, port: number): Promise<void> {
  const resource = server.registry.stored('', 'services')
  if (resource === undefined) return
  const target: ResourceRef = { resource, namespace: 'default', name: serviceName }
  const stored = await server.storage.get(serviceName, target)
  const spec = objectIn(stored?.object, 'spec')
  const ports = objectsIn(spec, 'ports')
  if (!stored || !ports.some((one) => textIn(one, 'name') === 'https' && one['targetPort'] !== port)) return
  const next = ports.map((one) => (textIn(one, 'name') === 'https' ? { ...one, targetPort: port } : one))
  await server.storage.put({ ...stored.object, spec: { ...spec, ports: next } }, { target, expect: stored.revision })
}
