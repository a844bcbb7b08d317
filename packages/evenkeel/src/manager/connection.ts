/**
 * How a manager reaches its cluster: a server in this process, or one that a configuration names.
 */
import type { Clock } from '#base'
import { openConnection } from '#client'
import type { ClientOptions, ConnectionConfig, Host } from '#client'

/** One of the two. */
export interface ClusterSource {
  /** That of a server in this process, or one of your own. */
  readonly transport?: ClientOptions['transport']
  /** What `loadConfig` or `findConfig` found. */
  readonly config?: ConnectionConfig
  /** Whom the configuration's files and programs come from. @default this machine */
  readonly host?: Host
}

export interface Connection {
  readonly transport: ClientOptions['transport']
  readonly config: ConnectionConfig | undefined
  /** Where objects without a namespace live. */
  readonly namespace: string
  close(): Promise<void>
}

/** Nothing is sent yet. @throws {RangeError} when it is not clear which cluster is meant. */
export function connectionTo({ transport, config, host }: ClusterSource, { clock }: { clock: Clock }): Connection {
  if ((transport === undefined) === (config === undefined)) throw new RangeError('a manager needs either a transport or a config: loadConfig finds one')
  if (transport) return { transport, config: undefined, namespace: 'default', close: () => Promise.resolve() }
  const opened = openConnection(config as ConnectionConfig, { clock, ...host && { host } })
  return { ...opened, config, namespace: config?.namespace ?? 'default' }
}
