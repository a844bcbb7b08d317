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
  builtinTypes,
  info,
  responseTypes,
  rootOf,
  tagOf,
  unauthorized,
} from './document-parts.ts'
import { operationPrefix, pathsOf, type OpenApiOperation, type OpenApiPath } from './operations.ts'
import type { OpenApiParameter } from './parameters.ts'
import { builtinType, Components } from './schemas.ts'

export function documentV3(served: ServedVersion): JsonObject {
  const components = new Components('v3')
  const paths = {
    ...(!isCustom(served) && { [`${rootOf(served)}/`]: { get: resourcesOperation(served, components) } }),
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

/** A group version has either built-in or custom resources. */
function isCustom({ resources }: ServedVersion): boolean {
  return resources.some(({ custom }) => custom)
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

function resourcesOperation(served: ServedVersion, components: Components): JsonObject {
  const { group, version } = served
  return {
    tags: [tagOf(served)],
    description: `Lists the resources of ${group === '' ? version : `${group}/${version}`}.`,
    operationId: `get${operationPrefix(group, version)}APIResources`,
    responses: {
      200: {
        description: 'OK',
        content: contentOf(builtinTypes, components.add(builtinType('meta.v1.APIResourceList'))),
      },
      ...unauthorized,
    },
  }
}

function contentOf(types: readonly string[], schema: JsonObject): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}

interface NonResourceDocument {
  /** The path that is described. */
  readonly path: string
  readonly tag: string
  readonly operation: string
  readonly description: string
  readonly types: readonly string[]
  /** The short name of the schema of the answer; absent for a plain text. */
  readonly answer?: string
}

/** The documents of paths that are not resources, by their key in the index. */
export function nonResourceDocuments(groups: readonly string[]): ReadonlyMap<string, NonResourceDocument> {
  return new Map<string, NonResourceDocument>([
    ['.well-known/openid-configuration', openIdDocument],
    ['api', coreDocument],
    ['apis', groupsDocument],
    ...groups.map((group): [string, NonResourceDocument] => [`apis/${group}`, groupDocument(group)]),
    ['openid/v1/jwks', keysDocument],
    ['version', versionDocument],
  ])
}

const openIdDocument: NonResourceDocument = {
  path: '/.well-known/openid-configuration/',
  tag: 'WellKnown',
  operation: 'getServiceAccountIssuerOpenIDConfiguration',
  description: 'Reads the OpenID configuration of the issuer of service account tokens.',
  types: ['application/json'],
}
const keysDocument: NonResourceDocument = {
  path: '/openid/v1/jwks/',
  tag: 'openid',
  operation: 'getServiceAccountIssuerOpenIDKeyset',
  description: 'Reads the public keys that service account tokens are checked with, as a JSON Web Key Set.',
  types: ['application/jwk-set+json'],
}
const coreDocument: NonResourceDocument = {
  path: '/api/',
  tag: 'core',
  operation: 'getCoreAPIVersions',
  description: 'Lists the versions of the core group.',
  types: builtinTypes,
  answer: 'meta.v1.APIVersions',
}
const groupsDocument: NonResourceDocument = {
  path: '/apis/',
  tag: 'apis',
  operation: 'getAPIVersions',
  description: 'Lists the API groups.',
  types: builtinTypes,
  answer: 'meta.v1.APIGroupList',
}
const versionDocument: NonResourceDocument = {
  path: '/version/',
  tag: 'version',
  operation: 'getCodeVersion',
  description: 'Reads the version of the server.',
  types: ['application/json'],
  answer: 'version.Info',
}

function groupDocument(group: string): NonResourceDocument {
  return {
    path: `/apis/${group}/`,
    tag: tagOf({ group }),
    operation: `get${operationPrefix(group, '')}APIGroup`,
    description: `Reads the versions of the group ${group}.`,
    types: builtinTypes,
    answer: 'meta.v1.APIGroup',
  }
}

export function describeNonResource({
  path,
  tag,
  operation,
  description,
  types,
  answer,
}: NonResourceDocument): JsonObject {
  const components = new Components('v3')
  const schema = answer === undefined ? { type: 'string' } : components.add(builtinType(answer))
  const get = {
    tags: [tag],
    description,
    operationId: operation,
    responses: { 200: { description: 'OK', content: contentOf(types, schema) }, ...unauthorized },
  }
  return {
    openapi: '3.0.0',
    info,
    paths: { [path]: { get } },
    components: {
      ...(answer !== undefined && { schemas: components.schemas([]) }),
      securitySchemes: { BearerToken: bearerToken },
    },
  }
}
