/**
 * Layer 3: the client of any API server, ours or another, in process or over HTTP. Published as `evenkeel/client`.
 */

export { Client } from './client.ts'
export type { ClientOptions, ClientDefaults, WriteHooks, WriteNotice } from './core.ts'
export { connect, openConnection, type ConnectOptions } from './connect.ts'

export type {
  ApplyOptions,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  ListOptions,
  ObjectName,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from './request-options.ts'

export { ConnectionError, isConnectionError, type ConnectionProblem } from './connection-error.ts'

export { isUnknownKind } from './mapper.ts'
export { metadataOnly, refTo, type DiscoveredResource, type KindLike, type ReadOf, type WrittenOf } from './resource.ts'

export { invalidWatchLine, parseWatchLine, type WatchEvent } from './watch-stream.ts'
export { retryOnConflict, type CreateOrUpdateResult } from './create-or-update.ts'

export type { RemoteCommand, RemoteCommandOptions } from './remote-command.ts'

export { httpTransport } from './transport.ts'

export { bearer, fixedCredential, withCredentials, type Credential, type CredentialSource } from './credentials.ts'

export { ConfigError, isConfigError } from './config-field.ts'
export { findConfig, loadConfig, type ConnectionConfig, type LoadConfigOptions } from './connection-config.ts'

export type { Host } from './host.ts'
