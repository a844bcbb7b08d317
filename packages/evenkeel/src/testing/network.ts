/**
 * The network between one process and the server. Executing a request and delivering its response are two events.
 *
 * This gives three faults without further code: a crash after the commit, a lost response, and responses that arrive in
 * another order. A process that has crashed sends nothing and receives nothing.
 */
import type { UnstructuredObject } from '#api'
import { acceptLightSignals, LightAbortController, onAbort } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'
import type { Interaction, Interceptor } from './deviation.ts'
import type { EventQueue } from './event-loop.ts'
import type { InteractionFacts } from './interaction-log.ts'
import { arrivalsAtRunStart, ObservedState } from './observed-state.ts'
import type { SimulatedProcess } from './process.ts'
import {
  connectionReset,
  describeRequest,
  errorResponse,
  expiredWatchResponse,
  readRequestInfo,
  type RequestInfo,
} from './requests.ts'
import { WatchStream } from './watch-stream.ts'

export interface NetworkHost extends Interceptor {
  readonly eventQueue: EventQueue
  readonly server: Transport
  /** External services keep their state before the last effect. */
  readonly keepsPast: boolean
  /** How many events have run. */
  readonly steps: number
  /** Whether a write of the election lease is an effect now. */
  countsLease(proc: SimulatedProcess): boolean
  /** Numbers an interaction that is about to be executed. */
  recordInteraction(proc: SimulatedProcess, facts: InteractionFacts, type: Interaction['type']): Interaction
  /** Work that was done now took a moment. */
  passMoment(): void
  /** The newest revision of the store. */
  head(): Promise<number>
  /** Called for every request before it enters the event queue. */
  onRequest(proc: SimulatedProcess, request: WireRequest, requestInfo: RequestInfo): void
  /** Records where in the user's code a request is made. */
  noteOrigin(what: string): void
}

interface NetworkLinkOptions {
  /** Streaming lists are refused, as older servers do. */
  readonly oldLists: boolean
  /** How many revisions behind the first lists from the cache are. */
  readonly back: number
  /** Only the list of this resource is stale; undefined: all are. */
  readonly staleKind: string | undefined
}

/** Made once: capturing a stack costs more than the abort itself. */
const watcherGone = new Error('the watch was closed')

interface PendingRequest {
  readonly request: WireRequest
  readonly requestInfo: RequestInfo
  readonly about: string
  readonly knownDeletions: readonly UnstructuredObject[]
  readonly requestedAt: number
  resolve(response: WireResponse): void
  reject(error: unknown): void
  isDone: boolean
}

export class NetworkLink {
  readonly #host: NetworkHost
  readonly #proc: SimulatedProcess
  readonly #streams = new Set<WatchStream>()
  /** What the process has received. */
  readonly observed = new ObservedState()
  /** Resources that were ever watched. */
  readonly watched = new Set<string>()
  /** Resources whose next watch fails with 410 Expired. */
  readonly #expired = new Set<string>()

  readonly #options: NetworkLinkOptions
  /** Resources whose first list was served. */
  readonly #listed = new Set<string>()

  constructor(host: NetworkHost, proc: SimulatedProcess, options: NetworkLinkOptions) {
    this.#options = options
    this.#host = host
    this.#proc = proc
  }

