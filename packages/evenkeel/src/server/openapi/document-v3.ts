/**
 * The OpenAPI v3 document of one group version.
 *
 * kubectl reads it before it writes anything: the PATCH operation of a kind must take `fieldValidation`, and the media
 * types it takes decide how a patch is made. `kubectl explain` finds a kind by its path and its schema by its kind.
 */
import { setOwn, type JsonObject, type JsonObjectDraft } from '#api'
import type { ServedVersion } from '../discovery/groups.ts'
import { Components } from './components.ts'
import { operationsOf, operationPrefix, type OpenApiOperation } from './operations.ts'
import { answerCodes, pathParameters, patchTypes, responseTypes, tagOf } from './media.ts'
import { builtinType } from './types.ts'

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
