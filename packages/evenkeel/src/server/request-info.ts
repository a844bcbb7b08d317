/**
 * Request info: the verb and the resource path of a request.
 *
 * The path is parsed once, here. Authorization decides about this value and storage uses the same one. Whether a
 * resource exists is revealed only to users who are authorized: {@link resolveResource} runs after the authorization
 * stage.
 */
import { ApiError, badRequest, methodNotAllowed, notFound, parseDuration } from '#api'
import type { Resource, Subresource, SubresourceRole, Verb } from '@evenkeel/builtins'
import { parseResourcePath, Query, type ResourcePath, type WireRequest } from '#wire'
import { asksForWatch } from './handlers/list-options.ts'
import type { Registry } from './registry/registry.ts'
import { Warnings, type RequestInfo, type ResourceRef } from './request-context.ts'

/**
 * Parses path and query.
 *
 * @param startedMs when the request arrived
 * @param options the formats of the server, and which subresources stream
 * @throws {ApiError} `BadRequest`, for an invalid encoding of the path.
 */
export function parseRequestInfo(
  request: WireRequest,
  startedMs: number,
  { formats, isStream }: ParseRequestOptions,
): RequestInfo {
  const { target, method } = request
  const at = target.indexOf('?')
  const path = at < 0 ? target : target.slice(0, at)
  const query = at < 0 ? noQuery : new Query(target.slice(at + 1))
  const timeoutMs = at < 0 ? undefined : timeoutOf(query)
  const place = parseResourcePath(path)
  const verb = place === undefined ? method.toLowerCase() : verbOf(method, place, query)
  const parsed = { request, path, query, resourcePath: place, verb, formats, warnings: new Warnings() }
  const info = place && verb === 'get' && isStream?.(place) ? { ...parsed, isStream: true as const } : parsed
  return timeoutMs === undefined ? info : { ...info, dueMs: startedMs + timeoutMs }
}

export interface ParseRequestOptions extends Pick<RequestInfo, 'formats'> {
  isStream?(place: ResourcePath): boolean
}

// Shared by all requests without a query; queries are read-only.
const noQuery = new Query()

/**
 * Finds the resource of a request; undefined for a path that no custom resource of the group has, which upstream answers
 * like a path that is not about resources.
 *
 * @throws {ApiError} `NotFound` for an unknown resource, `MethodNotAllowed` for an unsupported verb.
 */
export function resolveResource(place: ResourcePath, verb: string, registry: Registry): ResourceRef | undefined {
  const resource = registry.find(place.group, place.version, place.resource)
  if (resource === undefined) throw unknownPath()
  if (!fitsScope(resource, place) || !spansNamespaces(resource, place, verb)) {
    if (resource.custom) return undefined
    throw hasRoute(resource, place) ? notAllowed() : unknownPath()
  }
  if (place.name === '.' || place.name === '..')
    throw badRequest(`Name parameter invalid: "${place.name}": may not be '${place.name}'`)
  const namespace = resource.scope === 'Cluster' ? '' : place.namespace
  if (resource.custom) return customTarget(resource, place, { verb, namespace })
  const subresource = subresourceOf(resource, place)
  if (!allowedHere(resource, { subresource, verb, collection: place.name === '' }))
    throw hasRoute(resource, place) ? notAllowed() : unknownPath()
  const { name } = place
  return subresource ? { resource, namespace, name, subresource } : { resource, namespace, name }
}

/**
 * The resource of a request to a custom resource, with the errors of its own handler upstream. Parts of the path after
 * `status` and `scale` are ignored, as upstream; the subresources that upstream does not have end their path. Not ignored
 * is a POST to the path of an object, which upstream takes as a creation: authorization would see the name in the path,
 * and storage the one in the body.
 */
