/**
 * A server for writes only, on a store that another server owns: the same registry, admission and handlers, without
 * authentication, lists or watches. It follows the definitions of custom resources and writes none.
 *
 * Invariant: a write sees everything up to the revision that its request names, also policies, quotas and definitions.
 */
import { isApiError, loadPatternEngine } from '#api'
import { assert, copyBytes, LightAbortController, SystemRandom, Transfer, type Clock, type Logger } from '#base'
import type { Store } from '#store'
import { loadCbor, type MediaFormat, type WireResponse } from '#wire'
import type { AdmissionPluginName } from '../admission/plugin-names.ts'
import type { WebhookMetrics } from '../admission/webhook-metrics.ts'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import { RbacAuthorizer } from '../authz/rbac.ts'
import { CrdController } from '../crd/crd-controller.ts'
import type { CustomResourceOptions } from '../extensions/custom-resources.ts'
import { DeleteHandler } from '../handlers/delete.ts'
import { makeWriteHandlers, type WriteHandlers } from '../handlers/handlers.ts'
import { CoreObjects } from '../registry/core-objects.ts'
import { Warnings, type RequestContext, type RequestInfo, type ResourceRef } from '../request-context.ts'
import { parseRequestInfo, resolveResource, unknownPath } from '../request-info.ts'
import { replyError } from '../response.ts'
import { makeAdmission, makeBase, type ServerBase } from '../server-parts.ts'
import type { WebhookOptions } from '../webhooks/client.ts'
import type { LargeWrite, LargeWriteAnswer } from './large-write-thread.ts'

/** The options of the server that concern writes, as plain data. */
export interface ReplicaOptions {
  readonly formats: readonly MediaFormat[]
  readonly enablePlugins?: readonly AdmissionPluginName[]
  readonly disablePlugins?: readonly AdmissionPluginName[]
  readonly serviceClusterIpRanges?: readonly string[]
  /** Without their functions. */
  readonly customResources?: readonly CustomResourceOptions[]
}

interface ReplicaServices {
  readonly store: Store
  readonly authorizer: AuthorizerChain
  readonly webhooks: WebhookOptions
  readonly webhookMetrics: Pick<WebhookMetrics, 'count'>
  readonly clock: Clock
  readonly log: Logger
}

export class Replica {
  readonly #options: ReplicaOptions
  readonly #base: ServerBase
  readonly #handlers: WriteHandlers
  readonly #crds: CrdController
  readonly #running = new Map<number, LightAbortController>()

  constructor(options: ReplicaOptions, services: ReplicaServices) {
    const { formats: _, serviceClusterIpRanges, customResources, ...plugins } = options
    const { authorizer, webhooks, webhookMetrics } = services
    this.#options = options
    const base = makeBase({
      ...services,
      random: new SystemRandom(),
      ...(serviceClusterIpRanges && { serviceClusterIpRanges }),
      ...(customResources && { customResources }),
    })
    const security = {
      rbac: new RbacAuthorizer(base.informers),
      authorizer,
      objects: new CoreObjects(base),
      webhookMetrics,
    }
    const admission = makeAdmission({ admission: plugins, webhooks }, base, security)
    this.#base = base
    this.#handlers = makeWriteHandlers({ ...base, ...security, admission })
    this.#crds = new CrdController({
      ...base,
      updates: this.#handlers.updates,
      deletes: new DeleteHandler({ ...base, admission }),
      conversions: { conversions: {}, webhooks },
      isFollower: true,
    })
  }

  /** Resolves when it knows everything that is in the store. */
  async start(): Promise<void> {
    if (this.#options.formats.includes('cbor')) await loadCbor()
    await this.#crds.start()
    await this.#base.informers.start()
  }

  /** A {@link LargeWriteAnswer}, to be sent. */
  async write(given: LargeWrite): Promise<Transfer> {
    const aborted = new LightAbortController()
    this.#running.set(given.id, aborted)
    try {
      await Promise.all([
        this.#base.informers.waitForRevision(given.revision),
        this.#crds.waitForRevision(given.revision),
      ])
      const answer = await this.#answer(given, aborted.signal)
      const { body } = answer.response
      return new Transfer(answer, body instanceof Uint8Array ? [body] : [])
    } finally {
      this.#running.delete(given.id)
    }
  }

  cancel(id: number): void {
    this.#running.get(id)?.abort(new Error('the client closed the connection'))
  }

  async #answer(given: LargeWrite, signal: AbortSignal): Promise<LargeWriteAnswer> {
    const { method, target, headers, body, user, impersonator, leftMs } = given
    const { clock, log } = this.#base
    const request = { method, target, headers, body, signal }
    const annotations: (readonly [string, string])[] = []
    let info: RequestInfo | undefined
    try {
      info = parseRequestInfo(request, clock.monotonic(), this.#options)
      const context: RequestContext = {
        ...info,
        user,
        ...(impersonator && { impersonator }),
        ...(leftMs !== undefined && { dueMs: clock.monotonic() + leftMs }),
        annotate: (key, value) => annotations.push([key, value]),
      }
      const found = info.resourcePath && resolveResource(info.resourcePath, info.verb, this.#base.registry)
      if (!found) throw unknownPath()
      return { response: plain(await this.#handle(context, found)), annotations }
    } catch (error) {
      if (!isApiError(error) && !signal.aborted) log.error('request failed', { method, target, error })
      return {
        response: plain(replyError(error, info ?? { request, warnings: new Warnings(), formats: ['json'] })),
        annotations,
      }
    }
  }

  async #handle(context: RequestContext, target: ResourceRef): Promise<WireResponse> {
    const { deprecation, definesResources } = target.resource.strategy
    if (deprecation !== undefined) context.warnings.add(deprecation)
    if (definesResources) await loadPatternEngine()
    const { creates, updates, patches } = this.#handlers
    if (context.verb === 'create') return creates.handle(context, target)
    return context.verb === 'patch' ? patches.handle(context, target) : updates.handle(context, target)
  }
}

/** A response that can be sent to another thread. */
function plain({ status, headers, body }: WireResponse): WireResponse {
  return { status, headers, ...(body !== undefined && { body: wholeBody(body) }) }
}

function wholeBody(body: NonNullable<WireResponse['body']>): Uint8Array {
  if (body instanceof Uint8Array) return copyBytes(body)
  assert(Array.isArray(body), 'the response of a write is no stream')
  return copyBytes(Buffer.concat(body as readonly Uint8Array[]))
}
