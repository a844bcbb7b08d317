/**
 * GET operations on paths that are not resources: discovery, version, OpenID. Both OpenAPI versions describe them.
 */
import type { GroupVersion } from '#api'
import { builtinTypes, rootOf, tagOf } from './document-parts.ts'
import { operationPrefix } from './operations.ts'

export interface NonResourceOperation {
  readonly path: string
  readonly tag: string
  readonly id: string
  readonly description: string
  readonly types: readonly string[]
  /** The short name of the schema of the answer; absent for a plain text. */
  readonly answer?: string
}

/** The list of the resources of a group version. */
export function resourcesOperation({ group, version }: GroupVersion): NonResourceOperation {
  return {
    path: `${rootOf({ group, version })}/`,
    tag: tagOf({ group, version }),
    id: `get${operationPrefix(group, version)}APIResources`,
    description: `Lists the resources of ${group === '' ? version : `${group}/${version}`}.`,
    types: builtinTypes,
    answer: 'meta.v1.APIResourceList',
  }
}

/** The operations that have a v3 document of their own, by its key in the index. */
export function nonResourceOperations(groups: readonly string[]): ReadonlyMap<string, NonResourceOperation> {
  return new Map<string, NonResourceOperation>([
    ['.well-known/openid-configuration', openIdOperation],
    ['api', coreOperation],
    ['apis', groupsOperation],
    ...groups.map((group): [string, NonResourceOperation] => [`apis/${group}`, groupOperation(group)]),
    ['openid/v1/jwks', keysOperation],
    ['version', versionOperation],
  ])
}

const openIdOperation: NonResourceOperation = {
  path: '/.well-known/openid-configuration/',
  tag: 'WellKnown',
  id: 'getServiceAccountIssuerOpenIDConfiguration',
  description: 'Reads the OpenID configuration of the issuer of service account tokens.',
  types: ['application/json'],
}
const keysOperation: NonResourceOperation = {
  path: '/openid/v1/jwks/',
  tag: 'openid',
  id: 'getServiceAccountIssuerOpenIDKeyset',
  description: 'Reads the public keys that service account tokens are checked with, as a JSON Web Key Set.',
  types: ['application/jwk-set+json'],
}
const coreOperation: NonResourceOperation = {
  path: '/api/',
  tag: 'core',
  id: 'getCoreAPIVersions',
  description: 'Lists the versions of the core group.',
  types: builtinTypes,
  answer: 'meta.v1.APIVersions',
}
const groupsOperation: NonResourceOperation = {
  path: '/apis/',
  tag: 'apis',
  id: 'getAPIVersions',
  description: 'Lists the API groups.',
  types: builtinTypes,
  answer: 'meta.v1.APIGroupList',
}
const versionOperation: NonResourceOperation = {
  path: '/version/',
  tag: 'version',
  id: 'getCodeVersion',
  description: 'Reads the version of the server.',
  types: ['application/json'],
  answer: 'version.Info',
}

function groupOperation(group: string): NonResourceOperation {
  return {
    path: `/apis/${group}/`,
    tag: tagOf({ group }),
    id: `get${operationPrefix(group, '')}APIGroup`,
    description: `Reads the versions of the group ${group}.`,
    types: builtinTypes,
    answer: 'meta.v1.APIGroup',
  }
}
