/**
 * How a manager reaches its cluster: a server in this process, or one that a configuration names.
 */
import type { Clock } from '#base'
import { openConnection } from '#client'
import type { ClientOptions, ConnectionConfig, CredentialSource, Host } from '#client'

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
  /** Whoever else connects must take them from here: getting them runs a program, or asks a host of the caller's. */
  readonly credentials: CredentialSource | undefined
  /** Where objects without a namespace live. */
  readonly namespace: string
  close(): Promise<void>
}

/** Nothing is sent yet. @throws {RangeError} when it is not clear which cluster is meant. */
export function connectionTo({ transport, config, host }: ClusterSource, { clock }: { clock: Clock }): Connection {
  if ((transport === undefined) === (config === undefined))
    throw new RangeError('a manager needs either a transport or a config: loadConfig finds one')
  if (transport)
    return {
      transport,
      config: undefined,
      credentials: undefined,
      namespace: 'default',
      close: () => Promise.resolve(),
    }
  const opened = openConnection(config as ConnectionConfig, { clock, ...(host && { host }) })
  const isShared = config?.exec !== undefined || host !== undefined
  return {
    ...opened,
    config,
    credentials: isShared ? opened.credentials : undefined,
    namespace: config?.namespace ?? 'default',
  }
}
