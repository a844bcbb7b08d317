/**
 * The order of the rooms: one request from what arrived to what is answered.
 *
 * This is the server as a function. Listeners call it with what came over a socket; in process it is called directly.
 * It never rejects: whatever goes wrong becomes a Status, and what nobody expected is logged as well.
 */
import { isApiError, loadPatternEngine, notFound } from '#api'
import type { Transport, WireRequest, WireResponse } from '#wire'
import type { AuditLog } from './audit/audit-log.ts'
import type { RequestAudit } from './audit/request-audit.ts'
import { authenticate, type Authenticator } from './auth/authentication.ts'
import { impersonate } from './auth/impersonation.ts'
import { authorize } from './authz/authorize.ts'
import { TimedRequest } from './flowcontrol/deadlines.ts'
import { performAction } from './handlers/actions.ts'
import { createResource } from './handlers/create.ts'
import { deleteCollection } from './handlers/delete-collection.ts'
import { deleteResource } from './handlers/delete.ts'
import { getResource } from './handlers/get.ts'
import { listResource } from './handlers/list.ts'
import { patchResource } from './handlers/patch.ts'
import { bindPod, evictPod, unsupportedSubresource } from './handlers/pod-subresources.ts'
import { createReview } from './handlers/reviews.ts'
import { handleScale } from './handlers/scale.ts'
import { createToken } from './handlers/token-request.ts'
import { updateResource } from './handlers/update.ts'
import { watchResource } from './handlers/watch.ts'
import type { RequestMetrics } from './metrics.ts'
import { isKnownGroup, type NonResourceHandler } from './non-resource-paths.ts'
import {
  auditIdOf,
  Warnings,
  type RequestContext,
  type RequestInfo,
  type ResourceRef,
  type ServerContext,
} from './request-context.ts'
import { parseRequestInfo, resolveResource } from './request-info.ts'
import { compress, negotiateResponse, replyDocument, replyError } from './response.ts'
import { servedType } from './storage/codec.ts'

interface HandlerOptions {
  readonly server: ServerContext
  readonly authenticators: readonly Authenticator[]
  /** Everything that is not about resources: health, version, discovery. */
  readonly nonResourceHandler: NonResourceHandler
  readonly metrics: RequestMetrics
  readonly audit: AuditLog | undefined
}

/** The server as a function. */
export function makeHandler(options: HandlerOptions): Transport {
  const { server, metrics, audit } = options
  return async (given) => {
    const started = server.clock.monotonic()
    const request = new TimedRequest(given)
    const audited = audit?.begin(request)
    const { info, response: made } = await respond(request, options, audited)
    metrics.end(info, { status: made.status, seconds: (server.clock.monotonic() - started) / 1000 })
    const response = audited ? await audited.complete(made) : made
    setAuditId(response, audited?.id ?? auditIdOf(request, server.random))
    if (request.method === 'HEAD') return withoutBody(response)
    const encodings = request.headers['accept-encoding']
    return encodings === undefined || info?.verb === 'watch' ? response : compress(response, encodings)
  }
}

async function respond(
  request: WireRequest,
  options: HandlerOptions,
  audited: RequestAudit | undefined,
): Promise<{ info: RequestInfo | undefined; response: WireResponse }> {
  let info: RequestInfo | undefined
  try {
    const found = (info = parseRequestInfo(request))
    audited?.setRequestInfo(found)
    return {
      info,
      response: await options.server.flowControl.withDeadline(found, () => serve(found, options, audited)),
    }
  } catch (error) {
    audited?.setFailure(error, { isExpected: isApiError(error) })
    if (!isApiError(error) && !request.signal.aborted)
      options.server.log.error('a request failed', { method: request.method, target: request.target, error })
    return { info, response: replyError(error, info ?? { request, warnings: new Warnings() }) }
  }
}

/** Who, whose turn, whether they may, and then what they asked for. */
async function serve(
  info: RequestInfo,
  options: HandlerOptions,
  audited: RequestAudit | undefined,
): Promise<WireResponse> {
  const { authorizer, authentication, flowControl } = options.server
  const caller = await authenticate(info, options.authenticators, authentication)
  const call = await impersonate(audited?.setUser(caller) ?? caller, authorizer)
  audited?.setImpersonatedUser(call)
  const entering = flowControl.enter(call)
  const seat = entering instanceof Promise ? await entering : entering
  try {
    await authorize(call, audited?.watchAuthorizer(authorizer) ?? authorizer)
    return flowControl.holdSeat(
      await dispatchRequest(audited ? await audited.captureBody(call) : call, options),
      seat,
      info,
    )
  } catch (error) {
    seat.leave()
    throw error
  }
}

