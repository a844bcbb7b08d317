/**
 * The line between one process and the server: carrying out a request and answering it are two separate actions.
 *
 * That gives a crash after a write, an answer that gets lost and answers that overtake each other for nothing. A
 * process that has died asks nothing and hears nothing; that it tries is remembered.
 */
import type { UnstructuredObject } from '#api'
import { acceptLightSignals, LightAbortController, onAbort } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'
import type { Interaction, Interceptor } from './deviation.ts'
import type { EventQueue } from './event-loop.ts'
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
  /** Services outside remember what they were before the last effect. */
  readonly keepsPast: boolean
  /** How many steps the world has taken. */
  readonly steps: number
  /** Whether what a process does to the lease of an election counts, this time. */
  countsLease(life: SimulatedProcess): boolean
  /** Numbers what is about to be carried out. */
  recordInteraction(
    life: SimulatedProcess,
    facts: Pick<Interaction, 'about'> &
      Pick<Interaction, 'requestedAt'> &
      Partial<Pick<Interaction, 'requestInfo' | 'request' | 'call' | 'knew'>>,
    type: Interaction['type'],
  ): Interaction
  /** The newest version there is. */
  head(): Promise<number>
  /** Every request, before it waits to be carried out: for rules that look at requests. */
  onRequest(life: SimulatedProcess, request: WireRequest, requestInfo: RequestInfo): void
  /** Something is asked for: for stories. */
  noteOrigin(what: string): void
  /** Somebody asks after its death. */
  onZombie(life: SimulatedProcess, about: string): void
}

interface NetworkLinkOptions {
  /** Streaming lists are refused, as older servers do; lists of any version come from a cache. */
  readonly oldLists: boolean
  /** How many versions back the first lists of any version are. */
  readonly back: number
  /** Only those of this kind; undefined: all. */
  readonly staleKind: string | undefined
}

/** Made once: the stack of an error costs more than telling of it. */
const watcherGone = new Error('the watcher is gone')

interface PendingRequest {
  readonly request: WireRequest
  readonly requestInfo: RequestInfo
  readonly about: string
  readonly knew: readonly UnstructuredObject[]
  readonly requestedAt: number
  resolve(response: WireResponse): void
  reject(error: unknown): void
  isDone: boolean
}

export class NetworkLink {
  readonly #host: NetworkHost
  readonly #life: SimulatedProcess
  readonly #streams = new Set<WatchStream>()
  /** What has arrived. */
  readonly observed = new ObservedState()
  /** Kinds that were ever watched. */
  readonly watched = new Set<string>()
  /** Kinds whose next watch is told that its version is too old. */
  readonly #expired = new Set<string>()

  readonly #options: NetworkLinkOptions
  /** Kinds whose first list was shown. */
  readonly #listed = new Set<string>()

  constructor(host: NetworkHost, life: SimulatedProcess, options: NetworkLinkOptions) {
    this.#options = options
    this.#host = host
    this.#life = life
  }

