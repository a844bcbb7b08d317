/**
 * The order of the rooms: one request from what arrived to what is answered.
 *
 * This is the server as a function. Listeners call it with what came over a socket; in process it is called directly.
 * It never rejects: whatever goes wrong becomes a Status, and what nobody expected is logged as well.
 */
import { isApiError, notFound } from '#api'
import type { Transport, WireRequest, WireResponse } from '#wire'
import { requestToken } from './authentication/accounts/token-request.ts'
import { impersonate } from './authentication/impersonation/impersonate.ts'
import { authenticate } from './authenticate.ts'
import type { Authenticator } from './authenticate.ts'
import { authorize } from './authorize.ts'
import { auditIdOf } from './audit/audit-id.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { AuditedCall } from './audit/audited-call.ts'
import type { Call, Rooms, Routed, Target } from './call.ts'
import { compress } from './answers/compress.ts'
import { Warnings } from './answers/warnings.ts'
import { servedType } from './convert.ts'
import { TimedRequest } from './fairness/deadlines.ts'
import { isKnownGroup } from './plain/plain.ts'
import type { Plain } from './plain/plain.ts'
import type { RequestMetrics } from './plain/metrics.ts'
import { preparePatterns } from './definitions/patterns.ts'
import { chooseForm, replyDocument, replyError } from './reply.ts'
import { locate, route } from './route.ts'
import { act } from './subresources/act.ts'
import { bind, evict } from './subresources/pod.ts'
import { review } from './subresources/reviews.ts'
import { scale } from './subresources/scale.ts'
import { unavailable } from './subresources/unavailable.ts'
import { create } from './walks/create.ts'
import { list } from './walks/list.ts'
import { patch } from './walks/patch.ts'
import { read } from './walks/read.ts'
import { removeMany } from './walks/remove-many.ts'
import { remove } from './walks/remove.ts'
import { update } from './walks/update.ts'
import { watch } from './walks/watch.ts'

interface HandlerOptions {
  readonly rooms: Rooms
  readonly authenticators: readonly Authenticator[]
  /** Everything that is not about resources: health, version, discovery. */
  readonly plain: Plain
  readonly metrics: RequestMetrics
  readonly audit: AuditLog | undefined
}

/** The server as a function. */
export function makeHandler(options: HandlerOptions): Transport {
  const { rooms, metrics, audit } = options
  return async (given) => {
    const started = rooms.clock.monotonic()
    const request = new TimedRequest(given)
    const audited = audit?.begin(request)
    const { routed, response: made } = await answer(request, options, audited)
    metrics.end(routed, { status: made.status, seconds: (rooms.clock.monotonic() - started) / 1000 })
    const response = audited ? await audited.ends(made) : made
    numberResponse(response, audited?.id ?? auditIdOf(request, rooms.random))
    if (request.method === 'HEAD') return withoutBody(response)
    const encodings = request.headers['accept-encoding']
    return encodings === undefined || routed?.verb === 'watch' ? response : compress(response, encodings)
  }
}

async function answer(
  request: WireRequest,
  options: HandlerOptions,
  audited: AuditedCall | undefined,
): Promise<{ routed: Routed | undefined; response: WireResponse }> {
  let routed: Routed | undefined
  try {
    const found = (routed = route(request))
    audited?.isRouted(found)
    return { routed, response: await options.rooms.traffic.withinTime(found, () => serve(found, options, audited)) }
  } catch (error) {
    audited?.hasFailed(error, { isExpected: isApiError(error) })
    if (!isApiError(error) && !request.signal.aborted)
      options.rooms.log.error('a request failed', { method: request.method, target: request.target, error })
    return { routed, response: replyError(error, routed ?? { request, warnings: new Warnings() }) }
  }
}

/** Who, whose turn, whether they may, and then what they asked for. */
async function serve(routed: Routed, options: HandlerOptions, audited: AuditedCall | undefined): Promise<WireResponse> {
  const { access, authentication, traffic } = options.rooms
  const caller = await authenticate(routed, options.authenticators, authentication)
  const call = await impersonate(audited?.isKnown(caller) ?? caller, access)
  audited?.isSomebodyElse(call)
  const entering = traffic.enter(call)
  const seat = entering instanceof Promise ? await entering : entering
  try {
    await authorize(call, audited?.overhear(access) ?? access)
    return traffic.keepSeat(await dispatch(audited ? await audited.withBody(call) : call, options), seat, routed)
  } catch (error) {
    seat.leave()
    throw error
  }
}