function customTarget(
  resource: Resource,
  { name, subresource: wanted, rest }: ResourcePath,
  { verb, namespace }: { readonly verb: string; readonly namespace: string },
): ResourceRef {
  const subresource = wanted === '' ? undefined : resource.subresources.find((one) => one.name === wanted)
  const isBelow = subresource !== undefined && rest.length > 0 && !ignoresRest.has(subresource.role)
  if (wanted !== '' && (subresource === undefined || isBelow)) throw notFound({ ...subjectOf(resource), name })
  const verbs: readonly Verb[] = subresource?.verbs ?? resource.verbs
  const isNamedCreate = verb === 'create' && name !== '' && subresource === undefined
  if (!verbs.includes(verb as Verb) || isNamedCreate) throw methodNotAllowed(subjectOf(resource), verb)
  if (name === '' && !onCollection.has(verb)) throw badRequest('name must be provided')
  return subresource ? { resource, namespace, name, subresource } : { resource, namespace, name }
}

function subjectOf({ group, plural }: Resource): { group: string; kind: string } {
  return { group, kind: plural }
}

/** The subresources of a CRD. */
const ignoresRest: ReadonlySet<SubresourceRole> = new Set(['part', 'scale'])

/** The error for unknown paths, with upstream's text and empty details. */
export function unknownPath(): ApiError {
  return new ApiError('NotFound', 'the server could not find the requested resource', { subject: { kind: '' } })
}

function notAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource', {
    subject: { kind: '' },
  })
}

/** The time that the client gives a request, if it is positive: webhooks are told what is left of it. */
function timeoutOf(query: Query): number | undefined {
  const timeout = query.get('timeout') ?? ''
  if (timeout === '') return undefined
  const parsed = parseDuration(timeout)
  if (parsed !== undefined) return parsed > 0 ? parsed : undefined
  throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(timeout)}`)
}

function verbOf(method: string, place: ResourcePath, query: Query): string {
  // The deprecated watch path allows only reads.
  if (place.watch && method !== 'GET' && method !== 'HEAD') return ''
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (place.watch || (place.name === '' && asksForWatch(query))) return 'watch'
      return place.name === '' ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return place.name === '' ? 'deletecollection' : 'delete'
    default:
      return ''
  }
}

function fitsScope(resource: Resource, { namespace, name }: ResourcePath): boolean {
  // The path of a Namespace contains its name as the namespace as well; any other namespace is invalid for a
  // cluster-scoped resource.
  if (resource.scope === 'Cluster') return namespace === '' || (resource.isNamespace === true && namespace === name)
  return namespace !== '' || name === ''
}

function subresourceOf(resource: Resource, { subresource, rest }: ResourcePath): Subresource | undefined {
  if (subresource === '') return undefined
  const found = resource.subresources.find(({ name }) => name === subresource)
  if (found === undefined || (rest.length > 0 && subresource !== 'proxy')) throw unknownPath()
  return found
}

/** Verbs on a collection; all others are on one object. */
const onCollection: ReadonlySet<string> = new Set(['list', 'create', 'deletecollection', 'watch'])

interface RequestedVerb {
  readonly subresource: Subresource | undefined
  readonly verb: string
  readonly collection: boolean
}

function allowedHere(resource: Resource, { subresource, verb, collection }: RequestedVerb): boolean {
  const verbs: readonly Verb[] = subresource?.verbs ?? resource.verbs
  if (!verbs.includes(verb as Verb)) return false
  return subresource !== undefined || collection === onCollection.has(verb) || verb === 'watch'
}

/** Across all namespaces only reads are possible. */
function spansNamespaces({ scope }: Resource, { namespace }: ResourcePath, verb: string): boolean {
  return scope === 'Cluster' || namespace !== '' || verb === 'list' || verb === 'watch'
}

/** Whether any verb is possible at a path: a resource that can only be created has no paths of objects. */
function hasRoute(resource: Resource, place: ResourcePath): boolean {
  if (!fitsScope(resource, place)) return false
  if (place.subresource !== '') return true
  return resource.verbs.some(
    (verb) => (place.name === '') === onCollection.has(verb) && spansNamespaces(resource, place, verb),
  )
}
