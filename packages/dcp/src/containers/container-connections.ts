/**
 * The ContainerNetworkConnections of a Container: one for each network that its spec names, while its container is there.
 *
 * Invariants: the name of a connection follows from its container and its network, so that it is made once; only connections that
 * the Container controls are deleted.
 */
import { createHash } from 'node:crypto'
import { getControllerOf, isAlreadyExists, setControllerReference, type KubeObject } from 'evenkeel'
import type { ReconcileClient } from 'evenkeel/controller'
import { ContainerNetworkConnection } from '../kinds/network.ts'
import { plainName } from './container-starter.ts'

interface ConnectionOptions {
  readonly client: ReconcileClient
  readonly signal: AbortSignal
}

interface Wanted {
  readonly containerId: string
  readonly networks: readonly { readonly name?: string | null; readonly aliases?: readonly string[] | null }[]
}

export async function ensureConnections(
  owner: KubeObject,
  { containerId, networks }: Wanted,
  { client, signal }: ConnectionOptions,
): Promise<void> {
  const wanted = new Map(
    networks.map(({ name, aliases }) => [nameOf(owner, containerId, name ?? ''), { name: name ?? '', aliases }]),
  )
  const own = await ownConnections(owner, client)
  for (const connection of own) if (!wanted.has(connection.metadata.name)) await remove(connection, { client, signal })
  for (const [name, { name: network, aliases }] of wanted) {
    if (own.some(({ metadata }) => metadata.name === name)) continue
    const connection = {
      apiVersion: ContainerNetworkConnection.apiVersion,
      kind: ContainerNetworkConnection.kind,
      metadata: { name },
      spec: { containerNetworkName: network, containerID: containerId, aliases: [...(aliases ?? [])] },
    }
    await client.create(setControllerReference(owner as never, connection), { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error
    })
  }
}

export async function removeConnections(owner: KubeObject, options: ConnectionOptions): Promise<void> {
  for (const connection of await ownConnections(owner, options.client)) await remove(connection, options)
}

async function remove(connection: KubeObject, { client, signal }: ConnectionOptions): Promise<void> {
  await client.delete(connection as never, {
    preconditions: { uid: connection.metadata.uid ?? '' },
    ignoreNotFound: true,
    propagationPolicy: 'Background',
    signal,
  })
}

async function ownConnections({ metadata: { uid } }: KubeObject, client: ReconcileClient) {
  const { items } = await client.list(ContainerNetworkConnection)
  return items.filter(
    (connection) => getControllerOf(connection)?.uid === uid && connection.metadata.deletionTimestamp === undefined,
  )
}

/** The digest keeps the connections of one container after another apart. */
function nameOf({ metadata: { name } }: KubeObject, containerId: string, network: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([name, containerId, plainName(network)]))
    .digest('hex')
    .slice(0, 8)
  return `${name}-${digest}`
}
