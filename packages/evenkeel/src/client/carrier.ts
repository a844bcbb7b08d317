/**
 * What carries requests to a server over connections that are kept.
 */
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { deferred, onAbort } from '#base'
import type { WireRequest } from '#wire'
import type { Dialer } from './dialer.ts'
import type { UndiciOptions } from './undici-carrier.ts'

export interface Carrier {
  /** Sends a request and resolves with the head of its answer; what goes wrong is told as it came. */
  carry(request: CarrierRequest): Promise<CarrierResponse>
  /** Resolves when nothing is under way any more. */
  close(): Promise<unknown>
  /** Cuts off what is under way; then nothing is left open. */
  destroy(): Promise<unknown>
}

export interface CarrierRequest extends Pick<WireRequest, 'method' | 'target' | 'body' | 'signal' | 'beforeSend'> {
  /** Each value on a line of its own. */
  readonly headers: Readonly<Record<string, string | string[]>>
}

export interface CarrierResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly pieces: AsyncIterable<Uint8Array>
  /** The body as a whole, instead of in pieces. */
  whole(): Promise<Uint8Array>
}

/*
 * A carrier that is loaded when there is something to carry, and grows with what it has to carry.
 *
 *   first request ──▶ direct (at hand, for a program with little to say) ──many requests──▶ library
 *
 * Loading the library and compiling its parser takes a tenth of a second of two processors: a command is over by then, and
 * a cache that has just begun to read needs them itself. Invariant: requests under way are finished where they began.
 */

interface LazyCarrierOptions {
  /** What carries the first requests. @default the library */
  readonly direct?: NodeHttpOptions | undefined
  readonly library: UndiciOptions
  /** How many requests the library is loaded for. @default 1000 */
  readonly requestsMany?: number
}

export class LazyCarrier implements Carrier {
  readonly #options: LazyCarrierOptions
  readonly #all = new Set<Carrier>()
  #current: Promise<Carrier> | undefined
  #carried = 0

  constructor(options: LazyCarrierOptions) {
    this.#options = options
  }

  async carry(request: CarrierRequest): Promise<CarrierResponse> {
    const { direct, requestsMany = 1000 } = this.#options
    this.#current ??= this.#open(direct ? () => loadDirect(direct) : () => this.#loadLibrary())
    if (direct && ++this.#carried === requestsMany) this.#grow(this.#current)
    return (await this.#current).carry(request)
  }

  close(): Promise<unknown> {
    return this.#endAll((carrier) => carrier.close())
  }

  destroy(): Promise<unknown> {
    return this.#endAll((carrier) => carrier.destroy())
  }

  /** Those who ask meanwhile need not wait. */
  #grow(before: Promise<Carrier>): void {
    this.#open(() => this.#loadLibrary())
      .then(async (library) => {
        this.#current = Promise.resolve(library)
        const carrier = await before
        await carrier.close()
        this.#all.delete(carrier)
      })
      .catch(() => undefined)
  }

  async #loadLibrary(): Promise<Carrier> {
    return new (await import('./undici-carrier.ts')).UndiciCarrier(this.#options.library)
  }

  async #open(load: () => Promise<Carrier>): Promise<Carrier> {
    const carrier = await load()
    this.#all.add(carrier)
    return carrier
  }

  async #endAll(end: (carrier: Carrier) => Promise<unknown>): Promise<void> {
    await this.#current?.catch(() => undefined)
    await Promise.all(Array.from(this.#all, end))
  }
}

async function loadDirect(options: NodeHttpOptions): Promise<Carrier> {
  return new NodeHttpCarrier(options)
}

/*
 * Requests straight to the server, by Node's own HTTP: it is there when the process starts, while loading a library takes
 * longer than a short program has to say.
 *
 *   waiting for a connection ──▶ connected ──beforeSend──▶ sent ──▶ answered ──▶ connection is kept
 *        └────────────────────aborted, cut off────────────────────────┘──▶ connection is destroyed
 *
 * Invariants: nothing of a request is sent before the server is known to be the right one and `beforeSend` has agreed; who
 * aborts is told the reason.
 */

/** Servers that keep connections for less say so. */
const keepMs = 30_000

export interface NodeHttpOptions {
  readonly dialer: Dialer
  readonly connectionsMax: number
}

export class NodeHttpCarrier implements Carrier {
  readonly #dialer: Dialer
  readonly #agent: Agent
  readonly #active = new Set<ClientRequest>()
  #idle: (() => void) | undefined

  constructor({ dialer, connectionsMax }: NodeHttpOptions) {
    this.#dialer = dialer
    this.#agent = agentOf(() => dialer.dial({ resume: true }), connectionsMax)
  }

  carry(carried: CarrierRequest): Promise<CarrierResponse> {
    const { method, target, headers, body, signal } = carried
    const answered = deferred<CarrierResponse>()
    const length =
      body instanceof Uint8Array
        ? { 'content-length': String(body.length) }
        : body && { 'transfer-encoding': 'chunked' }
    const request = httpRequest({
      agent: this.#agent,
      method,
      path: target,
      headers: { host: this.#dialer.host, ...headers, ...length },
    })
    this.#active.add(request)
    const stop = onAbort(signal, (reason) => {
      request.destroy(reason as Error)
    })
    request.once('socket', (socket) => {
      this.#dialer.onConnected(socket, () => {
        send(request, carried)
      })
    })
    request.once('response', (response) => {
      answered.resolve(answerOf(response))
    })
    request.on('error', answered.reject)
    request.once('close', () => {
      stop()
      this.#active.delete(request)
      if (this.#active.size === 0) this.#idle?.()
    })
    return answered.promise
  }

  async close(): Promise<void> {
    if (this.#active.size > 0)
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    await this.destroy()
  }

  async destroy(): Promise<void> {
    for (const request of this.#active) request.destroy(new Error('it was closed by its owner'))
    this.#agent.destroy()
    this.#dialer.destroy()
    await this.#dialer.closed()
  }
}

function agentOf(connect: () => Socket, connectionsMax: number): Agent {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: connectionsMax,
    maxFreeSockets: connectionsMax,
    timeout: keepMs,
  })
  // All connections are to the same server: they need no name to tell them apart.
  return Object.assign(agent, { createConnection: connect, getName: () => '' })
}

function send(request: ClientRequest, { body, beforeSend }: CarrierRequest): void {
  if (request.destroyed) return
  try {
    beforeSend?.()
  } catch (error) {
    request.destroy(error as Error)
    return
  }
  if (body === undefined || body instanceof Uint8Array) request.end(body)
  else
    Readable.from(body)
      .on('error', (error) => {
        request.destroy(error)
      })
      .pipe(request)
}

function answerOf(response: IncomingMessage): CarrierResponse {
  const { statusCode = 0, headers } = response
  return { status: statusCode, headers, pieces: response, whole: () => wholeOf(response) }
}

function wholeOf(response: IncomingMessage): Promise<Uint8Array> {
  const whole = deferred<Uint8Array>()
  const pieces: Buffer[] = []
  response.on('data', (piece: Buffer) => {
    pieces.push(piece)
  })
  response.once('end', () => {
    whole.resolve(pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces))
  })
  response.once('error', whole.reject)
  return whole.promise
}
