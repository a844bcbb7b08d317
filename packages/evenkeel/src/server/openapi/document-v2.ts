/**
 * The OpenAPI v2 document of all resources and of discovery. Older tools need it, and so do parsers of managed fields, which read the
 * schemas of all kinds from it.
 *
 * Parameters are written once and referred to, because hundreds of operations take the same ones. Two are repeated:
 * kubectl looks for `dryRun` and `fieldValidation` in the operation itself and follows no reference.
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

export function documentV2(
  versions: readonly ServedVersion[],
  { others }: { readonly others: Iterable<NonResourceOperation> },
): JsonObject {
  const components = new Components('v2')
  const parameters = new SharedParameters()
  const discovery = versions.filter((served) => !isCustom(served)).map(resourcesOperation)
  const paths = Object.fromEntries([
    ...[...others, ...discovery].map((one) => [one.path, { get: describeGet(one, components) }] as const),
    ...versions.flatMap((served) =>
      served.resources
        .flatMap(pathsOf)
        .map((item) => [item.path, describePath(item, { served, components, parameters })] as const),
    ),
  ])
  components.add(builtinType('meta.v1.WatchEvent'))
  return {
    swagger: '2.0',
    info,
    paths,
    definitions: components.schemas(versions),
    parameters: parameters.definitions(),
    securityDefinitions: { BearerToken: bearerToken },
    security: [{ BearerToken: [] }],
  }
}

/** Parameters of a document by name; others of the same name get a number. */
class SharedParameters {
  readonly #names = new Map<OpenApiParameter, string>()
  readonly #taken = new Set<string>()

  describe(parameter: OpenApiParameter): JsonObject {
    if (parameter.name === 'dryRun' || parameter.name === 'fieldValidation') return describeParameter(parameter)
    const name = this.#names.get(parameter) ?? this.#add(parameter)
    return { $ref: `#/parameters/${name}` }
  }

  definitions(): JsonObject {
    return Object.fromEntries([...this.#names].map(([parameter, name]) => [name, describeParameter(parameter)]))
  }

  #add(parameter: OpenApiParameter): string {
    let name = parameter.name
    for (let number = 2; this.#taken.has(name); number++) name = `${parameter.name}-${number}`
    this.#taken.add(name)
    this.#names.set(parameter, name)
    return name
  }
}

interface V2DocumentContext {
  readonly served: ServedVersion
  readonly components: Components
  readonly parameters: SharedParameters
}

function describePath({ parameters, operations }: OpenApiPath, context: V2DocumentContext): JsonObject {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, describeOperation(operation, context)])),
    ...(parameters.length > 0 && { parameters: parameters.map((one) => context.parameters.describe(one)) }),
  }
}

function describeOperation(operation: OpenApiOperation, context: V2DocumentContext): JsonObject {
  const { id, action, kind, description } = operation
  const parameters = parametersOf(operation, context)
  return {
    description,
    consumes: action === 'patch' || operation.custom ? bodyTypes(operation) : ['*/*'],
    produces: responseTypes(operation),
    schemes: ['https'],
    tags: [tagOf(context.served)],
    operationId: id,
    ...(parameters.length > 0 && { parameters }),
    responses: responsesOf(operation, context.components),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { ...kind },
  }
}

function describeGet(
  { tag, id, description, types, answer }: NonResourceOperation,
  components: Components,
): JsonObject {
  return {
    description,
    ...(answer !== undefined && { consumes: types }),
    produces: types,
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    responses: {
      200: {
        description: 'OK',
        schema: answer === undefined ? { type: 'string' } : components.add(builtinType(answer)),
      },
      ...unauthorized,
    },
  }
}

function parametersOf({ action, parameters, body }: OpenApiOperation, context: V2DocumentContext): JsonObject[] {
  const query = parameters.map((one) => context.parameters.describe(one))
  if (!body) return query
  const isOptional = action === 'delete' || action === 'deletecollection'
  const description = isOptional ? 'How to delete.' : (bodyTexts.get(action) ?? 'The object to write.')
  const schema = context.components.add(body)
  return [{ name: 'body', in: 'body', description, ...(!isOptional && { required: true }), schema }, ...query]
}

const bodyTexts: ReadonlyMap<string, string> = new Map([['patch', 'The changes, in the format of the content type.']])

function describeParameter({ name, place, type, description }: OpenApiParameter): JsonObject {
  return { uniqueItems: true, type, description, name, in: place, ...(place === 'path' && { required: true }) }
}

function responsesOf(operation: OpenApiOperation, components: Components): JsonObject {
  const { response } = operation
  const schema = response ? components.add(response) : { type: 'string' }
  const answers = answerCodes(operation).map(([code, description]) => [code, { description, schema }] as const)
  return { ...Object.fromEntries(answers), ...unauthorized }
}
