/**
 * OpenAPI v3 documents: one of each group version, and one of each path of discovery.
 *
 * kubectl reads the first before every write: the PATCH operation of a kind must take `fieldValidation`, and its media
 * types decide the type of patch. `kubectl explain` finds a kind by its path and its schema by its kind. The second
 * exist because the index of kube-apiserver lists them and clients fetch every entry.
 */
import type { JsonObject } from '#api'
import type { ServedVersion } from '../discovery/groups.ts'
import {
  answerCodes,
  bearerToken,
  bodyTypes,
  info,
  isCustom,
  responseTypes,
  tagOf,
  unauthorized,
} from './document-parts.ts'
import { resourcesOperation, type NonResourceOperation } from './non-resource-operations.ts'
import { pathsOf, type OpenApiOperation, type OpenApiPath } from './operations.ts'
import type { OpenApiParameter } from './parameters.ts'
import { builtinType, Components } from './schemas.ts'

export function documentV3(served: ServedVersion): JsonObject {
  const components = new Components('v3')
  const discovery = resourcesOperation(served)
  const paths = {
    ...(!isCustom(served) && { [discovery.path]: { get: describeGet(discovery, components) } }),
    ...Object.fromEntries(
      served.resources.flatMap(pathsOf).map((item) => [item.path, describePath(item, { served, components })]),
    ),
  }
  if (!isCustom(served) && served.resources.some(({ verbs }) => verbs.includes('watch')))
    components.add(builtinType('meta.v1.WatchEvent'))
  return {
    openapi: '3.0.0',
    info,
    paths,
    components: { schemas: components.schemas([served]), securitySchemes: { BearerToken: bearerToken } },
  }
}

interface V3DocumentContext {
  readonly served: ServedVersion
  readonly components: Components
}

function describePath({ parameters, operations }: OpenApiPath, context: V3DocumentContext): JsonObject {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, describeOperation(operation, context)])),
    ...(parameters.length > 0 && { parameters: parameters.map(describeParameter) }),
  }
}

function describeOperation(operation: OpenApiOperation, { served, components }: V3DocumentContext): JsonObject {
  const { id, action, kind, description, parameters, body } = operation
  return {
    tags: [tagOf(served)],
    description,
    operationId: id,
    ...(parameters.length > 0 && { parameters: parameters.map(describeParameter) }),
    ...(body && {
      requestBody: {
        content: contentOf(bodyTypes(operation), components.add(body)),
        ...(action !== 'delete' && action !== 'deletecollection' && { required: true }),
      },
    }),
    responses: responsesOf(operation, components),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...kind },
  }
}

function describeParameter({ name, place, type, description }: OpenApiParameter): JsonObject {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' && { required: true }),
    schema: { type, uniqueItems: true },
  }
}

function responsesOf(operation: OpenApiOperation, components: Components): JsonObject {
  const { response } = operation
  const content = contentOf(responseTypes(operation), response ? components.add(response) : { type: 'string' })
  const answers = answerCodes(operation).map(([code, description]) => [code, { description, content }] as const)
  return { ...Object.fromEntries(answers), ...unauthorized }
}

function contentOf(types: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

/** The document of a path that is not a resource. */
export function describeNonResource(operation: NonResourceOperation): JsonObject {
  const components = new Components('v3')
  const paths = { [operation.path]: { get: describeGet(operation, components) } }
  return {
    openapi: '3.0.0',
    info,
    paths,
    components: {
      ...(operation.answer !== undefined && { schemas: components.schemas([]) }),
      securitySchemes: { BearerToken: bearerToken },
    },
  }
}

function describeGet(
  { tag, id, description, types, answer }: NonResourceOperation,
  components: Components,
): JsonObject {
  const schema = answer === undefined ? { type: 'string' } : components.add(builtinType(answer))
  return {
    tags: [tag],
    description,
    operationId: id,
    responses: { 200: { description: 'OK', content: contentOf(types, schema) }, ...unauthorized },
  }
}
