/**
 * The OpenAPI v2 document of everything that is served.
 *
 * Old tools and some new ones want it: parsers of managed fields take the schemas of all kinds from here.
 */
import { setOwn, type JsonObject, type JsonObjectDraft } from '#api'
import type { ServedVersion } from '../discovery/groups.ts'
import { Components } from './components.ts'
import { answerCodes, pathParameters, patchTypes, responseTypes, tagOf } from './media.ts'
import { operationsOf, type OpenApiOperation } from './operations.ts'
import { builtinType } from './types.ts'

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
