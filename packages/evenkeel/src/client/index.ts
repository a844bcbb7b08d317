/**
 * Layer 3: the client of any API server, ours or another, in process or over HTTP. Published as `evenkeel/client`.
 */

export { Client, type StatusPatch, type RawResponse, type RawRequest } from './client.ts'
export type { ClientOptions, ClientDefaults, WriteHooks, WriteNotice } from './core.ts'
export {
  connect,
  openConnection,
  type ConnectOptions,
  type OpenConnectionOptions,
  type OpenedConnection,
} from './connect.ts'

export type {
  ApplyOptions,
  CallOptions,
  CreateOptions,
  DeleteAllOptions,
  DeleteOptions,
  FieldValidation,
  GetOptions,
  ListOptions,
  ObjectName,
  PageOptions,
  PatchFromOptions,
  PatchOptions,
  PatchType,
  Selection,
  WatchOptions,
  WriteOptions,
} from './request-options.ts'
export type { Scale, Subresource } from './subresource.ts'
export {
  ConnectionError,
  isConnectionError,
  type ConnectionErrorOptions,
  type ConnectionProblem,
} from './connection-error.ts'
export type { WarningHandler } from './rest-client.ts'

export { isUnknownKind, UnknownKindError } from './mapper.ts'
export {
  metadataOnly,
  refTo,
  type DiscoveredResource,
  type KindLike,
  type MetadataKind,
  type ObjectMetadata,
  type ReadOf,
  type Resource,
  type WrittenOf,
  type ObjectRef,
  type WriteResult,
} from './resource.ts'

export {
  invalidWatchLine,
  parseWatchLine,
  type BookmarkEvent,
  type ChangeEvent,
  type ErrorEvent,
  type WatchEvent,
  type WatchStream,
} from './watch-stream.ts'
export { retryOnConflict, type CreateOrUpdateResult, type RetryOnConflictOptions } from './create-or-update.ts'
export type { PatchBody } from './writes.ts'

export { httpTransport, type HttpConnection, type HttpOptions, type TlsMaterial } from './transport.ts'
export { withRateLimit, withRetry, type RateLimitOptions, type RetryOptions } from './retry.ts'
export {
  basic,
  bearer,
  fixedCredential,
  withCredentials,
  tokenFile,
  type Credential,
  type CredentialSource,
  type TokenFileOptions,
} from './credentials.ts'

export { ConfigError, isConfigError } from './config-field.ts'
export {
  findConfig,
  loadConfig,
  inClusterConfig,
  type ConnectionConfig,
  type TextSource,
  type LoadConfigOptions,
} from './connection-config.ts'
export type { ExecConfig } from './exec-credential.ts'
export type { Impersonation } from './kubeconfig.ts'
export type { Host, ProgramCall, ProgramResult } from './host.ts'
