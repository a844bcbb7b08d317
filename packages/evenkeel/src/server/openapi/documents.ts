/**
 * The OpenAPI v3 document of one group version.
 *
 * kubectl reads it before it writes anything: the PATCH operation of a kind must take `fieldValidation`, and the media
 * types it takes decide how a patch is made. `kubectl explain` finds a kind by its path and its schema by its kind.
 */
import { setOwn, type GroupVersion, type JsonObject, type JsonObjectDraft } from '#api'
import type { ServedVersion } from '../discovery/groups.ts'
import { operationPrefix, operationsOf, type OpenApiAction, type OpenApiOperation } from './operations.ts'
import { builtinType, Components } from './schemas.ts'

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

/*
 * The OpenAPI v2 document of everything that is served.
 *
 * Old tools and some new ones want it: parsers of managed fields take the schemas of all kinds from here.
 */

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

/*
 * What both OpenAPI versions say alike: media types, answer codes, parameters in paths, tags.
 */

/** The patches a resource takes. Custom resources have no strategic merge: their definitions do not say how. */
function patchTypes(custom: boolean): readonly string[] {
  const types = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
  return custom ? types : [...types, 'application/strategic-merge-patch+json']
}

/** The forms an answer comes in. */
function responseTypes(custom: boolean, watchable: boolean): readonly string[] {
  const plain = ['application/json', 'application/yaml']
  if (custom) return plain
  const all = [...plain, 'application/vnd.kubernetes.protobuf']
  return watchable ? [...all, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'] : all
}

/** The codes of answers that carry an object. */
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

/** The parameters that every operation of a path has. What is answered by a stream cannot be asked to be pretty. */
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
