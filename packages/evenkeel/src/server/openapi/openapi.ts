/**
 * The OpenAPI documents: the v3 index, a v3 document per group version, and one v2 document of everything.
 *
 * Documents are built on first use and cached. An OpenApi never changes: when resources do, a new one replaces it and
 * reuses every document whose resources are unchanged.
 */
import { setOwn, type GroupVersion, type JsonObject, type JsonObjectDraft } from '#api'
import type { Resource } from '@evenkeel/builtins'
import { makeDocument, type ServedDocument } from '../discovery/document.ts'
import { groupResources, type ServedVersion } from '../discovery/groups.ts'
import { operationPrefix, operationsOf, type OpenApiAction, type OpenApiOperation } from './operations.ts'
import { encodeMerged, remoteIndex, withRemotePaths, type RemoteOpenApi } from './remote.ts'
import { builtinType, Components } from './schemas.ts'

interface OpenApiOptions {
  /** The one to be replaced. @default none */
  readonly previous?: OpenApi
  /** Group versions that other servers serve. @default none */
  readonly remote?: readonly RemoteOpenApi[]
}

interface OpenApiDocumentOptions {
  /** The v2 document as gnostic protobuf; there is no such form of v3. @default false */
  readonly protobuf?: boolean
}

/** The media type of the v2 document as protobuf. */
const openApiProtobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

export class OpenApi {
  readonly #versions: ReadonlyMap<string, ServedVersion>
  readonly #plain: ReturnType<typeof nonResourceDocuments>
  readonly #remote: readonly RemoteOpenApi[]
  readonly #documents = new Map<string, ServedDocument>()

  constructor(resources: readonly Resource[], { previous, remote = [] }: OpenApiOptions = {}) {
    this.#remote = remote
    const served = new Set(remote.map(({ group, version }) => `${group}/${version}`))
    const groups = groupResources(resources.filter(({ group, version }) => !served.has(`${group}/${version}`)))
    const versions = groups.flatMap((group) => group.versions)
    this.#plain = nonResourceDocuments(groups.map(({ name }) => name).filter((name) => name !== ''))
    this.#versions = new Map(versions.map((served) => [pathOf(served), served]))
    for (const [path, served] of this.#versions) {
      const kept = previous?.reusable(path, served)
      if (kept) this.#documents.set(path, kept)
    }
  }

  /** The document at a path (`/openapi/v3`, `/openapi/v3/apis/apps/v1`, `/openapi/v2`), or undefined. */
  document(path: string, { protobuf = false }: OpenApiDocumentOptions = {}): ServedDocument | undefined {
    if (path === '/openapi/v2') return protobuf ? this.#swaggerProtobuf() : this.#swagger()
    if (protobuf) return undefined
    if (path === '/openapi/v3')
      return this.#keep('index', () => makeDocument(JSON.stringify(this.#index()), 'application/json'))
    return path.startsWith('/openapi/v3/') ? this.#versionDocument(path.slice('/openapi/v3/'.length)) : undefined
  }

  /** A finished document, if it was built from the same resources. */
  reusable(path: string, { resources }: ServedVersion): ServedDocument | undefined {
    const mine = this.#versions.get(path)?.resources
    const isSame = mine?.length === resources.length && mine.every((resource, index) => resource === resources[index])
    return isSame ? this.#documents.get(path) : undefined
  }

