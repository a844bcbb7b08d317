/**
 * Parts that both versions of OpenAPI documents share: title, tags, media types, status codes.
 */
import type { GroupVersion } from '#api'
import type { ServedVersion } from '../discovery/groups.ts'
import { operationPrefix, type OpenApiOperation } from './operations.ts'
import type { OpenApiAction } from './parameters.ts'

/** The Kubernetes release of the API. */
export const info = { title: 'Kubernetes', version: '1.36' } as const

export const bearerToken = {
  type: 'apiKey',
  description: 'A bearer token in the authorization header.',
  name: 'authorization',
  in: 'header',
} as const

export const unauthorized = { 401: { description: 'Unauthorized' } } as const

/** `core_v1`, `rbacAuthorization_v1`; without a version the tag of a group. */
export function tagOf({ group, version }: { group: string; version?: string }): string {
  const words = operationPrefix(group, '')
  const name = `${words.charAt(0).toLowerCase()}${words.slice(1)}`
  return version === undefined ? name : `${name}_${version}`
}

/** A group version has either built-in or custom resources. */
export function isCustom({ resources }: Pick<ServedVersion, 'resources'>): boolean {
  return resources.some(({ custom }) => custom)
}

/** The path of the resources of a group version. */
export function rootOf({ group, version }: GroupVersion): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

/** The media types of a request body. */
export function bodyTypes({ action, custom }: OpenApiOperation): readonly string[] {
  if (action === 'patch') return patchTypes(custom)
  return custom ? ['application/json', 'application/yaml'] : ['*/*']
}

/** Custom resources have no strategic merge patch, because CRDs have no patch strategies. */
function patchTypes(custom: boolean): readonly string[] {
  const types = ['application/json-patch+json', 'application/merge-patch+json']
  const strategic = custom ? [] : ['application/strategic-merge-patch+json']
  return [...types, ...strategic, 'application/apply-patch+yaml']
}

/** The media types of discovery documents and of built-in objects. */
export const builtinTypes: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
]

/** The media types of a response. */
export function responseTypes({ action, custom, response }: OpenApiOperation): readonly string[] {
  if (action === 'connect') return ['*/*']
  if (!response) return ['text/plain', ...builtinTypes]
  if (custom) return ['application/json', 'application/yaml']
  return action === 'list' || action === 'watch' || action === 'watchlist'
    ? [...builtinTypes, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']
    : builtinTypes
}

const ok = ['200', 'OK'] as const
const created = ['201', 'Created'] as const
const accepted = ['202', 'Accepted'] as const

const codesByAction: Readonly<Partial<Record<OpenApiAction, readonly StatusCode[]>>> = {
  delete: [ok, accepted],
  patch: [ok, created],
  post: [ok, created, accepted],
  put: [ok, created],
}

type StatusCode = readonly [code: string, text: string]

/** The status codes of responses with an object. As upstream has it, a patch creates no custom resource. */
export function answerCodes({ action, custom }: OpenApiOperation): readonly StatusCode[] {
  return action === 'patch' && custom ? [ok] : (codesByAction[action] ?? [ok])
}
