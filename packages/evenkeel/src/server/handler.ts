/**
 * One request from its arrival to its response; the stages in their order.
 *
 *   parse path and query     request-info.ts
 *   deadline                 flowcontrol/
 *   authenticate             auth/
 *   impersonate              auth/impersonation.ts
 *   wait for a seat          flowcontrol/
 *   authorize                authz/
 *   count the body           flowcontrol/body-budget.ts; nothing is read before this
 *   forward                  aggregation/, for group versions of other servers
 *   find the resource        request-info.ts, registry/
 *   handle                   handlers/, one file per verb
 *
 * This is the server as a function. Listeners call it with requests from sockets; in process it is called directly. It
 * never rejects: every error becomes a Status, and an unexpected one is logged as well.
 */
import { isApiError, loadPatternEngine } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { MediaFormat, ResourcePath, Transport, WireRequest, WireResponse } from '#wire'
import type { Aggregation } from './aggregation/aggregation.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { RequestAudit } from './audit/request-audit.ts'
import { authenticate, type Authentication } from './auth/authentication.ts'
import { impersonate } from './auth/impersonation.ts'
import { authorize } from './authz/authorize.ts'
import type { AuthorizerChain } from './authz/authorizer.ts'
import type { CrdController } from './crd/crd-controller.ts'
import { TimedRequest } from './flowcontrol/deadlines.ts'
import type { FlowControl } from './flowcontrol/flow-control.ts'
import type { ResourceHandlers } from './handlers/handlers.ts'
import { readBody } from './handlers/request-body.ts'
import type { Informers } from './informers.ts'
import type { LargeWrites } from './large-writes/large-writes.ts'
import type { RequestMetrics } from './metrics.ts'
import type { NonResourceHandler } from './non-resource-paths.ts'
import type { Registry } from './registry/registry.ts'
import {
  auditIdOf,
  ChangedRequest,
  LargeObject,
  Warnings,
  type Authenticator,
  type RequestContext,
  type RequestInfo,
  type ResourceRef,
} from './request-context.ts'
import { parseRequestInfo, resolveResource, type ParseRequestOptions } from './request-info.ts'
import { compress, replyError } from './response.ts'
import type { Storage } from './storage/storage.ts'

interface RequestStages {
  readonly authentication: Authentication
  readonly flowControl: FlowControl
  readonly authorizer: AuthorizerChain
  readonly resources: ResourceDispatcher
  /** Group versions of other servers. */
  readonly aggregation: Aggregation
  /** Paths that are not about resources: health, version, discovery. */
  readonly nonResources: NonResourceHandler
  readonly metrics: RequestMetrics
  /** The formats of bodies and responses, the preferred one first. */
  readonly formats: readonly MediaFormat[]
  readonly audit: AuditLog | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export class RequestHandler {
  readonly #authentication: Authentication
  readonly #flowControl: FlowControl
  readonly #authorizer: AuthorizerChain
  readonly #resources: ResourceDispatcher
  readonly #aggregation: Aggregation
  readonly #nonResources: NonResourceHandler
  readonly #metrics: RequestMetrics
  readonly #parsing: ParseRequestOptions
  readonly #audit: AuditLog | undefined
  readonly #clock: Clock
  readonly #random: Random
  readonly #log: Logger

  constructor(stages: RequestStages) {
    this.#authentication = stages.authentication
    this.#flowControl = stages.flowControl
    this.#authorizer = stages.authorizer
    this.#resources = stages.resources
    this.#aggregation = stages.aggregation
    this.#nonResources = stages.nonResources
    this.#metrics = stages.metrics
    const { registry } = stages.resources
    this.#parsing = {
      formats: stages.formats,
      isStream: (place) => place.subresource !== '' && isStream(place, registry),
    }
    this.#audit = stages.audit
    this.#clock = stages.clock
    this.#random = stages.random
    this.#log = stages.log
  }

  /** The server as a function, with these authenticators. */
  transport(authenticators: readonly Authenticator[]): Transport {
    return (given) => this.#handle(given, authenticators)
  }

