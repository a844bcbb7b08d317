/**
 * A real etcd process on loopback, in a temporary folder.
 *
 * Invariant: the process ends with ours, even when ours crashes.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deferred } from 'evenkeel/unstable/base'

interface EtcdProcess {
  readonly endpoint: string
  stop(): Promise<void>
}

/** Runs etcd until our stdin is closed, which the system does when the parent process ends. */
const tiedToUs = 'exec 3<&0; etcd "$@" </dev/null & pid=$!; (cat <&3 >/dev/null; kill -9 $pid) 2>/dev/null & wait $pid'

/** Why there is no etcd; undefined when there is one. */
export function whyNoEtcd(): string | undefined {
  const { error, status } = spawnSync('etcd', ['--version'], { stdio: 'ignore' })
  return error || status !== 0 ? 'there is no etcd on this machine; install it to judge the etcd engine' : undefined
}

/** Starts etcd and waits until it listens; retries when the port was taken meanwhile. */
export async function startEtcd(): Promise<EtcdProcess> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await tryToStart()
    } catch (error) {
      if (attempt === 3) throw error
    }
  }
}

async function tryToStart(): Promise<EtcdProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'evenkeel-etcd-'))
  const [client, peer] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const child = spawn(
    'sh',
    [
      '-c',
      tiedToUs,
      'sh',
      '--name',
      'judge',
      '--data-dir',
      folder,
      '--log-level',
      'info',
      '--listen-client-urls',
      client,
      '--advertise-client-urls',
      client,
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `judge=${peer}`,
      // A short election timeout allows leases of one second.
      '--heartbeat-interval',
      '10',
      '--election-timeout',
      '100',
    ],
    { stdio: ['pipe', 'ignore', 'pipe'] },
  )
  const exited = deferred<undefined>()
  child.once('exit', () => {
    exited.resolve(undefined)
  })
  child.once('error', () => {
    exited.resolve(undefined)
  })
  const stop = async (): Promise<void> => {
    child.stdin.end()
    await exited.promise
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await Promise.race([
      ready(child),
      exited.promise.then(() => {
        throw new Error('etcd ended before it was ready')
      }),
    ])
    return { endpoint: client, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Resolves when etcd logs that it serves clients; keeps reading, so that etcd never blocks on its output. */
function ready({ stderr }: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    let output = ''
    stderr?.on('data', (chunk: Buffer) => {
      if (output.length > 1_000_000) return
      output += chunk.toString('latin1')
      if (/serving (?:insecure )?client (?:requests|traffic)|ready to serve client requests/.test(output)) resolve()
    })
  })
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve()
    })
  })
  return port
}
