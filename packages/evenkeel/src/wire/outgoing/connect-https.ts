/**
 * Calls out: a {@link Transport} to one HTTPS origin, for webhooks and their like.
 *
 * What answers is not ours, so little is left to it: no redirect is followed, a name is resolved to one address, some
 * addresses are never called, no other protocol is spoken, and an answer that is too large is cut off. Answers come in whole. Connections are kept for the next call, without keeping
 * the process alive.
 *
 * There is no deadline in here: the caller's signal ends a call at any point.
 */
import { Agent, request as httpsRequest } from 'node:https'
import type { RequestOptions } from 'node:https'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { identityCheck, onAbort } from '#base'
import type { Transport, WireHeaders, WireRequest, WireResponse } from '../transport.ts'
import { describeFailure } from './describe-failure.ts'
import { checkAddress, guardedLookup } from './guard-address.ts'
import type { ResolveName } from './guard-address.ts'

export interface HttpsOptions {
  /** `https://host:port`: who is called, and whose name the certificate must have. */
  readonly origin: string
  /**
   * Where it is really found.
   *
   * @default what the origin says
   */
  readonly address?: { readonly host: string; readonly port: number }
  /**
   * The authorities to trust, in PEM.
   *
   * @default those that Node trusts
   */
  readonly caPem?: string
  /**
   * How large an answer may be.
   *
   * @default 67_108_864
   */
  readonly bytesMax?: number
  /**
   * How names are resolved.
   *
   * @default as the system does
   */
  readonly resolveName?: ResolveName
}

/** A transport, and how to end it. */
export interface HttpsConnection {
  readonly transport: Transport
  /** Calls under way finish; then nothing is left open. */
  close(): void
}

/**
 * Calls to one origin. A call that fails rejects with an `Error` that says why, in words that client tools know.
 *
 * @throws {RangeError} when the origin is no https address.
 */
export function connectHttps({
  origin,
  address,
  caPem,
  bytesMax = 64 * 1024 * 1024,
  resolveName,
}: HttpsOptions): HttpsConnection {
  const { protocol, hostname, port, host } = new URL(origin)
  if (protocol !== 'https:') throw new RangeError(`only https is called out to, got ${origin}`)
  const name = hostname.replace(/^\[(.*)\]$/, '$1')
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const base: RequestOptions = {
    agent,
    host: address?.host ?? name,
    port: address?.port ?? Number(port || 443),
    lookup: guardedLookup(resolveName),
    ...identityCheck(name),
    ...oneTry,
    ...(isIP(name) === 0 && { servername: name }),
    ...(caPem !== undefined && { ca: caPem, ...everyAnchor }),
  }
  let active = 0
  let isClosed = false
  return {
    async transport(request) {
      active++
      try {
        // Names are judged when they are looked up; what is an address already never is.
        checkAddress(String(base.host))
        return await exchange(request, { base, host, bytesMax })
      } finally {
        active--
        if (isClosed && active === 0) agent.destroy()
      }
    },
    close() {
      isClosed = true
      if (active === 0) agent.destroy()
    },
  }
}

/** What is given to trust is trusted, also when it is no authority but the very certificate that is met: Go's clients, and so envtest, rely on it. */
const everyAnchor = { allowPartialTrustChain: true }

/** Understood by sockets and handed on to them, but unknown to the types: no racing of several addresses. */
const oneTry: object = { autoSelectFamily: false }

interface HttpsExchange {
  readonly base: RequestOptions
  readonly host: string
  readonly bytesMax: number
}

async function exchange(request: WireRequest, options: HttpsExchange): Promise<WireResponse> {
  request.signal.throwIfAborted()
  const body = request.body === undefined ? undefined : await wholeBody(request.body)
  const first = await attempt(request, body, options)
  // The other side may have closed a kept connection at the very moment it was used: that says nothing about the call.
  return first === 'stale'
    ? (attempt(request, body, { ...options, base: { ...options.base, agent: false } }) as Promise<WireResponse>)
    : first
}

function attempt(
  { method, target, headers, signal }: WireRequest,
  body: Uint8Array | undefined,
  { base, host, bytesMax }: HttpsExchange,
): Promise<WireResponse | 'stale'> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(body.byteLength) }
    const sent: ClientRequest = httpsRequest({
      ...base,
      method,
      path: target,
      headers: { ...headers, host, ...length },
    })
    const stop = onAbort(signal, (reason) => {
      sent.destroy(reason as Error)
    })
    const fail = (error: Error): void => {
      stop()
      if (sent.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET') resolve('stale')
      else reject(signal.aborted ? (signal.reason as Error) : new Error(describeFailure(error, base), { cause: error }))
    }
    sent.on('error', fail)
    sent.on('response', (answer) => {
      read(answer, bytesMax).then(
        (whole) => {
          stop()
          resolve({ status: answer.statusCode ?? 0, headers: headersOf(answer), body: whole })
        },
        (error: unknown) => {
          sent.destroy()
          fail(error as Error)
        },
      )
    })
    // Nobody asked for another protocol. Without this Node would end the call, and say nothing.
    sent.on('upgrade', (answer, socket) => {
      socket.destroy()
      stop()
      resolve({ status: answer.statusCode ?? 0, headers: headersOf(answer), body: new Uint8Array() })
    })
    sent.end(body)
  })
}

async function read(answer: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of answer as AsyncIterable<Uint8Array>) {
    size += piece.byteLength
    if (size > bytesMax) throw new Error(`the answer is larger than ${bytesMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function wholeBody(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

function headersOf({ headers }: IncomingMessage): WireHeaders {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}
