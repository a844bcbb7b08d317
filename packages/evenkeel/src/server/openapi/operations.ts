/**
 * The operations of a resource, as data: paths, methods, inputs and outputs.
 *
 * Both OpenAPI versions are generated from this. Methods, kinds and operation ids follow upstream, because generated
 * clients take their names from them.
 */
import type { GroupVersionKind } from '#api'
import type { Resource, Subresource, Verb } from '@evenkeel/builtins'
import { builtinType, kindType, listType, resourceType, type PublishedType } from './schemas.ts'

type HttpMethod = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put'

export interface OpenApiOperation {
  readonly path: string
  readonly method: HttpMethod
  readonly id: string
  readonly action: OpenApiAction
  readonly kind: GroupVersionKind
  readonly parameters: readonly QueryParameter[]
  readonly body?: PublishedType
  /** Absent: the response is text or a stream. */
  readonly response?: PublishedType
}

/** The parts of an operation id. */
interface OperationLocation {
  readonly resource: Resource
  /** `CoreV1`. */
  readonly prefix: string
  readonly path: string
  readonly subresource?: Subresource
  readonly everywhere?: true
}

interface OperationShape {
  readonly verb: Verb
  readonly method: HttpMethod
  readonly action: OpenApiAction
  /** The first word of the operation id. */
  readonly word: string
}

const collectionShapes: readonly OperationShape[] = [
  { verb: 'list', method: 'get', action: 'list', word: 'list' },
  { verb: 'create', method: 'post', action: 'post', word: 'create' },
  { verb: 'deletecollection', method: 'delete', action: 'deletecollection', word: 'delete' },
]
const objectShapes: readonly OperationShape[] = [
  { verb: 'get', method: 'get', action: 'get', word: 'read' },
  { verb: 'update', method: 'put', action: 'put', word: 'replace' },
  { verb: 'delete', method: 'delete', action: 'delete', word: 'delete' },
  { verb: 'patch', method: 'patch', action: 'patch', word: 'patch' },
]
const subresourceShapes: readonly OperationShape[] = [
  ...objectShapes,
  ...collectionShapes.filter(({ verb }) => verb === 'create'),
]
const proxyMethods: readonly HttpMethod[] = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put']

export function operationsOf(resource: Resource): OpenApiOperation[] {
  const { group, version, plural, scope } = resource
  const prefix = operationPrefix(group, version)
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const path = scope === 'Namespaced' ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`
  const everywhere = { resource, prefix, path: `${root}/${plural}`, everywhere: true } as const
  return [
    ...(scope === 'Namespaced' ? served(collectionShapes.slice(0, 1), everywhere) : []),
    ...served(collectionShapes, { resource, prefix, path }),
    ...served(objectShapes, { resource, prefix, path: `${path}/{name}` }),
    ...resource.subresources.flatMap((subresource) =>
      subresourceOperations({ resource, prefix, path: `${path}/{name}/${subresource.name}`, subresource }),
    ),
  ]
}

/** `CoreV1`, `RbacAuthorizationV1`, `StableExampleComV1`. */
export function operationPrefix(group: string, version: string): string {
  const words = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
  return [...words, version].map(capitalize).join('')
}

function subresourceOperations(place: OperationLocation & { subresource: Subresource }): OpenApiOperation[] {
  const { resource, subresource } = place
  if (resource.custom || !subresource.kind.endsWith('Options')) return served(subresourceShapes, place)
  const methods = subresource.verbs.includes('patch') ? proxyMethods : (['get', 'post'] as const)
  const connections = methods.map((method) => connection(method, place))
  return subresource.name === 'proxy' ? [...connections, ...connections.map(withPath)] : connections
}

function served(shapes: readonly OperationShape[], place: OperationLocation): OpenApiOperation[] {
  const verbs = place.subresource?.verbs ?? place.resource.verbs
  return shapes.filter(({ verb }) => verbs.includes(verb)).map((shape) => operation(shape, place))
}

function operation({ method, action, word }: OperationShape, place: OperationLocation): OpenApiOperation {
  const { resource, path, subresource } = place
  const isLog = subresource?.name === 'log'
  const body = bodyOf(action, place)
  return {
    path,
    method,
    id: operationId(word, action, place),
    action,
    kind: resource.custom || !subresource ? kindOf(resource) : kindOf(subresource),
    parameters: isLog ? logParameters() : actionParameters(action),
    ...(body && { body }),
    ...(!isLog && { response: responseOf(action, place) }),
  }
}

function connection(method: HttpMethod, place: OperationLocation & { subresource: Subresource }): OpenApiOperation {
  const { path, subresource } = place
  const id = operationId(`connect`, 'connect', { ...place, prefix: place.prefix + capitalize(method) })
  return {
    path,
    method,
    id,
    action: 'connect',
    kind: kindOf(subresource),
    parameters: connectParameters(subresource.kind),
  }
}

function withPath(proxy: OpenApiOperation): OpenApiOperation {
  return { ...proxy, path: `${proxy.path}/{path}`, id: `${proxy.id}WithPath` }
}

function operationId(
  word: string,
  action: OpenApiAction,
  { resource, prefix, subresource, everywhere }: OperationLocation,
): string {
  return [
    word,
    prefix,
    action === 'deletecollection' ? 'Collection' : '',
    resource.scope === 'Namespaced' && !everywhere ? 'Namespaced' : '',
    resource.kind,
    capitalize(subresource?.name ?? ''),
    everywhere ? 'ForAllNamespaces' : '',
  ].join('')
}

function bodyOf(action: OpenApiAction, place: OperationLocation): PublishedType | undefined {
  if (action === 'patch') return builtinType('meta.v1.Patch')
  if (action === 'delete' || action === 'deletecollection') return builtinType('meta.v1.DeleteOptions')
  return action === 'post' || action === 'put' ? objectType(place) : undefined
}

function responseOf(action: OpenApiAction, place: OperationLocation): PublishedType {
  if (action === 'list') return listType(place.resource)
  if (action === 'deletecollection') return builtinType('meta.v1.Status')
  if (action === 'delete' && !place.resource.strategy.returnsDeleted) return builtinType('meta.v1.Status')
  return objectType(place)
}

function objectType({ resource, subresource }: OperationLocation): PublishedType {
  const isOther =
    subresource &&
    (subresource.group !== resource.group ||
      subresource.version !== resource.version ||
      subresource.kind !== resource.kind)
  return isOther ? kindType(subresource) : resourceType(resource)
}

function kindOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, kind, version }
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/**
 * Query parameters of operations, by action and, for streams and logs, by what is connected to.
 */
interface QueryParameter {
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
function actionParameters(action: OpenApiAction): readonly QueryParameter[] {
  return byAction[action]
}

/** The parameters that a connection takes, by the kind of its options. */
function connectParameters(kind: string): readonly QueryParameter[] {
  return byKind.get(kind) ?? []
}

/** The parameters of a read that answers with text. */
function logParameters(): readonly QueryParameter[] {
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
