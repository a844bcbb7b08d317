/**
 * Writes of large objects, in a thread of their own.
 *
 * Decoding, validating and tracking an object of a hundred thousand values takes half a second of processor time. In the
 * thread of the server every other request would wait for it. So a request whose body or stored object is large goes to
 * a second thread, after authentication, flow control and authorization. That thread has a server of its own on the same
 * store (`replica.ts`), as two servers share one etcd, and memory of its own: a document cannot exhaust the server.
 *
 *   client ──▶ this thread: authenticate, authorize, read the body ──▶ thread: decode, admit, validate
 *   client ◀── this thread                                         ◀──         commit, through the store of this thread
 *
 * The thread starts with the first large write and ends after a minute without one. The write that starts it is handled in
 * this thread, unless it is very large; those that follow wait. Writes with admission hooks of this process are always
 * handled in this thread.
 *
 * Invariants: a request that is handed over is answered once, also when the thread ends. Users take turns, and
 * none has more than its share of the thread.
 */
import { internalError, requestEntityTooLarge } from '#api'
import { abortable, copyBytes, deferred, onAbort, type Cancel, type Clock, type Logger } from '#base'
import type { Store } from '#store'
import type { MediaFormat, WireResponse } from '#wire'
import type { WebhookMetrics } from '../admission/webhook-metrics.ts'
import type { Admission } from '../admission/write-admission.ts'
import type { AuthorizerChain } from '../authz/authorizer.ts'
import { FairQueue } from '../flowcontrol/fair-queue.ts'
import type { CustomResources } from '../extensions/custom-resources.ts'
import type { RequestContext, ResourceRef } from '../request-context.ts'
import type { WebhookOptions } from '../webhooks/client.ts'
import type { LargeWriteThread, StartWorker } from './large-write-thread.ts'
import type { ReplicaOptions } from './replica.ts'

/** YAML takes more than ten times as long as JSON. */
const yamlFactor = 16
/** Before the thread has started, one document of up to so many times the limit is handled at once. */
const patientFactor = 2
const startMs = 15_000
/** After a start that took too long large writes are handled here, so that a busy machine does not start threads all the time. */
const restMs = 10_000
const idleMs = 60_000
/** How long a thread may still compute for a request that is over. */
const patienceMs = 10_000
/** Larger documents go one at a time: they need most of the memory of the thread. */
const hugeBytes = 262_144
const hugeSeats = { seatsMax: 1, seatsPerUserMax: 1 }
/** Many, because writes also wait for webhooks and for the disk. */
const otherSeats = { seatsMax: 16, seatsPerUserMax: 8 }

/** The thread is gone. */
export class ThreadEnded extends Error {
  /** Its memory was not enough for the only write that it handled. */
  readonly isTooLarge: boolean

  constructor(message: string, { isTooLarge = false }: { isTooLarge?: boolean } = {}) {
    super(message)
    this.isTooLarge = isTooLarge
  }
}

interface HandOver {
  /** No other code has the memory of the body: it moves to the thread. */
  readonly isOwn: boolean
}

interface LargeWritesServices {
  readonly store: Store
  readonly admission: Admission
  readonly webhookMetrics: WebhookMetrics
  readonly authorizer: AuthorizerChain
  readonly clock: Clock
  readonly log: Logger
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

interface LargeWritesOptions {
  readonly replica: ReplicaOptions
  readonly webhooks: WebhookOptions
  /** The limit of {@link LimitOptions.largeWriteBytes}. */
  readonly bytesMax: number
  /** @default a thread of Node */
  readonly startWorker?: StartWorker | undefined
}

export class LargeWrites {
  readonly #services: LargeWritesServices
  readonly #options: LargeWritesOptions
  readonly #huge: FairQueue
  readonly #others: FairQueue
  /** Larger stored objects are not handled in this thread. */
  readonly bytesMax: number
  #thread: LargeWriteThread | undefined
  /** Resolves when the thread is ready, or has ended. */
  #starting: Promise<void> | undefined
  /** Resolves when the memory of the last thread is free. */
  #gone: Promise<void> = Promise.resolve()
  #isPossible = true
  #stopResting: Cancel | undefined
  /** The write that started the thread has not waited for it. */
  #hasAnsweredFirst = false
  #inside = 0
  #handled = 0
  #declined = 0
  #stopIdle: Cancel | undefined
  #lastId = 0