  #index(): { readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>> } {
    const entries = [...this.#versions.keys(), ...this.#plain.keys()].map((path) => {
      const hash = this.#versionDocument(path)?.etag.slice(1, -1)
      return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }] as const
    })
    return { paths: Object.fromEntries([...entries, ...remoteIndex(this.#remote)]) }
  }

  #versionDocument(path: string): ServedDocument | undefined {
    const served = this.#versions.get(path)
    const plain = this.#plain.get(path)
    if (served) return this.#keep(path, () => makeDocument(JSON.stringify(documentV3(served)), 'application/json'))
    return plain && this.#keep(path, () => makeDocument(JSON.stringify(describeNonResource(plain)), 'application/json'))
  }

  #swagger(): ServedDocument {
    return this.#keep('swagger', () =>
      makeDocument(
        JSON.stringify(withRemotePaths(documentV2([...this.#versions.values()]), this.#remote)),
        'application/json',
      ),
    )
  }

  /** The hash is that of the JSON form; the `Vary` header separates the two forms in caches. */
  #swaggerProtobuf(): ServedDocument {
    return this.#keep('swagger protobuf', () => {
      const { bytes, etag } = this.#swagger()
      const content = JSON.parse(Buffer.from(bytes).toString()) as JsonObject
      const encoded = encodeMerged(content, () => documentV2([...this.#versions.values()]))
      return { bytes: encoded, etag, contentType: openApiProtobufType }
    })
  }

  #keep(key: string, make: () => ServedDocument): ServedDocument {
    const document = this.#documents.get(key) ?? make()
    this.#documents.set(key, document)
    return document
  }
}

/** Keys of the index are paths, so they cannot collide with the names of other documents. */
function pathOf({ group, version }: ServedVersion): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

// The v3 documents of discovery and version, each with one GET. They exist because the index of kube-apiserver lists
// them and clients fetch every entry.

interface NonResourceDocument {
  /** The path that is described. */
  readonly path: string
  readonly operation: string
  readonly answer: string
}

/** The documents for the served groups, by their key in the index. */
export function nonResourceDocuments(groups: readonly string[]): ReadonlyMap<string, NonResourceDocument> {
  return new Map<string, NonResourceDocument>([
    ['api', { path: '/api/', operation: 'getCoreAPIVersions', answer: 'APIVersions' }],
    ['apis', { path: '/apis/', operation: 'getAPIVersions', answer: 'APIGroupList' }],
    ...groups.map((group): [string, NonResourceDocument] => [
      `apis/${group}`,
      { path: `/apis/${group}/`, operation: 'getAPIGroup', answer: 'APIGroup' },
    ]),
    ['version', { path: '/version/', operation: 'getCodeVersion', answer: 'Info' }],
  ])
}

export function describeNonResource({ path, operation, answer }: NonResourceDocument): JsonObject {
  const schema = { type: 'object', title: answer }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: {
      [path]: {
        get: {
          operationId: operation,
          responses: {
            200: { description: 'OK', content: { 'application/json': { schema } } },
            401: { description: 'Unauthorized' },
          },
        },
      },
    },
    components: { securitySchemes: { BearerToken: { type: 'apiKey', in: 'header', name: 'authorization' } } },
  }
}

// The v3 document of one group version. kubectl reads it before every write: the PATCH operation of a kind must take
// `fieldValidation`, and its media types decide the type of patch. `kubectl explain` finds a kind by its path and its
// schema by its kind.

export function documentV3(served: ServedVersion): JsonObject {
  const components = new Components('v3')
  const paths: Record<string, JsonObjectDraft> = {
    [`${rootOf(served)}/`]: { get: resourcesOperation(served, components) },
  }
  for (const resource of served.resources) {
    if (resource.verbs.includes('watch')) components.add(builtinType('meta.v1.WatchEvent'))
    for (const operation of operationsOf(resource))
      addV3Operation(paths, operation, describeV3Operation(operation, { custom: resource.custom, served, components }))
  }
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths,
    components: {
      schemas: components.schemas([served]),
      securitySchemes: { BearerToken: { type: 'apiKey', in: 'header', name: 'authorization' } },
    },
  }
}

interface V3DocumentContext {
  readonly custom: boolean
  readonly served: ServedVersion
  readonly components: Components
}

function rootOf({ group, version }: ServedVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

function addV3Operation(
  paths: Record<string, JsonObjectDraft>,
  operation: OpenApiOperation,
  described: JsonObject,
): void {
  const { path, method } = operation
  const item = paths[path] ?? {
    parameters: pathParameters(operation).map(({ name, place, type }) => v3Parameter(name, place, type)),
  }
  setOwn(item, method, described)
  paths[path] = item
}

function describeV3Operation(
  operation: OpenApiOperation,
  { custom, served, components }: V3DocumentContext,
): JsonObject {
  const { id, action, kind, parameters, body } = operation
  return {
    tags: [tagOf(served)],
    operationId: id,
    ...(parameters.length > 0 && { parameters: parameters.map(({ name, type }) => v3Parameter(name, 'query', type)) }),
    ...(body && {
      requestBody: {
        content: bodyContent(operation, custom, components.add(body)),
        ...(action !== 'delete' && action !== 'deletecollection' && { required: true }),
      },
    }),
    responses: v3Responses(operation, custom, components),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...kind },
  }
}

function v3Parameter(name: string, place: 'path' | 'query', type: string): JsonObject {
  return { name, in: place, ...(place === 'path' && { required: true }), schema: { type, uniqueItems: true } }
}

function bodyContent({ action }: OpenApiOperation, custom: boolean, schema: JsonObject): JsonObject {
  const types = action === 'patch' ? patchTypes(custom) : ['*/*']
  return contentOf(types, schema)
}

function v3Responses({ action, response }: OpenApiOperation, custom: boolean, components: Components): JsonObject {
  const schema = response ? components.add(response) : { type: 'string' }
  const types = response ? responseTypes(custom, action === 'list') : ['*/*']
  const answers = answerCodes(action).map(
    ([code, description]) => [code, { description, content: contentOf(types, schema) }] as const,
  )
  return { ...Object.fromEntries(answers), 401: { description: 'Unauthorized' } }
}

function resourcesOperation(served: ServedVersion, components: Components): JsonObject {
  const schema = components.add(builtinType('meta.v1.APIResourceList'))
  return {
    tags: [tagOf(served)],
    operationId: `get${operationPrefix(served.group, served.version)}APIResources`,
    responses: {
      200: { description: 'OK', content: contentOf(responseTypes(true, false), schema) },
      401: { description: 'Unauthorized' },
    },
  }
}

