/**
 * The Endpoints of a program: one for each Service that it serves, from its start to the beginning of its end.
 *
 * Invariants: the name of an Endpoint follows from its program and its Service, so that it is made once; only Endpoints that
 * the program controls are deleted.
 */
import { createHash } from 'node:crypto'
import { getControllerOf, isAlreadyExists, setControllerReference, type KubeObject } from 'evenkeel'
import type { ReconcileClient } from 'evenkeel/controller'
import { Endpoint } from '../kinds/network.ts'
import { endpointAddress, type ServiceProducer } from './service-producers.ts'

interface EndpointOptions {
  readonly client: ReconcileClient
  readonly signal: AbortSignal
}

/** Where a program is reached. A producer without a port has no Endpoint. */
interface Served {
  readonly producers: readonly ServiceProducer[]
  readonly chosenPorts: ReadonlyMap<string, number>
}

export async function ensureEndpoints(
  owner: KubeObject,
  { producers, chosenPorts }: Served,
  { client, signal }: EndpointOptions,
): Promise<void> {
  const existing = await ownEndpoints(owner, client)
  for (const producer of producers) {
    const port = producer.port || chosenPorts.get(producer.service)
    const address = endpointAddress(producer)
    const isThere = existing.some(
      ({ spec }) => spec?.serviceName === producer.service && spec.address === address && spec.port === port,
    )
    if (port === undefined || isThere) continue
    const endpoint = {
      apiVersion: Endpoint.apiVersion,
      kind: Endpoint.kind,
      metadata: { name: endpointName(owner, producer) },
      spec: { serviceNamespace: '', serviceName: producer.service, address, port },
    }
    await client.create(setControllerReference(owner as never, endpoint), { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  }
}

export async function removeEndpoints(owner: KubeObject, { client, signal }: EndpointOptions): Promise<void> {
  for (const endpoint of await ownEndpoints(owner, client))
    await client.delete(endpoint, {
      preconditions: { uid: endpoint.metadata.uid },
      ignoreNotFound: true,
      propagationPolicy: 'Background',
      signal,
    })
}

async function ownEndpoints({ metadata: { uid } }: KubeObject, client: ReconcileClient) {
  const { items } = await client.list(Endpoint)
  return items.filter(
    (endpoint) => getControllerOf(endpoint)?.uid === uid && endpoint.metadata.deletionTimestamp === undefined,
  )
}

/** The digest keeps `a-b` of `c` and `a` of `b-c` apart, and a changed port from the Endpoint before it. */
function endpointName({ metadata: { name } }: KubeObject, { service, address, port }: ServiceProducer): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([name, service, address, port]))
    .digest('hex')
    .slice(0, 8)
  return `${name}-${digest}`
}