  constructor(services: LargeWritesServices, options: LargeWritesOptions) {
    this.#services = services
    this.#options = options
    this.bytesMax = options.bytesMax
    const queue = { clock: services.clock, waitingMax: 1000, waitingPerUserMax: 100, waitMs: 15_000 }
    this.#huge = new FairQueue({ ...queue, ...hugeSeats })
    this.#others = new FairQueue({ ...queue, ...otherSeats })
    onAbort(services.stopping, () => {
      this.#stopIdle?.()
      this.#stopResting?.()
      this.#thread?.end('the server is stopping')
    })
  }

  /** Whether a write may be handed over at all. */
  covers({ verb, request }: RequestContext, target: ResourceRef): boolean {
    if (!this.#isPossible || request.peer === undefined) return false
    if (verb !== 'create' && verb !== 'update' && verb !== 'patch') return false
    if (target.subresource !== undefined && target.subresource.role !== 'part') return false
    return !this.#hasLocalHooks(target)
  }

  /** Whether the body has to be read to know whether it is large. */
  mayBeLarge({ request: { headers } }: RequestContext): boolean {
    const length = headers['content-length']
    return length === undefined || Number(length) > this.bytesMax || isYaml(headers['content-type'])
  }

  /** Whether a body takes long: for its size, or because it multiplies what it names. */
  isLarge({ request: { headers } }: RequestContext, body: Uint8Array): boolean {
    const type = headers['content-type']
    const size = body.byteLength * (isYaml(type) ? yamlFactor : 1)
    return size > this.bytesMax || multiplies(type, body)
  }

  /** Lines for `/metrics`. */
  metrics(): string[] {
    return [
      '# HELP evenkeel_large_writes_total Writes of large objects, by where they were handled.',
      '# TYPE evenkeel_large_writes_total counter',
      `evenkeel_large_writes_total{place="thread"} ${this.#handled}`,
      `evenkeel_large_writes_total{place="here"} ${this.#declined}`,
    ]
  }

  /**
   * The response of the thread; undefined when the write has to be handled in this thread. Otherwise the body is gone.
   *
   * @throws {ApiError} `TooManyRequests`; `RequestEntityTooLarge` and `InternalError`, when the thread ended.
   */
  async handle(context: RequestContext, body: Uint8Array, options: HandOver): Promise<WireResponse | undefined> {
    const response = await this.#handle(context, body, options)
    if (response) this.#handled++
    else this.#declined++
    return response
  }

  async #handle(context: RequestContext, body: Uint8Array, options: HandOver): Promise<WireResponse | undefined> {
    const { signal } = context.request
    const mayWait = this.#hasAnsweredFirst || body.byteLength > patientFactor * this.bytesMax
    this.#hasAnsweredFirst = true
    if (!(mayWait ? await this.#untilReady(signal) : this.#ready())) return undefined
    const queue = body.byteLength > hugeBytes ? this.#huge : this.#others
    const seat = await queue.enter(context.user.name, () => context.request.signal)
    this.#stopIdle?.()
    this.#inside++
    try {
      // The thread may have ended meanwhile. All that waited for it must not be handled here, at once.
      const thread = await this.#untilReady(signal)
      if (!thread) return undefined
      // Memory that the listener may use for other requests stays here.
      return await this.#send(thread, context, options.isOwn ? body : copyBytes(body))
    } catch (error) {
      throw error instanceof ThreadEnded ? explained(error) : error
    } finally {
      this.#inside--
      seat.leave()
      if (this.#inside === 0) this.#endWhenIdle()
    }
  }

  async #send(thread: LargeWriteThread, context: RequestContext, body: Uint8Array): Promise<WireResponse> {
    const { request, user, impersonator, dueMs } = context
    const { store, clock } = this.#services
    const id = ++this.#lastId
    const revision = await store.head()
    let stopPatience: Cancel | undefined
    const unlisten = onAbort(request.signal, () => {
      thread.cancel(id)
      stopPatience = clock.after(patienceMs, () => {
        thread.end('a write took too long')
      })
    })
    try {
      const answer = await thread.write({
        id,
        method: request.method,
        target: request.target,
        headers: request.headers,
        body,
        user,
        ...(impersonator && { impersonator }),
        ...(dueMs !== undefined && { leftMs: dueMs - clock.monotonic() }),
        revision,
      })
      for (const [key, value] of answer.annotations) context.annotate?.(key, value)
      return answer.response
    } finally {
      unlisten()
      stopPatience?.()
    }
  }

  /** The thread; undefined when there can be none. */
  async #untilReady(signal: AbortSignal): Promise<LargeWriteThread | undefined> {
    for (;;) {
      const thread = this.#ready()
      if (thread || !this.#starting || !this.#isPossible || this.#services.stopping.aborted) return thread
      await abortable(this.#starting, { signal })
    }
  }

  /** The thread, if it is ready; starts it otherwise. */
  #ready(): LargeWriteThread | undefined {
    if (this.#services.stopping.aborted || !this.#isPossible) return undefined
    this.#starting ??= this.#start()
    return this.#thread?.isReady ? this.#thread : undefined
  }

  /** The code of threads is loaded here: most servers never have a large write. */
  async #start(): Promise<void> {
    const { replica, webhooks, startWorker } = this.#options
    const { clock, stopping } = this.#services
    const { LargeWriteThread: Thread } = await import('./large-write-thread.ts')
    // Two threads at once, one of them with all the memory that it may have, are more than a small machine has.
    await this.#gone
    if (stopping.aborted) return
    const started = deferred<void>()
    this.#thread = Thread.start(
      { ...this.#services, webhooks },
      {
        replica,
        ...(startWorker && { startWorker }),
        onReady: started.resolve,
        onEnd: ({ wasReady, wasSlow }) => {
          this.#thread = undefined
          this.#starting = undefined
          started.resolve()
          // A bundled program may lack the file of the thread: then large writes stay in this thread.
          if (!wasReady) this.#isPossible = false
          if (wasSlow) this.#rest()
        },
      },
    )
    const thread = this.#thread
    if (!thread) {
      this.#isPossible = false
      return
    }
    this.#gone = thread.gone
    const cancel = clock.after(startMs, () => {
      thread.end('it did not start in time', { isSlow: true })
    })
    await started.promise
    cancel()
  }

  /** The machine was busy: tries again later. */
  #rest(): void {
    if (this.#services.stopping.aborted) return
    this.#stopResting = this.#services.clock.after(restMs, () => {
      this.#isPossible = true
    })
  }

