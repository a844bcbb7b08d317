/**
 * Where the benchmarks of controllers run: on our plane, in process, on one of the stores; and on the peer.
 *
 * The peer is the controller manager of the kube-apiserver in the environment (see ../server/peer.ts), if
 * `KUBE_CONTROLLER_MANAGER` says that one runs. It uses a socket, as it must; ours runs in the
 * process of the server, as in a plane.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bearer, fixedCredential, httpTransport, withCredentials } from 'evenkeel/unstable/client'
import { Client } from 'evenkeel/client'
import { startPlane } from 'evenkeel/server'
import { openFileStore, openMemoryStore } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'
import { addressFrom } from '../server/peer.ts'

const stores = {
  memory: (): Store => openMemoryStore(),
  files: (folder: string): Promise<Store> => openFileStore(join(folder, 'store')),
} as const

export type StoreName = keyof typeof stores

export const storeNames: readonly StoreName[] = ['memory', 'files']

/** Printed when the peer is missing. */
export const noPeer = 'no kube-controller-manager was named'

export async function onPlane<T>(name: StoreName, use: (client: Client) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-bench-'))
  const store = await stores[name](folder)
  const plane = await startPlane({ store })
  try {
    return await use(new Client({ transport: plane.transport }))
  } finally {
    await plane.stop({ graceMs: 0 })
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Undefined when there is no peer. */
export async function onPeer<T>(use: (client: Client) => Promise<T>): Promise<T | undefined> {
  const address = process.env['KUBE_CONTROLLER_MANAGER'] ? addressFrom(process.env) : undefined
  if (!address) return undefined
  const { url, token, caPem } = address
  const connection = httpTransport({ server: url, tls: caPem === undefined ? { insecureSkipVerify: true } : { caPem } })
  const client = new Client({
    transport: withCredentials(connection.transport, fixedCredential(bearer(token))),
    close: () => connection.close(),
  })
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}
