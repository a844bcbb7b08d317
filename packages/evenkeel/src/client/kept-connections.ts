/**
 * Sends requests to one server over connections that are kept: one request at a time on each, the last used one first.
 *
 *   waiting ──a connection is free, or may be opened──▶ beforeSend ──▶ sent ──head──▶ body ──▶ connection is idle again
 *      └───────────────────── aborted, closed, failed: the connection is destroyed ────────────────────┘
 *
 * Made for the API of Kubernetes: short JSON bodies, no redirects, no compression, no pipelining. A library for all of HTTP
 * takes 150 ms of processor time to load and compile its parser, more than most programs need for all their requests.
 *
 * An idle connection does not keep the process alive. It is closed after 30 seconds, or 2 seconds before the server says
 * that it will close it (`Keep-Alive: timeout=5`), so that a request rarely meets a connection that is being closed.
 *
 * Invariants: nothing of a request is sent before the certificate of the server was checked and `beforeSend` has returned;
 * when `beforeSend` throws, the connection stays usable; a connection is used again only when the response has ended, the
 * request was sent completely and no byte is left over.
 */
import type { Socket } from 'node:net'
import { deferred, onAbort } from '#base'
import { BodyPieces } from './body-pieces.ts'
import type { Carrier, CarrierRequest, CarrierResponse } from './carrier.ts'
import type { Dialer } from './dialer.ts'
import { formatRequestHead } from './request-head.ts'
import { ResponseParser } from './response-parser.ts'

interface KeptConnectionsOptions {
  readonly dialer: Dialer
  /** @default any number */
  readonly connectionsMax?: number
}

const idleMs = 30_000
/** How long before the server closes an idle connection we stop using it. */
const idleMarginMs = 2_000
/** Longer bodies are a write of their own: copying them costs more than a second write. */
const joinedBytesMax = 65_536

export class KeptConnections implements Carrier {
  readonly #dialer: Dialer
  readonly #connectionsMax: number
  readonly #open = new Set<KeptConnection>()
  readonly #idle: KeptConnection[] = []
  readonly #waiting = new Set<Exchange>()
  #isClosing = false

  constructor({ dialer, connectionsMax = Infinity }: KeptConnectionsOptions) {
    this.#dialer = dialer
    this.#connectionsMax = connectionsMax
  }

  carry(request: CarrierRequest): Promise<CarrierResponse> {
    if (request.signal.aborted) return Promise.reject(request.signal.reason as Error)
    const exchange = new Exchange(request, {
      host: this.#dialer.host,
      onAborted: () => {
        this.#waiting.delete(exchange)
      },
    })
    this.#waiting.add(exchange)
    this.#assign()
    return exchange.response
  }

  async close(): Promise<void> {
    this.#isClosing = true
    for (const connection of this.#idle.splice(0)) connection.destroy()
    await this.#dialer.closed()
  }

  async destroy(): Promise<void> {
    this.#isClosing = true
    for (const exchange of this.#waiting) exchange.fail(new Error('the connection was closed by its owner'))
    this.#waiting.clear()
    this.#dialer.destroy()
    await this.#dialer.closed()
  }

  /** Gives waiting requests a connection, as long as there is one. */
  #assign(): void {
    for (const exchange of this.#waiting) {
      const connection = this.#takeIdle() ?? (this.#open.size < this.#connectionsMax ? this.#connect() : undefined)
      if (!connection) return
      this.#waiting.delete(exchange)
      connection.carry(exchange)
    }
  }

  #takeIdle(): KeptConnection | undefined {
    let connection = this.#idle.pop()
    while (connection?.isDestroyed) connection = this.#idle.pop()
    return connection
  }

  #connect(): KeptConnection {
    const connection = new KeptConnection(this.#dialer, {
      onIdle: () => {
        if (this.#isClosing && this.#waiting.size === 0) connection.destroy()
        else this.#idle.push(connection)
        this.#assign()
      },
      onClosed: () => {
        this.#open.delete(connection)
        const at = this.#idle.indexOf(connection)
        if (at >= 0) this.#idle.splice(at, 1)
        this.#assign()
      },
    })
    this.#open.add(connection)
    return connection
  }
}

interface ConnectionEvents {
  /** The connection is free for another request. */
  readonly onIdle: () => void
  readonly onClosed: () => void
}

class KeptConnection {
  readonly #dialer: Dialer
  readonly #socket: Socket
  readonly #events: ConnectionEvents
  #exchange: Exchange | undefined
  #idleMs = idleMs

  constructor(dialer: Dialer, events: ConnectionEvents) {
    this.#dialer = dialer
    this.#events = events
    const socket = (this.#socket = dialer.dial())
    socket.on('data', (bytes: Buffer) => {
      this.#read(bytes)
    })
    socket.on('error', (error) => this.#exchange?.fail(error))
    socket.on('end', () => {
      if (this.#exchange) this.#exchange.end()
      else this.destroy()
    })
    socket.on('timeout', () => {
      this.destroy()
    })
    socket.on('close', () => {
      this.#exchange?.fail(new Error('the server closed the connection'))
      this.#exchange = undefined
      events.onClosed()
    })
  }

  /** Its `close` event follows in a later turn. */
  get isDestroyed(): boolean {
    return this.#socket.destroyed
  }

  /** Sends a request as soon as the socket is connected. */
  carry(exchange: Exchange): void {
    this.#exchange = exchange
    this.#socket.setTimeout(0)
    this.#socket.ref()
    exchange.attach({
      socket: this.#socket,
      onFailed: () => {
        this.destroy()
      },
      onDone: () => {
        this.#onDone()
      },
    })
    this.#dialer.onConnected(this.#socket, () => {
      if (this.#exchange === exchange && !this.#socket.destroyed && !exchange.send()) this.#release()
    })
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #read(bytes: Buffer): void {
    const exchange = this.#exchange
    // Bytes that were not requested: whatever they are, the connection is out of step.
    if (!exchange || exchange.feed(bytes) < bytes.length) this.destroy()
  }

  #onDone(): void {
    if (!this.#exchange?.canReuse || this.#socket.destroyed) {
      this.#exchange = undefined
      this.destroy()
      return
    }
    this.#idleMs = Math.min(idleMs, (this.#exchange.keepAliveMs ?? Infinity) - idleMarginMs)
    this.#release()
  }

  #release(): void {
    this.#exchange = undefined
    if (this.#idleMs <= 0) {
      this.destroy()
      return
    }
    this.#socket.setTimeout(this.#idleMs)
    this.#socket.unref()
    this.#events.onIdle()
  }
}