  #endWhenIdle(): void {
    if (this.#services.stopping.aborted) return
    this.#stopIdle = this.#services.clock.after(idleMs, () => {
      this.#hasAnsweredFirst = false
      this.#thread?.end('it was idle')
    })
  }

  /** Functions of the embedder run in this thread only. */
  #hasLocalHooks(target: ResourceRef): boolean {
    const { admission } = this.#services
    return admission.isLocal({ operation: 'CREATE', target }) || admission.isLocal({ operation: 'UPDATE', target })
  }
}

function explained({ message, isTooLarge }: ThreadEnded): Error {
  if (isTooLarge) return requestEntityTooLarge('the object needs more memory than this server has for one write')
  return internalError(`the thread of large writes ended (${message}): the object may or may not have been written`)
}

function isYaml(type = ''): boolean {
  return type.includes('yaml')
}

/** Aliases of YAML, and copies of a JSON patch, make a large document of a few bytes. */
function multiplies(type: string | undefined, body: Uint8Array): boolean {
  if (isYaml(type)) return body.includes(asterisk)
  return (
    type !== undefined &&
    type.includes('json-patch') &&
    Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('"copy"')
  )
}

const asterisk = 0x2a

/** What the thread has to know about the server. */
export function replicaOptions(
  { enablePlugins, disablePlugins }: Pick<ReplicaOptions, 'enablePlugins' | 'disablePlugins'>,
  {
    formats,
    serviceClusterIpRanges,
    customResources,
  }: {
    formats: readonly MediaFormat[]
    serviceClusterIpRanges?: readonly string[] | undefined
    customResources: CustomResources
  },
): ReplicaOptions {
  return {
    formats,
    ...(enablePlugins && { enablePlugins }),
    ...(disablePlugins && { disablePlugins }),
    ...(serviceClusterIpRanges && { serviceClusterIpRanges }),
    customResources: customResources.rules,
  }
}