function dispatch(call: Call, options: HandlerOptions): Promise<WireResponse> {
  const { rooms, plain } = options
  const { place } = call
  if (place === undefined) return plain(call)
  if (!isKnownGroup(call.path, rooms.registry)) return plain({ ...call, path: '' })
  const target = locate(place, call.verb, rooms.registry)
  if (target.resource.rules.deprecation !== undefined) call.warnings.add(target.resource.rules.deprecation)
  if (target.resource.virtual) return call.verb === 'create' ? review(call, target, rooms) : nothing(call, target)
  if (target.subresource) return walkBelow(call, target, rooms)
  if (target.resource.rules.defines && !reads.has(call.verb)) return define(call, target, rooms)
  if (rooms.views.has(target.resource.storage.group, target.resource.storage.plural) && !reads.has(call.verb))
    return settle(call, target, rooms)
  return walk(call, target, rooms)
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** A write to what the server itself obeys is answered once it is in force. */
async function settle(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const response = await walk(call, target, rooms)
  if (response.status < 300) await rooms.views.caughtUp(await rooms.store.head())
  return response
}

/** A write to a definition is answered once what it defines is served: clients may use it at once. */
async function define(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  await preparePatterns()
  const response = await walk(call, target, rooms)
  if (response.status >= 300) return response
  // Taking it in may write in turn: a status, or the end of what was deleted.
  let seen = 0
  for (let round = 0; round < settleRounds; round++) {
    const head = await rooms.store.head()
    if (head === seen) break
    await rooms.caughtUp(head)
    seen = head
  }
  return response
}

/** Others write too, so there is no waiting for silence. */
const settleRounds = 5

function walk(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  switch (call.verb) {
    case 'get':
      return read(call, target, rooms)
    case 'list':
      return list(call, target, rooms)
    case 'watch':
      return watch(call, target, rooms)
    case 'create':
      return create(call, target, rooms)
    case 'update':
      return update(call, target, rooms)
    case 'patch':
      return patch(call, target, rooms)
    case 'delete':
      return remove(call, target, rooms)
    default:
      return removeMany(call, target, rooms)
  }
}

/** Something that is served and never there: an empty list, and no object. */
function nothing(call: Call, { resource, name }: Target): Promise<WireResponse> {
  if (call.verb !== 'list') throw notFound({ group: resource.group, kind: resource.plural, name })
  const choice = chooseForm(call, resource, { answer: 'document' })
  return Promise.resolve(
    replyDocument(
      call,
      { kind: resource.listKind, apiVersion: servedType(resource).apiVersion, metadata: {}, items: [] },
      { choice },
    ),
  )
}

/** Parts of an object that are read and written by themselves. */
const partial: ReadonlySet<string> = new Set(['status', 'finalize', 'approval', 'ephemeralcontainers', 'resize'])

function walkBelow(call: Call, target: Target, rooms: Rooms): Promise<WireResponse> {
  const name = target.subresource?.name ?? ''
  if (name === 'scale') return scale(call, target, rooms)
  if (name === 'eviction') return evict(call, target, rooms)
  if (name === 'binding') return bind(call, target, rooms)
  if (name === 'token') return requestToken(call, target, rooms)
  if (target.resource.actions?.some((sheet) => sheet.name === name)) return act(call, target, rooms)
  if (!partial.has(name)) throw unavailable(target)
  if (call.verb === 'get') return read(call, target, rooms)
  return call.verb === 'patch' ? patch(call, target, rooms) : update(call, target, rooms)
}

// Headers were made for this one response, so nobody else sees the number.
function numberResponse({ headers }: WireResponse, id: string): void {
  ;(headers as Record<string, string>)['audit-id'] = id
}

function withoutBody(response: WireResponse): WireResponse {
  const { body, ...rest } = response
  if (body === undefined || !(body instanceof Uint8Array)) return rest
  return { ...rest, headers: { ...rest.headers, 'content-length': String(body.byteLength) } }
}
