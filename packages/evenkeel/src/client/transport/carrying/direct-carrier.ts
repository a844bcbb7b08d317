/**
 * Requests straight to the server, by Node's own HTTP: it is there when the process starts, while loading a library takes
 * longer than a short program has to say.
 *
 *   waiting for a connection ──▶ connected ──beforeSend──▶ sent ──▶ answered ──▶ connection is kept
 *        └────────────────────aborted, cut off────────────────────────┘──▶ connection is destroyed
 *
 * Invariants: nothing of a request is sent before the server is known to be the right one and `beforeSend` has agreed; who
 * aborts is told the reason.
 */
import { Agent, request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { deferred, onAbort } from '#base'
import type { CarrierResponse, CarrierRequest, Carrier } from './carrier.ts'
import type { Dialer } from './dialer.ts'

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
