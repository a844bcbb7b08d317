/**
 * The OpenAPI v2 document of everything that is served.
 *
 * Old tools and some new ones want it: parsers of managed fields take the schemas of all kinds from here.
 */
import { setOwn, type JsonObject, type JsonObjectDraft } from '#api'
import type { ServedVersion } from '../discovery/groups.ts'
import { Components } from './components.ts'
import { answerCodes, pathParameters, patchTypes, responseTypes, tagOf } from './media.ts'
import { operationsOf, type Operation } from './operations.ts'
import { builtinType } from './types.ts'

export function documentV2(versions: readonly ServedVersion[]): JsonObject {
  const components = new Components('v2')
  const paths: Record<string, JsonObjectDraft> = {}
  for (const served of versions) {
    for (const resource of served.resources) {
      if (resource.verbs.includes('watch')) components.add(builtinType('meta.v1.WatchEvent'))
      for (const operation of operationsOf(resource))
        addOperation(paths, operation, describe(operation, { custom: resource.custom, served, components }))
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

interface Place {
  readonly custom: boolean
  readonly served: ServedVersion
  readonly components: Components
}

function addOperation(paths: Record<string, JsonObjectDraft>, operation: Operation, described: JsonObject): void {
  const { path, method } = operation
  const item = paths[path] ?? {
    parameters: pathParameters(operation).map(({ name, place, type }) => parameter(name, place, type)),
  }
  setOwn(item, method, described)
  paths[path] = item
}

function describe(operation: Operation, { custom, served, components }: Place): JsonObject {
  const { id, action, kind, response } = operation
  return {
    tags: [tagOf(served)],
    operationId: id,
    consumes: action === 'patch' ? patchTypes(custom) : ['*/*'],
    produces: response ? responseTypes(custom, action === 'list') : ['*/*'],
    parameters: parametersOf(operation, components),
    responses: responses(operation, components),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...kind },
  }
}

function parametersOf({ action, parameters, body }: Operation, components: Components): JsonObject[] {
  const query = parameters.map(({ name, type }) => parameter(name, 'query', type))
  if (!body) return query
  const isOptional = action === 'delete' || action === 'deletecollection'
  return [{ name: 'body', in: 'body', ...(!isOptional && { required: true }), schema: components.add(body) }, ...query]
}

function parameter(name: string, place: 'path' | 'query', type: string): JsonObject {
  return { name, in: place, ...(place === 'path' && { required: true }), type, uniqueItems: true }
}

function responses({ action, response }: Operation, components: Components): JsonObject {
  const schema = response ? components.add(response) : { type: 'string' }
  const answers = answerCodes(action).map(([code, description]) => [code, { description, schema }] as const)
  return { ...Object.fromEntries(answers), 401: { description: 'Unauthorized' } }
}