  async #handle(given: WireRequest, authenticators: readonly Authenticator[]): Promise<WireResponse> {
    const started = this.#clock.monotonic()
    const request = new TimedRequest(given)
    const audited = this.#audit?.begin(request)
    const { info, response: made } = await this.#respond(request, authenticators, { audited, started })
    this.#metrics.end(info, { status: made.status, seconds: (this.#clock.monotonic() - started) / 1000 })
    const response = audited ? await audited.complete(made) : made
    setAuditId(response, audited?.id ?? auditIdOf(request, this.#random))
    if (request.method === 'HEAD') return withoutBody(response)
    const encodings = request.headers['accept-encoding']
    return encodings === undefined || info?.verb === 'watch' || response.isFinal
      ? response
      : compress(response, encodings)
  }

  async #respond(
    request: WireRequest,
    authenticators: readonly Authenticator[],
    { audited, started }: { audited: RequestAudit | undefined; started: number },
  ): Promise<{ info: RequestInfo | undefined; response: WireResponse }> {
    let info: RequestInfo | undefined
    try {
      const found = (info = parseRequestInfo(request, started, this.#parsing))
      audited?.setRequestInfo(found)
      const response = await this.#flowControl.withDeadline(found, () => this.#serve(found, authenticators, audited))
      return { info, response }
    } catch (error) {
      audited?.setFailure(error, { isExpected: isApiError(error) })
      if (!isApiError(error) && !request.signal.aborted)
        this.#log.error('request failed', { method: request.method, target: request.target, error })
      return { info, response: replyError(error, info ?? { request, warnings: new Warnings(), formats: ['json'] }) }
    }
  }

  async #serve(
    info: RequestInfo,
    authenticators: readonly Authenticator[],
    audited: RequestAudit | undefined,
  ): Promise<WireResponse> {
    const authorizer = this.#authorizer
    const caller = await authenticate(info, authenticators, this.#authentication)
    const context = await impersonate(audited?.setUser(caller) ?? caller, authorizer)
    audited?.setImpersonatedUser(context)
    const entering = this.#flowControl.enter(context)
    const seat = entering instanceof Promise ? await entering : entering
    let endBody: (() => void) | undefined
    try {
      await authorize(context, audited?.watchAuthorizer(authorizer) ?? authorizer)
      endBody = this.#flowControl.startBody(context)
      const response = await this.#dispatch(audited ? await audited.captureBody(context) : context)
      return this.#flowControl.holdSeat(response, seat, info)
    } catch (error) {
      seat.leave()
      throw error
    } finally {
      endBody?.()
    }
  }

  #dispatch(context: RequestContext): Promise<WireResponse> {
    const { resourcePath } = context
    const aggregated = this.#aggregation.find(context.path)
    if (aggregated) return this.#aggregation.handle(context, aggregated)
    if (resourcePath === undefined) return this.#nonResources(context)
    const { registry } = this.#resources
    const isKnown = resourcePath.group === '' || registry.hasGroup(resourcePath.group)
    const target = isKnown ? resolveResource(resourcePath, context.verb, registry) : undefined
    return target ? this.#resources.handle(context, target) : this.#nonResources({ ...context, path: '' })
  }
}

interface DispatcherServices {
  readonly registry: Registry
  readonly storage: Storage
  readonly handlers: ResourceHandlers
  readonly informers: Informers
  readonly crds: CrdController
  /** Absent when all writes are handled in this thread. */
  readonly largeWrites: LargeWrites | undefined
}

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** What one read of a socket may hold: of several reads, a body has memory of its own. */
const readBytesMax = 65_536

/** Other clients write too, so a response does not wait until the store is quiet. */
const syncRoundsMax = 5

/** Chooses the handler of an authorized request for a resource. */
export class ResourceDispatcher {
  readonly registry: Registry
  readonly #storage: Storage
  readonly #handlers: ResourceHandlers
  readonly #informers: Informers
  readonly #crds: CrdController
  readonly #largeWrites: LargeWrites | undefined

  constructor({ registry, storage, handlers, informers, crds, largeWrites }: DispatcherServices) {
    this.registry = registry
    this.#storage = storage
    this.#handlers = handlers
    this.#informers = informers
    this.#crds = crds
    this.#largeWrites = largeWrites
  }

  handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { resource, subresource } = target
    const { strategy, storage } = resource
    if (strategy.deprecation !== undefined) context.warnings.add(strategy.deprecation)
    if (resource.virtual) return this.#handleVirtual(context, target)
    if (reads.has(context.verb)) return this.#handleHere(context, target)
    if (subresource) return this.#handleWrite(context, target)
    if (strategy.definesResources) return this.#handleCrdWrite(context, target)
    if (this.#informers.has(storage.group, storage.plural)) return this.#handleInformedWrite(context, target)
    return this.#handleWrite(context, target)
  }

