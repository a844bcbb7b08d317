/**
 * `evenkeel/client`: talk to any Kubernetes API server with typed kinds.
 */
export { parseJson, stringifyJson } from '#api'
export {
  Client,
  connect,
  ConnectionError,
  isConfigError,
  isConnectionError,
  isUnknownKind,
  loadConfig,
  metadataOnly,
  refTo,
  retryOnConflict,
  type ApplyOptions,
  type ClientOptions,
  type ConnectionConfig,
  type ConnectionProblem,
  type ConnectOptions,
  type CreateOptions,
  type DeleteOptions,
  type DiscoveredResource,
  type GetOptions,
  type ListOptions,
  type ObjectName,
  type PatchOptions,
  type RemoteCommand,
  type RemoteCommandOptions,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '#client'
