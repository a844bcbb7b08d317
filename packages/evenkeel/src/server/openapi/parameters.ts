/**
 * Query parameters of operations, by action and, for streams and logs, by what is connected to.
 */
export interface QueryParameter {
  readonly name: string
  readonly type: 'string' | 'integer' | 'boolean'
}

export type OpenApiAction = 'connect' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'post' | 'put'

const listing = [
  text('continue'),
  text('fieldSelector'),
  text('labelSelector'),
  integer('limit'),
  text('resourceVersion'),
  text('resourceVersionMatch'),
  flag('sendInitialEvents'),
  integer('timeoutSeconds'),
]
const deleting = [
  text('dryRun'),
  integer('gracePeriodSeconds'),
  flag('ignoreStoreReadErrorWithClusterBreakingPotential'),
  flag('orphanDependents'),
  text('propagationPolicy'),
]
const writing = [text('dryRun'), text('fieldManager'), text('fieldValidation')]

const byAction: Readonly<Record<OpenApiAction, readonly QueryParameter[]>> = {
  connect: [],
  delete: deleting,
  deletecollection: sorted([...listing, ...deleting]),
  get: [],
  list: sorted([...listing, flag('allowWatchBookmarks'), flag('watch')]),
  patch: [...writing, flag('force')],
  post: writing,
  put: writing,
}

const streams = [text('container'), flag('stderr'), flag('stdin'), flag('stdout'), flag('tty')]

const byKind = new Map<string, readonly QueryParameter[]>([
  ['PodAttachOptions', streams],
  ['PodExecOptions', [text('command'), ...streams]],
  ['PodPortForwardOptions', [integer('ports')]],
  ['PodProxyOptions', [text('path')]],
  ['ServiceProxyOptions', [text('path')]],
  ['NodeProxyOptions', [text('path')]],
])

const logs = [
  text('container'),
  flag('follow'),
  flag('insecureSkipTLSVerifyBackend'),
  integer('limitBytes'),
  flag('previous'),
  integer('sinceSeconds'),
  text('stream'),
  integer('tailLines'),
  flag('timestamps'),
]

/** The parameters of an action on a resource. */
export function actionParameters(action: OpenApiAction): readonly QueryParameter[] {
  return byAction[action]
}

/** The parameters that a connection takes, by the kind of its options. */
export function connectParameters(kind: string): readonly QueryParameter[] {
  return byKind.get(kind) ?? []
}

/** The parameters of a read that answers with text. */
export function logParameters(): readonly QueryParameter[] {
  return logs
}

function text(name: string): QueryParameter {
  return { name, type: 'string' }
}

function integer(name: string): QueryParameter {
  return { name, type: 'integer' }
}

function flag(name: string): QueryParameter {
  return { name, type: 'boolean' }
}

function sorted(parameters: readonly QueryParameter[]): readonly QueryParameter[] {
  return parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