  #handleWrite(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    return this.#largeWrites?.covers(context, target)
      ? this.#handleMovable(this.#largeWrites, context, target)
      : this.#handleHere(context, target)
  }

  /** A write that is handled in another thread if its body or the stored object is large. */
  async #handleMovable(largeWrites: LargeWrites, context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    if (context.verb === 'create' && !largeWrites.mayBeLarge(context)) return this.#handleHere(context, target)
    const isStreamed = !(context.request.body instanceof Uint8Array)
    const body = await readBody(context.request)
    const here = withBody(context, body)
    if (!largeWrites.isLarge(context, body)) {
      try {
        return await this.#handleHere({ ...here, objectBytesMax: largeWrites.bytesMax }, target)
      } catch (error) {
        if (!(error instanceof LargeObject)) throw error
      }
    }
    const isOwn = isStreamed && body.byteLength > readBytesMax
    return (await largeWrites.handle(context, body, { isOwn })) ?? this.#handleHere(here, target)
  }

  #handleHere(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { subresource } = target
    return subresource
      ? this.#handlers.subresources[subresource.role](context, target)
      : this.#handleVerb(context, target)
  }

  #handleVirtual(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    if (context.verb !== 'create') return Promise.resolve(this.#handlers.componentStatuses.handle(context, target))
    return target.resource.kind === 'Binding'
      ? this.#handlers.bindings(context, target)
      : this.#handlers.reviews.handle(context, target)
  }

  #handleVerb(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    switch (context.verb) {
      case 'get':
        return this.#handlers.gets.handle(context, target)
      case 'list':
        return this.#handlers.lists.handle(context, target)
      case 'watch':
        return this.#handlers.watches.handle(context, target)
      case 'create':
        return this.#handlers.creates.handle(context, target)
      case 'update':
        return this.#handlers.updates.handle(context, target)
      case 'patch':
        return this.#handlers.patches.handle(context, target)
      case 'delete':
        return this.#handlers.deletes.handle(context, target)
      default:
        return this.#handlers.deleteCollections.handle(context, target)
    }
  }

  /** A write to a kind that the server itself uses is answered once it is in effect. */
  async #handleInformedWrite(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const response = await this.#handleWrite(context, target)
    if (response.status < 300) await this.#informers.waitForRevision(await this.#storage.store.head())
    return response
  }

  /** A write to a CRD is answered once its resources are served: clients may use them at once. */
  async #handleCrdWrite(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    await loadPatternEngine()
    const response = await this.#handleWrite(context, target)
    if (response.status >= 300) return response
    // The CRD controller may write in turn: a status, or the removal of a deleted CRD.
    let seen = 0
    for (let round = 0; round < syncRoundsMax; round++) {
      const head = await this.#storage.store.head()
      if (head === seen) break
      await this.#crds.waitForRevision(head)
      seen = head
    }
    return response
  }
}

/** The context with a body that was read. */
function withBody(context: RequestContext, body: Uint8Array): RequestContext {
  const { request } = context
  if (!(request instanceof TimedRequest)) return { ...context, request: new ChangedRequest(request, { body }) }
  request.body = body
  return context
}

/** Whether a path is that of a subresource that streams. The answer does not depend on it: only deadline and seat do. */
function isStream({ group, version, resource, subresource }: ResourcePath, registry: Registry): boolean {
  const found = registry.find(group, version, resource)?.subresources.find(({ name }) => name === subresource)
  // The log of a Pod is one when the embedding program answers it.
  return (
    found?.role === 'stream' || found?.role === 'connect' || (found?.role === 'unavailable' && found.name === 'log')
  )
}

// The headers were made for this response, so no other response shows this id.
function setAuditId({ headers }: WireResponse, id: string): void {
  ;(headers as Record<string, string>)['audit-id'] = id
}

function withoutBody(response: WireResponse): WireResponse {
  const { body, ...rest } = response
  if (body === undefined || !(body instanceof Uint8Array)) return rest
  return { ...rest, headers: { ...rest.headers, 'content-length': String(body.byteLength) } }
}
