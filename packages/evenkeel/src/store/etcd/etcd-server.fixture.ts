/**
 * A real etcd for tests: one server on free ports of the loopback, with a folder of its own.
 *
 * Invariant: what is started here is stopped by `stop`, whatever state it was left in, and its
 * folder goes with it; what a test forgot ends with its process.
 */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sleep, SystemClock } from '#base'

/** Why tests that need etcd are skipped; undefined when they are not. */
export const etcdMissing: string | undefined =
  spawnSync('etcd', ['--version']).status === 0 ? undefined : 'there is no etcd binary on this machine'

/** Why tests that administer an etcd are skipped; Debian ships etcdctl in a package of its own (etcd-client). */
export const etcdctlMissing: string | undefined =
  spawnSync('etcdctl', ['version'], { env: { ...process.env, ETCDCTL_API: '3' } }).status === 0
    ? undefined
    : 'there is no etcdctl binary on this machine'

/** Why tests that make certificates are skipped. */
export const opensslMissing: string | undefined =
  spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl binary on this machine'

/** The name of a test that needs etcdctl, with the reason when it is skipped. */
export function withEtcdctl(name: string): string {
  return withReason(name, etcdctlMissing)
}

/** The name of a test, with the reason when it is skipped. */
export function withReason(name: string, missing: string | undefined): string {
  return missing === undefined ? name : `${name} (skipped: ${missing})`
}

const startsMax = 5
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export interface EtcdServerOptions {
  /** More arguments for etcd. */
  args?: readonly string[]
  /** Serve clients with this certificate, and ask them for one of the same authority. */
  tls?: { readonly caFile: string; readonly certFile: string; readonly keyFile: string }
}

export class EtcdServer {
  readonly endpoint: string
  readonly port: number
  readonly #arguments: readonly string[]
  readonly #folder: string
  #process: ChildProcess | undefined

  /** A port that was free may be somebody else's by the time etcd takes it: then other ports are tried. */
  static async start(options: EtcdServerOptions = {}): Promise<EtcdServer> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await EtcdServer.#startOnce(options)
      } catch (error) {
        if (attempt === startsMax || !/address already in use/.test(String(error))) throw error
      }
    }
  }

  static async #startOnce({ args = [], tls }: EtcdServerOptions): Promise<EtcdServer> {
    const peer = `http://127.0.0.1:${await freePort()}`
    const guard = tls
      ? ['--cert-file', tls.certFile, '--key-file', tls.keyFile, '--trusted-ca-file', tls.caFile, '--client-cert-auth']
      : []
    const server = await EtcdServer.#make(tls ? 'https' : 'http', peer, [
      '--name',
      'm0',
      '--initial-cluster',
      `m0=${peer}`,
      ...guard,
      ...args,
    ])
    try {
      await server.startAgain()
    } catch (error) {
      await server.stop()
      throw error
    }
    return server
  }

  /** Several servers that are one etcd. */
  static async startCluster(size: number): Promise<EtcdServer[]> {
    const peers: string[] = []
    while (peers.length < size) peers.push(`http://127.0.0.1:${await freePort()}`)
    const cluster = peers.map((peer, index) => `m${index}=${peer}`).join()
    const servers: EtcdServer[] = []
    for (const [index, peer] of peers.entries())
      servers.push(await EtcdServer.#make('http', peer, ['--name', `m${index}`, '--initial-cluster', cluster]))
    await Promise.all(servers.map((server) => server.startAgain()))
    return servers
  }

  static async #make(protocol: string, peer: string, args: readonly string[]): Promise<EtcdServer> {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-etcd-'))
    const port = await freePort()
    const client = `${protocol}://127.0.0.1:${port}`
    return new EtcdServer(port, folder, [
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
      '--heartbeat-interval',
      '20',
      '--election-timeout',
      '200',
      '--logger',
      'zap',
      '--log-outputs',
      'stderr',
      ...args,
    ])
  }

  private constructor(port: number, folder: string, args: readonly string[]) {
    this.port = port
    this.endpoint = args[args.indexOf('--listen-client-urls') + 1] ?? ''
    this.#folder = folder
    this.#arguments = args
  }

  /** Starts the server on its old folder and ports; ready when this resolves. */
  async startAgain(): Promise<void> {
    const child = spawn('etcd', this.#arguments, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#process = child
    running.add(child)
    child.once('exit', () => running.delete(child))
    const lines: string[] = []
    let isServing = false
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line)
      isServing = /serving client traffic|serving insecure client|serving client requests/.test(line)
      if (isServing) break
    }
    child.stderr.resume()
    if (!isServing || child.exitCode !== null) throw new Error(`etcd did not start:\n${lines.slice(-10).join('\n')}`)
  }

  /** kill -9. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  pause(): void {
    this.#process?.kill('SIGSTOP')
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    await this.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }

  /** Runs etcdctl against this server; gives what it printed. */
  control(...args: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync('etcdctl', ['--endpoints', this.endpoint, ...args], {
      env: { ...process.env, ETCDCTL_API: '3' },
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`etcdctl ${args.join(' ')}: ${stderr}`)
    return stdout
  }
}

/** Tries until it is true, for what happens on etcd's clock and not on ours. */
export async function eventually(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const clock = new SystemClock()
  const until = clock.monotonic() + 30_000
  while (!(await isTrue())) {
    if (clock.monotonic() > until) throw new Error(`never happened: ${what}`)
    await sleep(clock, 5)
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
