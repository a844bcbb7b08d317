/**
 * The line between one process and the server: carrying out a request and answering it are two separate actions.
 *
 * That gives a crash after a write, an answer that gets lost and answers that overtake each other for nothing. A
 * process that has died asks nothing and hears nothing; that it tries is remembered.
 */
import type { UnstructuredObject } from '#api'
import { onAbort, Stopper } from '#base'
import { takingStops } from '#wire'
import type { Transport, WireRequest, WireResponse } from '#wire'
import type { Agenda } from '../world/agenda.ts'
import { connectionReset, gone, refusal } from './answers.ts'
import { describeAsked, readAsked } from './asked.ts'
import { arrivedBefore } from './began.ts'
import type { Asked } from './asked.ts'
import type { Intervening, Point } from './effect.ts'
import type { Life } from './life.ts'
import { Sight } from './sight.ts'
import { Stream } from './stream.ts'

export interface LineHost extends Intervening {
  readonly agenda: Agenda
  readonly server: Transport
  /** Services outside remember what they were before the last effect. */
  readonly keepsPast: boolean
  /** How many steps the world has taken. */
  readonly steps: number
  /** Whether what a process does to the lease of an election counts, this time. */
  countsLease(life: Life): boolean
  /** Numbers what is about to be carried out. */
  point(
    life: Life,
    facts: Pick<Point, 'about'> & Pick<Point, 'askedAt'> & Partial<Pick<Point, 'asked' | 'request' | 'call' | 'knew'>>,
    type: Point['type'],
  ): Point
  /** The newest version there is. */
  head(): Promise<number>
  /** Every request, before it waits to be carried out: for rules that look at requests. */
  heard(life: Life, request: WireRequest, asked: Asked): void
  /** Something is asked for: for stories. */
  asked(what: string): void
  /** Somebody asks after its death. */
  zombie(life: Life, about: string): void
}

interface LineOptions {
  /** Streaming lists are refused, as older servers do; lists of any version come from a cache. */
  readonly oldLists: boolean
  /** How many versions back the first lists of any version are. */
  readonly back: number
  /** Only those of this kind; undefined: all. */
  readonly staleKind: string | undefined
}

/** Made once: the stack of an error costs more than telling of it. */
const watcherGone = new Error('the watcher is gone')

interface Waiting {
  readonly request: WireRequest
  readonly asked: Asked
  readonly about: string
  readonly knew: readonly UnstructuredObject[]
  readonly askedAt: number
  resolve(response: WireResponse): void
  reject(error: unknown): void
  isOver: boolean
}

export class Line {
  readonly #host: LineHost
  readonly #life: Life
  readonly #streams = new Set<Stream>()
  /** What has arrived. */
  readonly sight = new Sight()
  /** Kinds that were ever watched. */
  readonly watched = new Set<string>()
  /** Kinds whose next watch is told that its version is too old. */
  readonly #expired = new Set<string>()

  readonly #options: LineOptions
  /** Kinds whose first list was shown. */
  readonly #listed = new Set<string>()

  constructor(host: LineHost, life: Life, options: LineOptions) {
    this.#options = options
    this.#host = host
    this.#life = life
  }

  readonly transport: Transport = takingStops((request) => {
    const asked = readAsked(request)
    const about = describeAsked(asked)
    if (this.#life.isDead) {
      this.#host.zombie(this.#life, about)
      return new Promise(() => undefined)
    }
    this.#host.heard(this.#life, request, asked)
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        request,
        asked,
        about,
        askedAt: this.#host.steps,
        knew: asked.isWrite ? this.sight.deleting(arrivedBefore(this.sight)) : [],
        resolve,
        reject,
        isOver: false,
      }
      const cancel = this.#host.agenda.add({
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
  streams(resource?: string): Stream[] {
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
    this.#host.agenda.drop(({ actor }) => actor === this.#life.name)
  }

  async #carryOut(waiting: Waiting): Promise<void> {
    const { request, asked, about, knew, askedAt } = waiting
    if (asked.isWatch) return this.#watch(waiting)
    const host = this.#host
    const isLease = asked.resource === 'leases' && asked.verb !== 'get' && host.countsLease(this.#life)
    if (!asked.isWrite && !asked.isRead && !isLease) return this.#answer(waiting, await this.#ask(request))
    const point = host.point(
      this.#life,
      { about, askedAt, asked, request, knew },
      asked.isWrite || isLease ? 'effect' : 'look',
    )
    const fate = await host.before(point)
    if (fate.type === 'dead') return
    if (fate.type === 'refuse') return this.#answer(waiting, refusal(fate))
    if (fate.type === 'reset') return this.#fail(waiting)
    const response = await this.#ask(await this.#dated(request, asked))
    point.outcome = String(response.status)
    const aftermath = await host.after(point)
    if (aftermath === 'answer') this.#answer(waiting, response)
    if (aftermath === 'lose') this.#fail(waiting)
  }

  /** The first list of any version shows the past, if it may. */
  async #dated(request: WireRequest, { verb, resource }: Asked): Promise<WireRequest> {
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

  async #watch(waiting: Waiting): Promise<void> {
    const {
      request,
      asked: { resource },
    } = waiting
    this.watched.add(resource)
    const isResumed = /[?&]resourceVersion=[1-9]/.test(request.target) && !request.target.includes('sendInitialEvents')
    if (isResumed && this.#expired.delete(resource)) return this.#answer(waiting, gone())
    if (this.#options.oldLists && request.target.includes('sendInitialEvents'))
      return this.#answer(
        waiting,
        refusal({
          status: 422,
          reason: 'Invalid',
          message:
            'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
        }),
      )
    const { method, target, headers, borrowsPieces } = request
    const closing = new Stopper()
    const response = await this.#host.server({ method, target, headers, borrowsPieces, signal: closing.signal })
    const { body } = response
    if (response.status !== 200 || body === undefined || body instanceof Uint8Array || Array.isArray(body))
      return this.#answer(waiting, response)
    const stream = new Stream({
      agenda: this.#host.agenda,
      actor: this.#life.name,
      resource,
      onLine: (line) => {
        this.sight.line(line)
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

  #answer(waiting: Waiting, response: WireResponse): void {
    this.#later(waiting, `${waiting.about}: ${response.status}`, () => {
      const { body } = response
      if (response.status < 300 && !waiting.asked.isWatch && body !== undefined) this.sight.body(textOf(body))
      waiting.resolve(response)
    })
  }

  #fail(waiting: Waiting): void {
    this.#later(waiting, `${waiting.about}: no answer`, () => {
      waiting.reject(connectionReset())
    })
  }

  #later(waiting: Waiting, about: string, settle: () => void): void {
    if (this.#life.isDead) return
    this.#host.agenda.add({
      actor: this.#life.name,
      type: 'answer',
      about,
      run: () => {
        this.#settle(waiting, settle)
      },
    })
  }

  #settle(waiting: Waiting, settle: () => void): void {
    if (waiting.isOver) return
    waiting.isOver = true
    settle()
  }
}

function textOf(body: NonNullable<WireResponse['body']>): string {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
  return Array.isArray(body) ? Buffer.concat(body as Uint8Array[]).toString() : ''
}
