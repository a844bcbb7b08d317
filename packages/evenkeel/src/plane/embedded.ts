/**
 * A control plane inside the program: for those who have no cluster, or do not want one.
 *
 * It listens as well, so that kubectl can look. Objects are in memory, or in a folder that outlives the program.
 *
 * Invariant: when it has stopped, a server that was in memory leaves nothing behind, not even its kubeconfig.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { assert } from '#base'
import type { Clock, Logger, Random } from '#base'
import type { Kind } from '#api'
import { ensureIdentity, makeIdentity, writeKubeconfig } from '#server'
import type { Server } from '#server'
import { openFileStore, openMemoryStore } from '#store'
import { startPlane } from './plane.ts'

interface EmbeddedOptions {
  /** A folder for objects, certificates and the token. @default memory */
  readonly data?: string | undefined
  /** @default any that is free */
  readonly port?: number | undefined
  readonly kinds: readonly Kind[]
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface Embedded {
  readonly transport: Server['transport']
  readonly url: string
  /** The path of a file by which kubectl finds it. */
  readonly kubeconfig: string
  /** Whether objects outlive the program. */
  readonly isDurable: boolean
  readonly onAction: Server['onAction']
  stop(): Promise<void>
}

export async function startEmbedded({ data, port = 0, kinds, clock, random, log }: EmbeddedOptions): Promise<Embedded> {
  const folder = data === undefined ? await mkdtemp(join(tmpdir(), 'evenkeel-')) : resolve(data)
  const forget = async (): Promise<void> => {
    if (data === undefined) await rm(folder, { recursive: true, force: true })
  }
  try {
    const store = data === undefined ? openMemoryStore({ clock }) : await openFileStore(join(folder, 'store'))
    try {
      const identity =
        data === undefined
          ? makeIdentity({ clock, random })
          : await ensureIdentity(join(folder, 'identity'), { clock, random })
      const server = await startPlane({ store, kinds, clock, random, log, listen: { port, identity } })
      const { address } = server
      assert(address, 'it was asked to listen')
      const kubeconfig = join(folder, 'kubeconfig')
      await writeKubeconfig(kubeconfig, {
        server: address.url,
        token: address.token,
        ...(address.caPem !== undefined && { caPem: address.caPem }),
      })
      return {
        transport: server.transport,
        url: address.url,
        kubeconfig,
        isDurable: data !== undefined,
        onAction: server.onAction,
        async stop() {
          await server.stop()
          await store.close()
          await forget()
        },
      }
    } catch (error) {
      await store.close()
      throw error
    }
  } catch (error) {
    await forget()
    throw error
  }
}