function contentOf(types: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

// The v2 document of all resources. Older tools need it, and so do parsers of managed fields, which read the schemas of
// all kinds from it.

export function documentV2(versions: readonly ServedVersion[]): JsonObject {
  const components = new Components('v2')
  const paths: Record<string, JsonObjectDraft> = {}
  for (const served of versions) {
    for (const resource of served.resources) {
      if (resource.verbs.includes('watch')) components.add(builtinType('meta.v1.WatchEvent'))
      for (const operation of operationsOf(resource))
        addV2Operation(
          paths,
          operation,
          describeV2Operation(operation, { custom: resource.custom, served, components }),
        )
    }
  }
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths,
    definitions: components.schemas(versions),
    securityDefinitions: { BearerToken: { type: 'apiKey', in: 'header', name: 'authorization' } },
    security: [{ BearerToken: [] }],
  }
}

interface V2DocumentContext {
  readonly custom: boolean
  readonly served: ServedVersion
  readonly components: Components
}

function addV2Operation(
  paths: Record<string, JsonObjectDraft>,
  operation: OpenApiOperation,
  described: JsonObject,
): void {
  const { path, method } = operation
  const item = paths[path] ?? {
    parameters: pathParameters(operation).map(({ name, place, type }) => v2Parameter(name, place, type)),
  }
  setOwn(item, method, described)
  paths[path] = item
}

function describeV2Operation(
  operation: OpenApiOperation,
  { custom, served, components }: V2DocumentContext,
): JsonObject {
  const { id, action, kind, response } = operation
  return {
    tags: [tagOf(served)],
    operationId: id,
    consumes: action === 'patch' ? patchTypes(custom) : ['*/*'],
    produces: response ? responseTypes(custom, action === 'list') : ['*/*'],
    parameters: v2Parameters(operation, components),
    responses: v2Responses(operation, components),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...kind },
  }
}

function v2Parameters({ action, parameters, body }: OpenApiOperation, components: Components): JsonObject[] {
  const query = parameters.map(({ name, type }) => v2Parameter(name, 'query', type))
  if (!body) return query
  const isOptional = action === 'delete' || action === 'deletecollection'
  return [{ name: 'body', in: 'body', ...(!isOptional && { required: true }), schema: components.add(body) }, ...query]
}

function v2Parameter(name: string, place: 'path' | 'query', type: string): JsonObject {
  return { name, in: place, ...(place === 'path' && { required: true }), type, uniqueItems: true }
}

function v2Responses({ action, response }: OpenApiOperation, components: Components): JsonObject {
  const schema = response ? components.add(response) : { type: 'string' }
  const answers = answerCodes(action).map(([code, description]) => [code, { description, schema }] as const)
  return { ...Object.fromEntries(answers), 401: { description: 'Unauthorized' } }
}

// Parts that both versions share: media types, status codes, path parameters, tags.

/**
 * The patch types of a resource. Custom resources have no strategic merge patch, because CRDs have no patch strategies.
 */
function patchTypes(custom: boolean): readonly string[] {
  const types = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
  return custom ? types : [...types, 'application/strategic-merge-patch+json']
}

/** The media types of a response. */
function responseTypes(custom: boolean, watchable: boolean): readonly string[] {
  const plain = ['application/json', 'application/yaml']
  if (custom) return plain
  const all = [...plain, 'application/vnd.kubernetes.protobuf']
  return watchable ? [...all, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'] : all
}

/** The status codes of responses with an object. */
function answerCodes(action: OpenApiAction): readonly (readonly [code: string, description: string])[] {
  const ok = ['200', 'OK'] as const
  const created = ['201', 'Created'] as const
  const accepted = ['202', 'Accepted'] as const
  switch (action) {
    case 'post':
      return [ok, created, accepted]
    case 'put':
    case 'patch':
      return [ok, created]
    case 'delete':
      return [ok, accepted]
    case 'connect':
    case 'deletecollection':
    case 'get':
    case 'list':
      return [ok]
  }
}

/** The parameters of all operations of a path. A streaming response has no `pretty` parameter. */
function pathParameters({
  path,
  action,
}: {
  path: string
  action: OpenApiAction
}): { name: string; place: 'path' | 'query'; type: 'string' }[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(
    ([, name = '']) => ({ name, place: 'path', type: 'string' }) as const,
  )
  const pretty = action === 'connect' ? [] : [{ name: 'pretty', place: 'query', type: 'string' } as const]
  return [...inPath.sort((a, b) => (a.name < b.name ? -1 : 1)), ...pretty]
}

/** `core_v1`, `rbacAuthorization_v1`. */
function tagOf({ group, version }: GroupVersion): string {
  const words = operationPrefix(group, '')
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}_${version}`
}