interface AttachedConnection {
  readonly socket: Socket
  /** The connection cannot be used any more. */
  readonly onFailed: () => void
  /** The response has ended. */
  readonly onDone: () => void
}

/** One request and its response. */
class Exchange {
  readonly #request: CarrierRequest
  readonly #head: string
  readonly #answered = deferred<CarrierResponse>()
  readonly #body: BodyPieces
  readonly #parser: ResponseParser
  readonly #unlisten: () => void
  #connection: AttachedConnection | undefined
  #isSent = false
  #isPersistent = false
  keepAliveMs: number | undefined

  constructor(request: CarrierRequest, { host, onAborted }: { host: string; onAborted: () => void }) {
    const { method, signal } = request
    this.#request = request
    this.#head = formatRequestHead(request, { host, body: bodyOf(request) })
    this.#body = new BodyPieces({
      onFull: () => this.#connection?.socket.pause(),
      onRoom: () => this.#connection?.socket.resume(),
      onLeft: () => this.#connection?.onFailed(),
    })
    this.#parser = new ResponseParser(
      {
        onHead: ({ status, headers, isPersistent }) => {
          this.#isPersistent = isPersistent
          this.keepAliveMs = keepAliveMsIn(headers['keep-alive'])
          const body = this.#body
          this.#answered.resolve({ status, headers, pieces: body, whole: () => body.whole() })
        },
        onData: (bytes) => {
          this.#body.push(bytes)
        },
      },
      { hasBody: method !== 'HEAD' },
    )
    this.#unlisten = onAbort(signal, (reason) => {
      onAborted()
      this.fail(reason)
    })
  }

  get response(): Promise<CarrierResponse> {
    return this.#answered.promise
  }

  get canReuse(): boolean {
    return this.#isSent && this.#isPersistent
  }

  attach(connection: AttachedConnection): void {
    this.#connection = connection
  }

  /** Sends the request. False when `beforeSend` takes it back: then nothing was sent. */
  send(): boolean {
    try {
      this.#request.beforeSend?.()
    } catch (error) {
      this.#connection = undefined
      this.fail(error)
      return false
    }
    this.#write().then(
      () => {
        this.#isSent = true
      },
      (error: unknown) => {
        this.fail(error)
      },
    )
    return true
  }

  /** Reads a part of the response, and returns how many bytes belong to it. */
  feed(bytes: Buffer): number {
    try {
      const count = this.#parser.feed(bytes)
      this.#isPersistent &&= count === bytes.length
      if (this.#parser.isDone) this.#finish()
      return count
    } catch (error) {
      this.fail(error)
      return bytes.length
    }
  }

  /** The connection has ended. */
  end(): void {
    if (this.#parser.isDone) return
    try {
      this.#parser.end()
      this.#finish()
    } catch (error) {
      this.fail(error)
    }
  }

  fail(error: unknown): void {
    this.#unlisten()
    this.#answered.reject(error)
    this.#body.fail(error)
    this.#connection?.onFailed()
  }

  /** Leaves the connection: a reader that is still behind must not pause or close it under the next request. */
  #finish(): void {
    const connection = this.#connection
    this.#connection = undefined
    this.#unlisten()
    this.#body.end()
    connection?.socket.resume()
    connection?.onDone()
  }

  async #write(): Promise<void> {
    const { body } = this.#request
    const socket = this.#connection?.socket
    if (!socket) return
    if (body === undefined || body instanceof Uint8Array) {
      writeTogether(socket, this.#head, body)
      this.#isSent = true
      return
    }
    socket.write(this.#head, 'latin1')
    for await (const piece of body) {
      if (socket.destroyed) return
      if (piece.length === 0) continue
      socket.write(`${piece.length.toString(16)}\r\n`, 'latin1')
      socket.write(piece)
      if (!socket.write('\r\n', 'latin1')) await drained(socket)
    }
    socket.write('0\r\n\r\n', 'latin1')
  }
}

/** How the body is delimited. A method that changes something says 0 when it has none; GET says nothing. */
function bodyOf({ method, body }: CarrierRequest): number | 'chunked' | undefined {
  if (body instanceof Uint8Array) return body.length
  if (body !== undefined) return 'chunked'
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? 0 : undefined
}

/** Head and body in one write, so that they are one TLS record and one packet. */
function writeTogether(socket: Socket, head: string, body: Uint8Array | undefined): void {
  if (!body || body.length === 0) socket.write(head, 'latin1')
  else if (body.length > joinedBytesMax) {
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(body)
    socket.uncork()
  } else {
    const joined = Buffer.allocUnsafe(head.length + body.length)
    joined.write(head, 0, 'latin1')
    joined.set(body, head.length)
    socket.write(joined)
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}

/** `timeout=5, max=100`: how long the server keeps an idle connection. */
function keepAliveMsIn(value: string | undefined): number | undefined {
  const seconds = /(?:^|[,\s])timeout=(\d{1,6})(?:[,\s]|$)/i.exec(value ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