  readonly transport: Transport = acceptLightSignals((request) => {
    const requestInfo = readRequestInfo(request)
    const about = describeRequest(requestInfo)
    if (this.#proc.isDead) return new Promise(() => undefined)
    this.#host.onRequest(this.#proc, request, requestInfo)
    return new Promise((resolve, reject) => {
      const pending: PendingRequest = {
        request,
        requestInfo,
        about,
        requestedAt: this.#host.steps,
        knownDeletions: requestInfo.isWrite ? this.observed.deleting(arrivalsAtRunStart(this.observed)) : [],
        resolve,
        reject,
        isDone: false,
      }
      const cancel = this.#host.eventQueue.add({
        actor: this.#proc.name,
        type: 'request',
        about,
        run: () => this.#execute(pending),
      })
      onAbort(request.signal, (reason) => {
        cancel()
        this.#settle(pending, () => {
          reject(reason)
        })
      })
    })
  })

  /** The open watches of a resource, or all. */
  streams(resource?: string): WatchStream[] {
    return [...this.#streams].filter((stream) => resource === undefined || stream.resource === resource)
  }

  /** Breaks the watches of a resource. The next watch fails with 410 Expired, so that the client must list. */
  expire(resource: string): void {
    for (const stream of this.streams(resource)) {
      this.#expired.add(resource)
      stream.cut()
    }
  }

  kill(): void {
    for (const stream of this.#streams) stream.kill()
    this.#streams.clear()
    this.#host.eventQueue.drop(({ actor }) => actor === this.#proc.name)
  }

  async #execute(pending: PendingRequest): Promise<void> {
    const { request, requestInfo, about, knownDeletions, requestedAt } = pending
    if (requestInfo.isWatch) return this.#watch(pending)
    const host = this.#host
    const isLease = requestInfo.resource === 'leases' && requestInfo.verb !== 'get' && host.countsLease(this.#proc)
    if (!requestInfo.isWrite && !requestInfo.isRead && !isLease) return this.#answer(pending, await this.#send(request))
    const interaction = host.recordInteraction(
      this.#proc,
      { about, requestedAt, requestInfo, request, knownDeletions },
      requestInfo.isWrite || isLease ? 'effect' : 'read',
    )
    const decision = await host.before(interaction)
    if (decision.type === 'dead') return
    if (decision.type === 'refuse') return this.#answer(pending, errorResponse(decision))
    if (decision.type === 'reset') return this.#fail(pending)
    const response = await this.#send(await this.#atOldRevision(request, requestInfo))
    interaction.outcome = String(response.status)
    const responseDecision = await host.after(interaction)
    if (responseDecision === 'answer') this.#answer(pending, response)
    if (responseDecision === 'lose') this.#fail(pending)
  }

  /** Makes the first list with resourceVersion=0 read an old revision, if that is requested. */
  async #atOldRevision(request: WireRequest, { verb, resource }: RequestInfo): Promise<WireRequest> {
    const { back, staleKind = resource } = this.#options
    if (
      back === 0 ||
      resource !== staleKind ||
      verb !== 'list' ||
      !/[?&]resourceVersion=0(?:&|$)/.test(request.target) ||
      this.#listed.has(resource)
    )
      return request
    this.#listed.add(resource)
    const version = Math.max(1, (await this.#host.head()) - back)
    return {
      ...request,
      target: `${request.target.replace(/resourceVersion=0/, `resourceVersion=${version}`)}&resourceVersionMatch=Exact`,
    }
  }

  async #send(request: WireRequest): Promise<WireResponse> {
    const response = await this.#host.server(request)
    const { body } = response
    if (body === undefined || body instanceof Uint8Array || Array.isArray(body)) return response
    const pieces: Uint8Array[] = []
    for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece)
    return { ...response, body: Buffer.concat(pieces) }
  }

  async #watch(pending: PendingRequest): Promise<void> {
    const {
      request,
      requestInfo: { resource },
    } = pending
    this.watched.add(resource)
    const isResumed = /[?&]resourceVersion=[1-9]/.test(request.target) && !request.target.includes('sendInitialEvents')
    if (isResumed && this.#expired.delete(resource)) return this.#answer(pending, expiredWatchResponse())
    if (this.#options.oldLists && request.target.includes('sendInitialEvents'))
      return this.#answer(
        pending,
        errorResponse({
          status: 422,
          reason: 'Invalid',
          message:
            'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
        }),
      )
    const { method, target, headers, borrowsChunks } = request
    const closing = new LightAbortController()
    const response = await this.#host.server({ method, target, headers, borrowsChunks, signal: closing.signal })
    const { body } = response
    if (response.status !== 200 || body === undefined || body instanceof Uint8Array || Array.isArray(body))
      return this.#answer(pending, response)
    const stream = new WatchStream({
      eventQueue: this.#host.eventQueue,
      actor: this.#proc.name,
      resource,
      onLine: (line) => {
        this.observed.addWatchLine(line)
      },
      close: () => {
        closing.abort(watcherGone)
      },
    })
    this.#streams.add(stream)
    onAbort(request.signal, (reason) => {
      this.#streams.delete(stream)
      stream.abort(reason)
    })
    void stream.pump(body as AsyncIterable<Uint8Array>)
    this.#answer(pending, { ...response, body: stream })
  }

  #answer(pending: PendingRequest, response: WireResponse): void {
    this.#enqueueResponse(pending, `${pending.about}: ${response.status}`, () => {
      const { body } = response
      if (response.status < 300 && !pending.requestInfo.isWatch && body !== undefined)
        this.observed.addBody(textOf(body))
      pending.resolve(response)
    })
  }

  #fail(pending: PendingRequest): void {
    this.#enqueueResponse(pending, `${pending.about}: no response`, () => {
      pending.reject(connectionReset())
    })
  }

  #enqueueResponse(pending: PendingRequest, about: string, settle: () => void): void {
    if (this.#proc.isDead) return
    this.#host.eventQueue.add({
      actor: this.#proc.name,
      type: 'answer',
      about,
      run: () => {
        this.#settle(pending, settle)
      },
    })
  }

  #settle(pending: PendingRequest, settle: () => void): void {
    if (pending.isDone) return
    pending.isDone = true
    settle()
  }
}

function textOf(body: NonNullable<WireResponse['body']>): string {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
  return Array.isArray(body) ? Buffer.concat(body as Uint8Array[]).toString() : ''
}
