/**
 * A {@link Transport} to one backend that requests are forwarded to: bodies are streamed in both directions.
 *
 * The backend is not trusted. Nothing of a body is gathered: a chunk is read when the one before it was taken, so a slow
 * reader slows the backend. The caller limits the wait for the head with the signal; when the response is no longer read,
 * the connection is closed. Redirects are not followed, and blocked addresses (see `https-client.ts`) are not called.
 *
 * An upgraded connection is a tunnel: bytes of the client go to the backend and bytes of the backend are the body.
 */
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import { onAbort } from '#base'
import type { CertificateKeyPair } from './certificates.ts'
import { checkAddress, describeFailure, guardedLookup } from './https-client.ts'
import type { Transport, WireHeaders, WireRequest, WireResponse } from './transport.ts'

interface BackendOptions {
  readonly host: string
  readonly port: number
  /** The name that the certificate of the backend must have. */
  readonly serverName: string
  /** The authorities to trust, in PEM. @default those that Node trusts */
  readonly caPem?: string | undefined
  /** Accept any certificate. @default false */
  readonly isInsecure?: boolean
  /** The client certificate of the proxy. @default none */
  readonly client?: CertificateKeyPair | undefined
}

export interface BackendConnection {
  readonly transport: Transport
  /** Closes idle connections; requests in flight finish. */
  close(): void
}

/** A transport to a backend. A failed request rejects with an `Error` in the wording of Go's client. */
export function connectBackend({
  host,
  port,
  serverName,
  caPem,
  isInsecure = false,
  client,
}: BackendOptions): BackendConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: socketsMax })
  const base: RequestOptions = {
    agent,
    host,
    port,
    lookup: guardedLookup(),
    servername: serverName,
    rejectUnauthorized: !isInsecure,
    ...(caPem !== undefined && { ca: caPem, allowPartialTrustChain: true }),
    ...(client && { cert: client.certificatePem, key: client.keyPem }),
  }
  return {
    async transport(request) {
      request.signal.throwIfAborted()
      checkAddress(host)
      const first = await exchange(request, base)
      // The backend may have closed the idle connection just as it was used again.
      return first === 'stale' ? ((await exchange(request, { ...base, agent: false })) as WireResponse) : first
    },
    close() {
      agent.destroy()
    },
  }
}

/** Watches and tunnels keep a socket each. */
const socketsMax = 10_000

/** Bytes that wait for the backend in a tunnel, before the client has to wait. */
const tunnelBytesMax = 1_048_576

async function exchange(request: WireRequest, base: RequestOptions): Promise<WireResponse | 'stale'> {
  const { method, target, headers, body } = request
  const sent = httpsRequest({ ...base, method, path: target, headers: sentHeaders(headers) })
  sendBody(sent, body).catch((error: unknown) => sent.destroy(error as Error))
  try {
    return await responseTo(sent, request)
  } catch (error) {
    if (isStale(error as Error, sent, request)) return 'stale'
    throw request.signal.aborted
      ? (request.signal.reason as Error)
      : new Error(describeFailure(error as Error, base), { cause: error })
  }
}

/** The response to a request of Node, with a streamed body. An upgraded connection is a tunnel. */
export function responseTo(
  sent: ClientRequest,
  { method, signal }: Pick<WireRequest, 'method' | 'signal'>,
): Promise<WireResponse> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, (reason) => {
      sent.destroy(reason as Error)
    })
    sent.on('error', (error) => {
      stop()
      reject(error)
    })
    sent.on('response', (response) => {
      stop()
      const { statusCode: status = 0 } = response
      const hasBody = method !== 'HEAD' && status !== 204 && status !== 304
      if (!hasBody) response.resume()
      resolve({ status, headers: headersOf(response), ...(hasBody && { body: new StreamedBody(response) }) })
    })
    sent.on('upgrade', (response, socket, early) => {
      stop()
      resolve(tunnelOf(response, socket, early))
    })
  })
}

/** Whether a request may be sent again: it changes nothing, and the reused connection was closed before an answer. */
function isStale(error: Error, sent: ClientRequest, { method, body }: WireRequest): boolean {
  const isSafe = body === undefined && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS')
  return isSafe && sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
}

async function sendBody(sent: ClientRequest, body: WireRequest['body']): Promise<void> {
  if (body === undefined || body instanceof Uint8Array) {
    sent.end(body)
    return
  }
  for await (const chunk of body) if (!sent.write(chunk)) await drained(sent)
  sent.end()
}

function drained(sent: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      sent.off('drain', done)
      sent.off('close', done)
      resolve()
    }
    sent.on('drain', done)
    sent.on('close', done)
  })
}

/** A body that is read chunk by chunk. A reader that stops closes the connection, also before the first chunk. */
class StreamedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: Readable
  readonly #chunks: AsyncIterator<Uint8Array>

  constructor(source: Readable) {
    this.#source = source
    this.#chunks = (source as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    return this.#chunks.next()
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#source.destroy()
    return Promise.resolve({ done: true, value: undefined })
  }
}

function tunnelOf(response: IncomingMessage, socket: Duplex, early: Buffer): WireResponse {
  if (early.length > 0) socket.unshift(early)
  socket.on('error', () => {
    socket.destroy()
  })
  return {
    status: response.statusCode ?? 0,
    headers: headersOf(response),
    body: new StreamedBody(socket),
    upgrade: {
      protocol: response.headers.upgrade ?? '',
      encode: (piece) => piece,
      receive(bytes) {
        const isOver = socket.destroyed || socket.writableEnded
        if (isOver || socket.write(bytes) || socket.writableLength < tunnelBytesMax) return { isOver }
        return { ready: new Promise((resolve) => socket.once('drain', resolve).once('close', resolve)) }
      },
      closing: new Uint8Array(),
    },
  }
}

/** Identity headers have a value per line; each becomes a header of its own. */
function sentHeaders(headers: WireHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.includes('\n') ? value.split('\n') : value]),
  )
}

function headersOf({ headers }: IncomingMessage): WireHeaders {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, decoded(String(value))]])),
  )
}

/** Node reads a byte as a character; values are UTF-8. */
function decoded(value: string): string {
  return /^[\x20-\x7e]*$/.test(value) ? value : Buffer.from(value, 'latin1').toString()
}
