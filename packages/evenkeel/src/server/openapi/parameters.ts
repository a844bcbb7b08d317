/**
 * Parameters of operations with their descriptions, by action and, for streams and logs, by what is connected to.
 *
 * A parameter is one constant, so that documents can compare parameters by identity.
 */
import { compareText } from '#api'

export interface OpenApiParameter {
  readonly name: string
  readonly place: 'path' | 'query'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

export type OpenApiAction =
  | 'connect'
  | 'delete'
  | 'deletecollection'
  | 'get'
  | 'list'
  | 'patch'
  | 'post'
  | 'put'
  | 'watch'
  | 'watchlist'

const pretty = text(
  'pretty',
  'Indents the answer when true. The default is false, and true for browsers, curl and wget.',
)

const inPath = new Map<string, OpenApiParameter>(
  [
    text('name', 'The name of the object.'),
    text('namespace', 'The namespace of the object or the collection.'),
    text('path', 'The rest of the path, which the target of the connection gets.'),
  ].map((parameter) => [parameter.name, { ...parameter, place: 'path' }]),
)

const resourceVersion = text(
  'resourceVersion',
  'The oldest data that is good enough. Empty means the newest, 0 means any. A watch sends the changes after it.',
)
const listing = [
  text('continue', 'The token of the next page, from metadata.continue of the last one. The other parameters stay.'),
  text(
    'fieldSelector',
    'A selector to restrict the list of returned objects by fields, such as metadata.name=web. The default is everything.',
  ),
  text(
    'labelSelector',
    'A selector to restrict the list of returned objects by labels, such as app=web,tier!=test. The default is everything.',
  ),
  integer(
    'limit',
    'The most objects on a page. When there are more, metadata.continue has the token of the next page.',
  ),
  resourceVersion,
  text(
    'resourceVersionMatch',
    'How a list uses resourceVersion: Exact for that version, NotOlderThan for that one or a later one. It needs resourceVersion.',
  ),
  flag(
    'sendInitialEvents',
    'Begins a watch with an ADDED event for each object and a BOOKMARK after the last one. It needs watch and resourceVersionMatch NotOlderThan.',
  ),
  integer('timeoutSeconds', 'Seconds after which the server ends a list or a watch, however active it is.'),
]
const watching = [
  flag(
    'allowWatchBookmarks',
    'Also sends BOOKMARK events, which only carry a newer resource version. They have no fixed rhythm.',
  ),
  flag('watch', 'Watch for changes to the described resources: the answer is a stream of events, not a list.'),
]
const dryRun = text('dryRun', 'With All, the server makes every check and answers as usual, but stores nothing.')
const deleting = [
  dryRun,
  integer(
    'gracePeriodSeconds',
    'Seconds that the object has to end by itself. 0 deletes at once. The default is that of the kind or the object.',
  ),
  flag(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'Deletes an object that the server cannot read from its store, without finalizers and preconditions. It may break the cluster. The default is false.',
  ),
  flag(
    'orphanDependents',
    'Deprecated, use propagationPolicy. True keeps the dependents of the object. It excludes propagationPolicy.',
  ),
  text(
    'propagationPolicy',
    'What happens to dependents: Orphan keeps them, Background deletes them after the object, Foreground before it.',
  ),
]
const writing = [
  dryRun,
  text(
    'fieldManager',
    'The name of the program that writes, which will own the changed fields. At most 128 characters.',
  ),
  text(
    'fieldValidation',
    'What happens to unknown and repeated fields: Ignore drops them, Warn drops them with a warning, Strict refuses the request. The default is Warn.',
  ),
]
const force = flag(
  'force',
  'Takes over fields that other managers own, in place of a conflict. Only for apply patches.',
)

const byAction: Readonly<Record<OpenApiAction, readonly OpenApiParameter[]>> = {
  connect: [],
  delete: deleting,
  deletecollection: [...listing, ...deleting],
  get: [],
  list: [...listing, ...watching],
  patch: [...writing, force],
  post: writing,
  put: writing,
  watch: [...listing, ...watching],
  watchlist: [...listing, ...watching],
}

const container = text(
  'container',
  'The container of the Pod. The default is its only container; with several it is required.',
)
const streams = [
  container,
  flag('stderr', 'Whether to send standard error to the client.'),
  flag('stdin', 'Whether to send input of the client to standard input. The default is false.'),
  flag('stdout', 'Whether to send standard output to the client.'),
  flag('tty', 'Whether the streams are a terminal. The default is false.'),
]
const command = text('command', 'The program, and with each repetition one of its arguments. No shell runs it.')
const proxyPath = text('path', 'The path and query that the target of the connection gets.')

const byKind = new Map<string, readonly OpenApiParameter[]>([
  ['PodAttachOptions', streams],
  ['PodExecOptions', [command, ...streams]],
  ['ConnectOptions', [command, ...streams]],
  ['PodPortForwardOptions', [integer('ports', 'The ports to forward. Needed for WebSockets.')]],
  ['PodProxyOptions', [proxyPath]],
  ['ServiceProxyOptions', [proxyPath]],
  ['NodeProxyOptions', [proxyPath]],
])

const logs = [
  container,
  flag('follow', 'Keeps the answer open and sends new lines as they come. The default is false.'),
  flag(
    'insecureSkipTLSVerifyBackend',
    'Does not check the certificate of the kubelet, so that the log may come from another machine. The default is false.',
  ),
  integer('limitBytes', 'The most bytes to send. The last line may be cut.'),
  flag('previous', 'The log of the container before its last restart. The default is false.'),
  integer('sinceSeconds', 'Only lines of the last so many seconds.'),
  text('stream', 'All, Stdout or Stderr. The default is All, and with tailLines only All is allowed.'),
  integer('tailLines', 'Only the last so many lines.'),
  flag('timestamps', 'Puts the time before each line. The default is false.'),
]

interface OperationOptions {
  readonly path: string
  readonly action: OpenApiAction
  /** Reads of custom resources name the version that they need. */
  readonly custom: boolean
  /** The kind of the object that is sent; for a connection that of its options. */
  readonly kind: string
  readonly isLog: boolean
  /** The parameters of a stream are known to its handler only. */
  readonly isStream: boolean
}

/** The parameters of an operation by name, those of its path included. */
export function parametersOf({
  path,
  action,
  custom,
  kind,
  isLog,
  isStream,
}: OperationOptions): readonly OpenApiParameter[] {
  const named = [...path.matchAll(/\{(\w+)\}/g)].flatMap(([, name = '']) => inPath.get(name) ?? [])
  if (isStream) return named.sort((a, b) => compareText(a.name, b.name))
  // A streaming response has no `pretty` parameter.
  const own = action === 'connect' ? (byKind.get(kind) ?? []) : [...(isLog ? logs : byAction[action]), pretty]
  const version = custom && action === 'get' ? [resourceVersion] : []
  return [...named, ...own, ...version].sort((a, b) => compareText(a.name, b.name))
}

function text(name: string, description: string): OpenApiParameter {
  return { name, place: 'query', type: 'string', description }
}

function integer(name: string, description: string): OpenApiParameter {
  return { name, place: 'query', type: 'integer', description }
}

function flag(name: string, description: string): OpenApiParameter {
  return { name, place: 'query', type: 'boolean', description }
}
