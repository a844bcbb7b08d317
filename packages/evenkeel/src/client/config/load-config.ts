/**
 * Where the cluster is: what the caller says, else `KUBECONFIG`, else `~/.kube/config`, else the pod we run in.
 */
import { join } from 'node:path'
import { ConfigError } from './config-error.ts'
import { connectionOf } from './connection-config.ts'
import type { ConnectionConfig } from './connection-config.ts'
import { systemHost } from './host.ts'
import type { Host } from './host.ts'
import { inClusterConfig } from './in-cluster.ts'
import { mergeKubeconfigs, parseKubeconfig } from './kubeconfig.ts'
import type { Kubeconfig } from './kubeconfig.ts'

export interface LoadConfigOptions {
  /** A kubeconfig file. @default see above */
  readonly kubeconfig?: string
  /** @default the file's current context */
  readonly context?: string
  /** @default this machine */
  readonly host?: Host
}

/** How to reach the cluster. @throws {ConfigError} when none is configured, or not properly. */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<ConnectionConfig> {
  const config = await findConfig(options)
  if (config) return config
  throw new ConfigError(
    'no cluster is configured: set KUBECONFIG, write ~/.kube/config, or run in a pod with a service account',
  )
}

/** The same, undefined when no cluster is configured at all. A mistake is an error all the same. */
export async function findConfig({ kubeconfig, context, host = systemHost() }: LoadConfigOptions = {}): Promise<
  ConnectionConfig | undefined
> {
  const chosen = context === undefined ? {} : { context }
  if (kubeconfig !== undefined) return connectionOf(await readAll([kubeconfig], host, kubeconfig), chosen)
  const named = [...new Set((host.env['KUBECONFIG'] ?? '').split(host.pathDelimiter).filter((path) => path !== ''))]
  if (named.length > 0) return connectionOf(await readAll(named, host, 'KUBECONFIG'), chosen)
  const own = join(host.home, '.kube', 'config')
  const found = await readOne(own, host)
  // A file that kubectl left behind when the last cluster went is as good as none.
  if (found && (found.contexts.size > 0 || context !== undefined)) return connectionOf(found, chosen)
  if (context !== undefined)
    throw new ConfigError(`there is no context ${JSON.stringify(context)}: ${own} does not exist`)
  return inClusterConfig(host)
}

/** Files that are not there are passed over, unless none is there. */
async function readAll(paths: readonly string[], host: Host, what: string): Promise<Kubeconfig> {
  const read = await Promise.all(paths.map((path) => readOne(path, host)))
  const found = read.filter((config) => config !== undefined)
  if (found.length > 0) return mergeKubeconfigs(found)
  throw new ConfigError(
    what === 'KUBECONFIG'
      ? `KUBECONFIG names ${paths.join(', ')}, which does not exist`
      : `the kubeconfig ${what} does not exist`,
  )
}

async function readOne(path: string, host: Host): Promise<Kubeconfig | undefined> {
  let text: string
  try {
    text = await host.readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new ConfigError(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
  return parseKubeconfig(text, path)
}
