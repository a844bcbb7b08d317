/**
 * The operations of a resource, as data: paths, methods, descriptions, inputs and outputs.
 *
 * Both OpenAPI versions are generated from this. Methods, kinds and operation ids follow upstream, because generated
 * clients take their names from them.
 */
import type { GroupVersionKind } from '#api'
import type { Resource, Subresource, Verb } from '@evenkeel/builtins'
import { parametersOf, type OpenApiAction, type OpenApiParameter } from './parameters.ts'
import { builtinType, kindType, listType, resourceType, type PublishedType } from './schemas.ts'

type HttpMethod = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put'

export interface OpenApiOperation {
  readonly path: string
  readonly method: HttpMethod
  readonly id: string
  readonly action: OpenApiAction
  readonly kind: GroupVersionKind
  readonly description: string
  readonly parameters: readonly OpenApiParameter[]
  /** Of a custom resource. */
  readonly custom: boolean
  readonly body?: PublishedType
  /** Absent: the response is text or a stream. */
  readonly response?: PublishedType
}

/** The operations of one path. */
export interface OpenApiPath {
  readonly path: string
  /** The parameters that every operation takes; operations only have the others. */
  readonly parameters: readonly OpenApiParameter[]
  readonly operations: readonly OpenApiOperation[]
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
const watchShapes = [
  { verb: 'watch', method: 'get', action: 'watch', word: 'watch' },
  { verb: 'watch', method: 'get', action: 'watchlist', word: 'watch' },
] as const satisfies readonly OperationShape[]
const proxyMethods: readonly HttpMethod[] = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put']

/** The paths of a resource with their operations. */
export function pathsOf(resource: Resource): OpenApiPath[] {
  const byPath = new Map<string, OpenApiOperation[]>()
  for (const operation of operationsOf(resource)) {
    const known = byPath.get(operation.path)
    if (known) known.push(operation)
    else byPath.set(operation.path, [operation])
  }
  return [...byPath].map(([path, operations]) => withCommonParameters(path, operations))
}

function withCommonParameters(path: string, operations: readonly OpenApiOperation[]): OpenApiPath {
  const [first, ...others] = operations.map(({ parameters }) => parameters)
  const common = new Set(first?.filter((parameter) => others.every((other) => other.includes(parameter))))
  const own = operations.map((operation) => ({
    ...operation,
    parameters: operation.parameters.filter((parameter) => !common.has(parameter)),
  }))
  return { path, parameters: [...common], operations: own }
}

function operationsOf(resource: Resource): OpenApiOperation[] {
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
    ...(resource.custom ? [] : watchOperations({ resource, prefix, root })),
  ]
}

/** The deprecated paths of watches, which have no query parameter. Custom resources never had them. */
function watchOperations({
  resource,
  prefix,
  root,
}: {
  resource: Resource
  prefix: string
  root: string
}): OpenApiOperation[] {
  const { plural, scope } = resource
  const path = scope === 'Namespaced' ? `${root}/watch/namespaces/{namespace}/${plural}` : `${root}/watch/${plural}`
  const everywhere = { resource, prefix, path: `${root}/watch/${plural}`, everywhere: true } as const
  const [one, many] = watchShapes
  return [
    ...(scope === 'Namespaced' ? served([many], everywhere) : []),
    ...served([many], { resource, prefix, path }),
    ...served([one], { resource, prefix, path: `${path}/{name}` }),
  ]
}

/** `CoreV1`, `RbacAuthorizationV1`, `StableExampleComV1`. */
export function operationPrefix(group: string, version: string): string {
  const words = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
  return [...words, version].map(capitalize).join('')
}

function subresourceOperations(place: OperationLocation & { subresource: Subresource }): OpenApiOperation[] {
  const { resource, subresource } = place
  if (subresource.role !== 'connect' && (resource.custom || !subresource.kind.endsWith('Options')))
    return served(subresourceShapes, place)
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
  const { custom } = resource
  const isStream = subresource?.role === 'stream'
  const isLog = subresource?.name === 'log' && !isStream
  const body = bodyOf(action, place)
  const kind = custom || !subresource ? kindOf(resource) : kindOf(subresource)
  return {
    path,
    method,
    id: operationId(word, action, place),
    action,
    kind,
    description: descriptionOf(action, place),
    parameters: parametersOf({ path, action, custom, kind: kind.kind, isLog, isStream }),
    custom,
    ...(body && { body }),
    ...(!isLog && !isStream && { response: responseOf(action, place) }),
  }
}

function connection(method: HttpMethod, place: OperationLocation & { subresource: Subresource }): OpenApiOperation {
  const { resource, path, subresource } = place
  const id = operationId(`connect`, 'connect', { ...place, prefix: place.prefix + capitalize(method) })
  return {
    path,
    method,
    id,
    action: 'connect',
    kind: kindOf(subresource),
    description: `Connects ${method.toUpperCase()} requests to ${subresource.name} of one ${resource.kind}.`,
    parameters: connectParameters(path, subresource.kind),
    custom: false,
  }
}

function connectParameters(path: string, kind: string): readonly OpenApiParameter[] {
  return parametersOf({ path, action: 'connect', custom: false, kind, isLog: false, isStream: false })
}

function withPath(proxy: OpenApiOperation): OpenApiOperation {
  const path = `${proxy.path}/{path}`
  return { ...proxy, path, id: `${proxy.id}WithPath`, parameters: connectParameters(path, proxy.kind.kind) }
}

/** `Reads status of one Pod.` */
function descriptionOf(action: OpenApiAction, { resource, subresource, everywhere }: OperationLocation): string {
  const part = subresource ? `${subresource.name} of ` : ''
  const scope = everywhere ? ' in all namespaces' : ''
  return operationTexts[action](`${part}one ${resource.kind}`, `${resource.kind} objects${scope}`)
}

const operationTexts: Readonly<Record<OpenApiAction, (one: string, many: string) => string>> = {
  connect: (one) => `Connects to ${one}.`,
  delete: (one) => `Deletes ${one}.`,
  deletecollection: (_, many) => `Deletes the ${many} that the selectors match, or all of them.`,
  get: (one) => `Reads ${one}.`,
  list: (_, many) => `Lists ${many}, or watches them.`,
  patch: (one) => `Changes parts of ${one}, or applies a configuration to it.`,
  post: (one) => `Creates ${one}.`,
  put: (one) => `Replaces ${one}.`,
  watch: (one) => `Watches ${one}. Deprecated: list with watch and a field selector of its name.`,
  watchlist: (_, many) => `Watches ${many}. Deprecated: list with watch.`,
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
    action === 'watchlist' ? 'List' : '',
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
  if (action === 'watch' || action === 'watchlist') return builtinType('meta.v1.WatchEvent')
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
