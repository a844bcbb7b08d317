/**
 * The connection of a program that runs in a pod: the server by its environment, the rest from the files of its
 * service account, which are exchanged while it runs.
 */
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { ConfigError } from './config-error.ts'
import type { ConnectionConfig } from './connection-config.ts'
import type { Host } from './host.ts'

const folder = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Undefined when this is no pod, or one without a service account. */
export async function inClusterConfig(host: Pick<Host, 'env' | 'readFile'>): Promise<ConnectionConfig | undefined> {
  const [name, port] = [host.env['KUBERNETES_SERVICE_HOST'], host.env['KUBERNETES_SERVICE_PORT']]
  if (!name || !port) return undefined
  const [tokenFile, caFile] = [join(folder, 'token'), join(folder, 'ca.crt')]
  const hasToken = await host.readFile(tokenFile).then(
    () => true,
    (error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
      throw new ConfigError(
        `the service account token ${tokenFile} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
        { cause: error },
      )
    },
  )
  if (!hasToken) return undefined
  const namespace = await host.readFile(join(folder, 'namespace')).then(
    (text) => text.trim(),
    () => '',
  )
  return {
    origin: 'the service account of this pod',
    server: `https://${isIPv6(name) ? `[${name}]` : name}:${port}`,
    namespace: namespace || 'default',
    token: { file: tokenFile },
    ca: { file: caFile },
  }
}
