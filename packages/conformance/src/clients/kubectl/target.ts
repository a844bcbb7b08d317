/**
 * The server that sessions are played against: one of ours, or the one of the kubeconfig that `EVENKEEL_CLIENTS_KUBECONFIG`
 * names, by which the sessions themselves are judged.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer, writeKubeconfig } from 'evenkeel/server'
import { assert } from 'evenkeel/unstable/base'
import type { Kubectl } from './binaries.ts'
import type { Access } from './play.ts'

export interface SessionTarget {
  readonly access: Access
  /** Not one of ours: steps with another answer here are left out. */
  readonly foreign: boolean
  /** A folder for whoever plays; it goes when the target goes. */
  readonly home: string
  stop(): Promise<void>
}

export async function startTarget(kubectl: Kubectl, { env = process.env }: { env?: NodeJS.ProcessEnv } = {}): Promise<SessionTarget> {
  const home = await mkdtemp(join(tmpdir(), 'evenkeel-kubectl-'))
  const clean = (): Promise<void> => rm(home, { recursive: true, force: true })
  const given = env['EVENKEEL_CLIENTS_KUBECONFIG']
  if (given !== undefined) return { access: accessOf(given, kubectl), foreign: true, home, stop: clean }
  const server = await startServer({ listen: {} })
  assert(server.address, 'the server listens')
  const { url, token, caPem } = server.address
  const kubeconfig = join(home, 'kubeconfig')
  await writeKubeconfig(kubeconfig, { server: url, token, ...caPem !== undefined && { caPem } })
  const stop = async (): Promise<void> => {
    await server.stop({ graceMs: 0 })
    await clean()
  }
  return { access: accessOf(kubeconfig, kubectl), foreign: false, home, stop }
}

/** What the current context of a kubeconfig calls its cluster and its user. */
function accessOf(kubeconfig: string, { path }: Kubectl): Access {
  const { stdout } = spawnSync(path, ['config', 'view', '--minify', '--kubeconfig', kubeconfig, '-o', 'jsonpath={.contexts[0].context.cluster} {.contexts[0].context.user}'], { encoding: 'utf8' })
  const [cluster = '', user = ''] = stdout.split(' ')
  return { kubeconfig, cluster, user }
}
