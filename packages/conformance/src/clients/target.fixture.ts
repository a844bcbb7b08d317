/**
 * The server that clients talk to: an Evenkeel server with sockets and TLS, or the one of the kubeconfig in
 * `EVENKEEL_CLIENTS_KUBECONFIG`, which checks the expectations of the tests themselves.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readLogOptions, startPlane, writeKubeconfig, type StreamHandler } from 'evenkeel/server'
import { assert } from 'evenkeel/unstable/base'

export interface ClientTarget {
  readonly kubeconfig: string
  /** A folder for the client; removed with the target. */
  readonly home: string
  /** Compacts all history, if the target supports it. */
  readonly compact: (() => Promise<void>) | undefined
  stop(): Promise<void>
}

/** A line per state of a Pod, until it is deleted. */
const log: StreamHandler = ({ object, query, changes }) => {
  const line = ({ metadata: { name, labels } }: typeof object): Uint8Array =>
    Buffer.from(`${name} is ${labels?.['line'] ?? 'new'}\n`)
  async function* lines(): AsyncGenerator<Uint8Array> {
    yield line(object)
    if (readLogOptions(query).follow) for await (const state of changes()) yield line(state)
  }
  return { headers: { 'content-type': 'text/plain' }, body: lines() }
}

interface ClientTargetOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Whether controllers run, and Pods have a log. @default false */
  readonly controllers?: boolean
}

/** Starts the server for the clients. `stop` ends it. */
export async function startClientTarget({
  env = process.env,
  controllers = false,
}: ClientTargetOptions = {}): Promise<ClientTarget> {
  const home = await mkdtemp(join(tmpdir(), 'evenkeel-clients-'))
  const clean = (): Promise<void> => rm(home, { recursive: true, force: true })
  const given = env['EVENKEEL_CLIENTS_KUBECONFIG']
  if (given !== undefined) return { kubeconfig: given, home, compact: undefined, stop: clean }
  const server = await startPlane({
    listen: {},
    ...(controllers
      ? { customResources: [{ kind: { group: '', kind: 'Pod' }, streams: { log } }] }
      : { controllers: false }),
  })
  assert(server.address, 'the server listens')
  const { url, token, caPem } = server.address
  const kubeconfig = join(home, 'kubeconfig')
  await writeKubeconfig(kubeconfig, { server: url, token, ...(caPem !== undefined && { caPem }) })
  return {
    kubeconfig,
    home,
    compact: () => server.compact(),
    async stop() {
      await server.stop({ graceMs: 0 })
      await clean()
    },
  }
}
