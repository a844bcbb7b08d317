/**
 * Layer 3: the client of any API server, ours or another, in process or over HTTP. Published as `evenkeel/client`.
 */
export { Client } from './client.ts'
export type { StatusPatch } from './client.ts'
export type { ClientOptions } from './make-core.ts'
export type { ClientDefaults, WriteHooks, WriteNotice } from './core.ts'
export { connect, openConnection } from './connect.ts'
export type { ConnectOptions, OpenConnectionOptions, OpenedConnection } from './connect.ts'

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
} from './options.ts'
export type { RawResponse, RawRequest } from './raw.ts'
export type { Scale, Subresource } from './subresource.ts'
export { ConnectionError, isConnectionError } from './request/connection-error.ts'
export type { ConnectionErrorOptions, ConnectionProblem } from './request/connection-error.ts'
export type { WarningHandler } from './request/warnings.ts'

export { isUnknownKind, UnknownKindError } from './mapping/mapper.ts'
export { metadataOnly } from './mapping/resource.ts'
export type {
  DiscoveredResource,
  KindLike,
  MetadataKind,
  ObjectMetadata,
  ReadOf,
  Resource,
  WrittenOf,
} from './mapping/resource.ts'

export { invalidWatchLine, parseWatchLine } from './watching/event.ts'
export type { BookmarkEvent, ChangeEvent, ErrorEvent, WatchEvent } from './watching/event.ts'
export type { WatchStream } from './watching/watch-stream.ts'
export type { CreateOrUpdateResult } from './writing/ensure.ts'
export { refTo } from './writing/object-ref.ts'
export type { ObjectRef, WriteResult } from './writing/object-ref.ts'
export { retryOnConflict } from './writing/retry-on-conflict.ts'
export type { RetryOnConflictOptions } from './writing/retry-on-conflict.ts'
export type { PatchBody } from './writing/send.ts'

export { httpTransport } from './transport/http.ts'
export type { HttpConnection, HttpOptions, TlsMaterial } from './transport/http.ts'
export { withRateLimit } from './transport/rate-limit.ts'
export type { RateLimitOptions } from './transport/rate-limit.ts'
export { withRetry } from './transport/retry.ts'
export type { RetryOptions } from './transport/retry.ts'
export { basic, bearer, fixedCredential, withCredentials } from './auth/credential.ts'
export type { Credential, CredentialSource } from './auth/credential.ts'
export { tokenFile } from './auth/token-file.ts'
export type { TokenFileOptions } from './auth/token-file.ts'

export { ConfigError, isConfigError } from './config/config-error.ts'
export type { ConnectionConfig, TextSource } from './config/connection-config.ts'
export type { ExecConfig } from './auth/exec-config.ts'
export type { Impersonation } from './config/kubeconfig.ts'
export type { Host, ProgramCall, ProgramResult } from './config/host.ts'
export { findConfig, loadConfig } from './config/load-config.ts'
export type { LoadConfigOptions } from './config/load-config.ts'
export { inClusterConfig } from './config/in-cluster.ts'
