/**
 * A real etcd with defaults, fsync on, on the same disk, over its own protocol.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { openEtcdStore } from 'evenkeel/unstable/store'
import type { Store } from 'evenkeel/unstable/store'
import { storeContender } from './contender.ts'
import type { Contender } from './contender.ts'

export interface EtcdPeer {
  readonly contender: Contender
  readonly store: Store
  readonly version: string
  stop(): Promise<void>
}

/** Starts one server on loopback; undefined when etcd is not installed. */
export async function startEtcd(folder: string): Promise<EtcdPeer | undefined> {
  const said = spawnSync('etcd', ['--version'], { encoding: 'utf8' })
  if (said.status !== 0) return undefined
  const version = /Version: (\S+)/.exec(said.stdout)?.[1] ?? 'unknown'
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const child = spawn(
    'etcd',
    [
      '--name',
      'bench',
      '--data-dir',
      folder,
      '--listen-client-urls',
      client,
      '--advertise-client-urls',
      client,
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `bench=${peer}`,
      '--logger',
      'zap',
      '--log-outputs',
      'stderr',
      '--quota-backend-bytes',
      '8589934592',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  for await (const line of createInterface({ input: child.stderr }))
    if (/serving (?:insecure )?client/.test(line)) break
  child.stderr.resume()
  const store = await openEtcdStore({ endpoints: [client], prefix: '/bench/' })
  return {
    store,
    version,
    contender: storeContender(`etcd ${version}`, store, child.pid),
    stop: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