  readonly transport: Transport = acceptLightSignals((request) => {
    const requestInfo = readRequestInfo(request)
    const about = describeRequest(requestInfo)
    if (this.#life.isDead) {
      this.#host.onZombie(this.#life, about)
      return new Promise(() => undefined)
    }
    this.#host.onRequest(this.#life, request, requestInfo)
    return new Promise((resolve, reject) => {
      const waiting: PendingRequest = {
        request,
        requestInfo,
        about,
        requestedAt: this.#host.steps,
        knew: requestInfo.isWrite ? this.observed.deleting(arrivalsAtRunStart(this.observed)) : [],
        resolve,
        reject,
        isDone: false,
      }
      const cancel = this.#host.eventQueue.add({
        actor: this.#life.name,
        type: 'request',
        about,
        run: () => this.#carryOut(waiting),
      })
      onAbort(request.signal, (reason) => {
        cancel()
        this.#settle(waiting, () => {
          reject(reason)
        })
      })
    })
  })

  /** The watches of a kind, or all. */
  streams(resource?: string): WatchStream[] {
    return [...this.#streams].filter((stream) => resource === undefined || stream.resource === resource)
  }

  /** Cuts the watches of a kind; who comes back is told that its version is gone, and has to list. */
  expire(resource: string): void {
    for (const stream of this.streams(resource)) {
      this.#expired.add(resource)
      stream.cut()
    }
  }

  kill(): void {
    for (const stream of this.#streams) stream.kill()
    this.#streams.clear()
    this.#host.eventQueue.drop(({ actor }) => actor === this.#life.name)
  }

  async #carryOut(waiting: PendingRequest): Promise<void> {
    const { request, requestInfo, about, knew, requestedAt } = waiting
    if (requestInfo.isWatch) return this.#watch(waiting)
    const host = this.#host
    const isLease = requestInfo.resource === 'leases' && requestInfo.verb !== 'get' && host.countsLease(this.#life)
    if (!requestInfo.isWrite && !requestInfo.isRead && !isLease) return this.#answer(waiting, await this.#ask(request))
    const point = host.recordInteraction(
      this.#life,
      { about, requestedAt, requestInfo, request, knew },
      requestInfo.isWrite || isLease ? 'effect' : 'look',
    )
    const fate = await host.before(point)
    if (fate.type === 'dead') return
    if (fate.type === 'refuse') return this.#answer(waiting, errorResponse(fate))
    if (fate.type === 'reset') return this.#fail(waiting)
    const response = await this.#ask(await this.#dated(request, requestInfo))
    point.outcome = String(response.status)
    const aftermath = await host.after(point)
    if (aftermath === 'answer') this.#answer(waiting, response)
    if (aftermath === 'lose') this.#fail(waiting)
  }

  /** The first list of any version shows the past, if it may. */
  async #dated(request: WireRequest, { verb, resource }: RequestInfo): Promise<WireRequest> {
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

  async #ask(request: WireRequest): Promise<WireResponse> {
    const response = await this.#host.server(request)
    const { body } = response
    if (body === undefined || body instanceof Uint8Array || Array.isArray(body)) return response
    const pieces: Uint8Array[] = []
    for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece)
    return { ...response, body: Buffer.concat(pieces) }
  }

  async #watch(waiting: PendingRequest): Promise<void> {
    const {
      request,
      requestInfo: { resource },
    } = waiting
    this.watched.add(resource)
    const isResumed = /[?&]resourceVersion=[1-9]/.test(request.target) && !request.target.includes('sendInitialEvents')
    if (isResumed && this.#expired.delete(resource)) return this.#answer(waiting, expiredWatchResponse())
    if (this.#options.oldLists && request.target.includes('sendInitialEvents'))
      return this.#answer(
        waiting,
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
      return this.#answer(waiting, response)
    const stream = new WatchStream({
      eventQueue: this.#host.eventQueue,
      actor: this.#life.name,
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
    this.#answer(waiting, { ...response, body: stream })
  }

  #answer(waiting: PendingRequest, response: WireResponse): void {
    this.#later(waiting, `${waiting.about}: ${response.status}`, () => {
      const { body } = response
      if (response.status < 300 && !waiting.requestInfo.isWatch && body !== undefined)
        this.observed.addBody(textOf(body))
      waiting.resolve(response)
    })
  }

  #fail(waiting: PendingRequest): void {
    this.#later(waiting, `${waiting.about}: no answer`, () => {
      waiting.reject(connectionReset())
    })
  }

  #later(waiting: PendingRequest, about: string, settle: () => void): void {
    if (this.#life.isDead) return
    this.#host.eventQueue.add({
      actor: this.#life.name,
      type: 'answer',
      about,
      run: () => {
        this.#settle(waiting, settle)
      },
    })
  }

  #settle(waiting: PendingRequest, settle: () => void): void {
    if (waiting.isDone) return
    waiting.isDone = true
    settle()
  }
}

function textOf(body: NonNullable<WireResponse['body']>): string {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
  return Array.isArray(body) ? Buffer.concat(body as Uint8Array[]).toString() : ''
}