function dispatchRequest(call: RequestContext, options: HandlerOptions): Promise<WireResponse> {
  const { server, nonResourceHandler: plain } = options
  const { resourcePath: place } = call
  if (place === undefined) return plain(call)
  if (!isKnownGroup(call.path, server.registry)) return plain({ ...call, path: '' })
  const target = resolveResource(place, call.verb, server.registry)
  if (target.resource.strategy.deprecation !== undefined) call.warnings.add(target.resource.strategy.deprecation)
  if (target.resource.virtual)
    return call.verb === 'create' ? createReview(call, target, server) : handleVirtual(call, target)
  if (target.subresource) return handleSubresource(call, target, server)
  if (target.resource.strategy.definesResources && !reads.has(call.verb)) return handleCrdWrite(call, target, server)
  if (server.informers.has(target.resource.storage.group, target.resource.storage.plural) && !reads.has(call.verb))
    return handleInformedWrite(call, target, server)
  return handleVerb(call, target, server)
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** A write to what the server itself obeys is answered once it is in force. */
async function handleInformedWrite(
  call: RequestContext,
  target: ResourceRef,
  server: ServerContext,
): Promise<WireResponse> {
  const response = await handleVerb(call, target, server)
  if (response.status < 300) await server.informers.waitForRevision(await server.store.head())
  return response
}

/** A write to a definition is answered once what it defines is served: clients may use it at once. */
async function handleCrdWrite(call: RequestContext, target: ResourceRef, server: ServerContext): Promise<WireResponse> {
  await loadPatternEngine()
  const response = await handleVerb(call, target, server)
  if (response.status >= 300) return response
  // Taking it in may write in turn: a status, or the end of what was deleted.
  let seen = 0
  for (let round = 0; round < syncRoundsMax; round++) {
    const head = await server.store.head()
    if (head === seen) break
    await server.waitForCrds(head)
    seen = head
  }
  return response
}

/** Others write too, so there is no waiting for silence. */
const syncRoundsMax = 5

function handleVerb(call: RequestContext, target: ResourceRef, server: ServerContext): Promise<WireResponse> {
  switch (call.verb) {
    case 'get':
      return getResource(call, target, server)
    case 'list':
      return listResource(call, target, server)
    case 'watch':
      return watchResource(call, target, server)
    case 'create':
      return createResource(call, target, server)
    case 'update':
      return updateResource(call, target, server)
    case 'patch':
      return patchResource(call, target, server)
    case 'delete':
      return deleteResource(call, target, server)
    default:
      return deleteCollection(call, target, server)
  }
}

/** Something that is served and never there: an empty list, and no object. */
function handleVirtual(call: RequestContext, { resource, name }: ResourceRef): Promise<WireResponse> {
  if (call.verb !== 'list') throw notFound({ group: resource.group, kind: resource.plural, name })
  const choice = negotiateResponse(call, resource, { answer: 'document' })
  return Promise.resolve(
    replyDocument(
      call,
      { kind: resource.listKind, apiVersion: servedType(resource).apiVersion, metadata: {}, items: [] },
      { choice },
    ),
  )
}

/** Parts of an object that are read and written by themselves. */
const objectSubresources: ReadonlySet<string> = new Set([
  'status',
  'finalize',
  'approval',
  'ephemeralcontainers',
  'resize',
])

function handleSubresource(call: RequestContext, target: ResourceRef, server: ServerContext): Promise<WireResponse> {
  const name = target.subresource?.name ?? ''
  if (name === 'scale') return handleScale(call, target, server)
  if (name === 'eviction') return evictPod(call, target, server)
  if (name === 'binding') return bindPod(call, target, server)
  if (name === 'token') return createToken(call, target, server)
  if (target.resource.actions?.some((sheet) => sheet.name === name)) return performAction(call, target, server)
  if (!objectSubresources.has(name)) throw unsupportedSubresource(target)
  if (call.verb === 'get') return getResource(call, target, server)
  return call.verb === 'patch' ? patchResource(call, target, server) : updateResource(call, target, server)
}

// Headers were made for this one response, so nobody else sees the number.
function setAuditId({ headers }: WireResponse, id: string): void {
  ;(headers as Record<string, string>)['audit-id'] = id
}

function withoutBody(response: WireResponse): WireResponse {
  const { body, ...rest } = response
  if (body === undefined || !(body instanceof Uint8Array)) return rest
  return { ...rest, headers: { ...rest.headers, 'content-length': String(body.byteLength) } }
}
