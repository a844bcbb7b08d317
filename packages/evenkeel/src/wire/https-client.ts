/**
 * Calls out: a {@link Transport} to one HTTPS origin, for webhooks and their like.
 *
 * What answers is not ours, so little is left to it: no redirect is followed, a name is resolved to one address, some
 * addresses are never called, no other protocol is spoken, and an answer that is too large is cut off. Answers come in whole. Connections are kept for the next call, without keeping
 * the process alive.
 *
 * There is no deadline in here: the caller's signal ends a call at any point.
 */
import { lookup as systemLookup } from 'node:dns'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'
import { identityCheck, onAbort } from '#base'
import type { Transport, WireHeaders, WireRequest, WireResponse } from './transport.ts'

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

/*
 * Addresses that are never called out to: link-local ones, among them the metadata services of clouds, which hand out
 * credentials to whoever reaches them from inside; and those that name nobody or everybody.
 *
 * A name is looked up once, what it stands for is judged, and that very address is connected to: a name that stands for
 * something else a moment later gains nothing.
 */

/** Finds the address of a name. */
type ResolveName = (name: string) => Promise<string>

const blockedAddresses = new BlockList()
blockedAddresses.addSubnet('169.254.0.0', 16, 'ipv4')
blockedAddresses.addSubnet('0.0.0.0', 8, 'ipv4')
blockedAddresses.addSubnet('224.0.0.0', 4, 'ipv4')
blockedAddresses.addSubnet('240.0.0.0', 4, 'ipv4')
// Clouds that have their metadata elsewhere.
for (const address of ['100.100.100.200', '168.63.129.16', '192.0.0.192']) blockedAddresses.addAddress(address, 'ipv4')
blockedAddresses.addSubnet('fe80::', 10, 'ipv6')
blockedAddresses.addSubnet('ff00::', 8, 'ipv6')
for (const address of ['::', 'fd00:ec2::254', 'fd20:ce::254']) blockedAddresses.addAddress(address, 'ipv6')

/**
 * Lets an address be called.
 *
 * @throws {Error} when it may not be.
 */
function checkAddress(address: string): void {
  if (isBlocked(address)) throw new Error(`dial tcp ${address}: link-local and metadata addresses are not called`)
}

function isBlocked(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) === 0) return false
  return blockedAddresses.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}

/** A look-up for sockets that gives one address which may be called. */
function guardedLookup(resolveName: ResolveName = firstAddress): LookupFunction {
  return (name, { all = false }, done) => {
    resolveName(name)
      .then((address) => {
        checkAddress(address)
        const family = isIPv6(address) ? 6 : 4
        if (all) done(null, [{ address, family }])
        else done(null, address, family)
      })
      .catch((error: unknown) => {
        done(error as NodeJS.ErrnoException, '', 4)
      })
  }
}

/** Names of this machine have two addresses, and servers mostly listen on the old one: it comes first. */
function firstAddress(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    systemLookup(name, { all: false, order: 'ipv4first' }, (error, address) => {
      if (error) reject(error)
      else resolve(address)
    })
  })
}

/*
 * Why a call did not get through, in the words that people who run webhooks search for.
 */

/** A text for an error of the network, a name service or TLS. */
export function describeFailure(
  error: Error,
  { host, port }: { readonly host?: string | null | undefined; readonly port?: number | string | null | undefined },
): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  const dialed = `dial tcp ${String(host)}:${String(port)}`
  if (code === 'ECONNREFUSED') return `${dialed}: connect: connection refused`
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${String(host)}: no such host`
  if (code === 'ECONNRESET') return message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer'
  if (code === 'CERT_HAS_EXPIRED')
    return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `tls: failed to verify certificate: x509: certificate is not valid for ${String(host)}`
  if (unknownAuthority.has(code))
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  return message
}

const unknownAuthority: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
])
