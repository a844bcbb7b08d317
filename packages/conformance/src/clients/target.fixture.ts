/**
 * The server that clients talk to: one of ours with sockets and TLS, or the one of the kubeconfig that
 * `EVENKEEL_CLIENTS_KUBECONFIG` names, by which what the tests expect is itself judged.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPlane, writeKubeconfig } from 'evenkeel/server'
import { assert } from 'evenkeel/unstable/base'

export interface ClientTarget {
  readonly kubeconfig: string
  /** Not one of ours: what differs on purpose is left out. */
  readonly foreign: boolean
  /** A folder for whoever is a client; it goes when the target goes. */
  readonly home: string
  /** Forgets all history, if it can be told to. */
  readonly compact: (() => Promise<void>) | undefined
  stop(): Promise<void>
}

interface ClientTargetOptions {
  readonly env?: NodeJS.ProcessEnv
  /** Whether controllers act on what clients make. @default false */
  readonly controllers?: boolean
}

/** Starts what clients are to talk to. It ends when it is told to. */
export async function startClientTarget({
  env = process.env,
  controllers = false,
}: ClientTargetOptions = {}): Promise<ClientTarget> {
  const home = await mkdtemp(join(tmpdir(), 'evenkeel-clients-'))
  const clean = (): Promise<void> => rm(home, { recursive: true, force: true })
  const given = env['EVENKEEL_CLIENTS_KUBECONFIG']
  if (given !== undefined) return { kubeconfig: given, foreign: true, home, compact: undefined, stop: clean }
  const server = await startPlane({ listen: {}, ...(!controllers && { controllers: false }) })
  assert(server.address, 'the server listens')
  const { url, token, caPem } = server.address
  const kubeconfig = join(home, 'kubeconfig')
  await writeKubeconfig(kubeconfig, { server: url, token, ...(caPem !== undefined && { caPem }) })
  return {
    kubeconfig,
    foreign: false,
    home,
    compact: () => server.compact(),
    async stop() {
      await server.stop({ graceMs: 0 })
      await clean()
    },
  }
}
