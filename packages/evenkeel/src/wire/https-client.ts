/**
 * A {@link Transport} to one HTTPS origin, for webhooks.
 *
 * The server is not trusted: redirects are not followed, a name is resolved to one address, some addresses are never
 * called, protocol upgrades are refused, and a response that is too large is an error. Responses are buffered. Connections
 * are kept alive for the next call, without keeping the process alive. There is no timeout: the signal of the caller ends
 * a call at any point.
 *
 * Blocked addresses are link-local ones, among them the metadata services of clouds, which give credentials to any local
 * process, and unspecified, multicast and reserved ones. A name is resolved once, its address is checked, and exactly that
 * address is connected to: DNS rebinding gains nothing.
 */
import { lookup as systemLookup } from 'node:dns'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'
import { ByteBuffer, identityCheck, onAbort } from '#base'
import type { Transport, WireHeaders, WireRequest, WireResponse } from './transport.ts'

export interface HttpsOptions {
  /** `https://host:port`: the server, whose certificate must have this host name. */
  readonly origin: string
  /**
   * The address to connect to instead of the origin.
   *
   * @default the host and port of the origin
   */
  readonly address?: { readonly host: string; readonly port: number }
  /**
   * The authorities to trust, in PEM.
   *
   * @default those that Node trusts
   */
  readonly caPem?: string
  /**
   * The maximum size of a response.
   *
   * @default 67_108_864
   */
  readonly bytesMax?: number
  /**
   * The name resolution.
   *
   * @default that of the system
   */
  readonly resolveName?: ResolveName
}

/** A transport with its connections. */
export interface HttpsConnection {
  readonly transport: Transport
  /** Closes all connections once the calls in progress have finished. */
  close(): void
}

/**
 * A transport to one origin. A failed call rejects with an `Error` whose message has the wording of Go's client.
 *
 * @throws {RangeError} when the origin is not an https URL.
 */
export function connectHttps({
  origin,
  address,
  caPem,
  bytesMax = 64 * 1024 * 1024,
  resolveName,
}: HttpsOptions): HttpsConnection {
  const { protocol, hostname, port, host } = new URL(origin)
  if (protocol !== 'https:') throw new RangeError(`the origin must be an https URL, got ${origin}`)
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
        // A name is checked when it is resolved; an IP address is never resolved.
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

/** Trusts every given certificate, also one that is not an authority but the certificate of the server itself: Go's clients, and so envtest, rely on it. */
const everyAnchor = { allowPartialTrustChain: true }

/** Disables connection attempts to several addresses. Sockets know the option, the types of `https` do not. */
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
  // The server may have closed the idle connection just as it was reused, so the call is retried on a new one.
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
    sent.on('response', (response) => {
      readBody(response, bytesMax).then(
        (whole) => {
          stop()
          resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: whole })
        },
        (error: unknown) => {
          sent.destroy()
          fail(error as Error)
        },
      )
    })
    // An unrequested upgrade. Without this handler Node would end the call silently.
    sent.on('upgrade', (response, socket) => {
      socket.destroy()
      stop()
      resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body: new Uint8Array() })
    })
    sent.end(body)
  })
}

async function readBody(response: IncomingMessage, bytesMax: number): Promise<Uint8Array> {
  const whole = new ByteBuffer()
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    if (whole.size + chunk.byteLength > bytesMax) throw new Error(`the response is larger than ${bytesMax} bytes`)
    whole.append(chunk)
  }
  return whole.bytes
}

async function wholeBody(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function headersOf({ headers }: IncomingMessage): WireHeaders {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
}

/** Resolves a name to one address. */
type ResolveName = (name: string) => Promise<string>

/** Link-local, this network, multicast, reserved, and metadata services outside the link-local range. */
const blockedIpv4: readonly (readonly [address: string, bits: number])[] = [
  ['169.254.0.0', 16],
  ['0.0.0.0', 8],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
]
const blockedAddresses = blockList()

function blockList(): BlockList {
  const list = new BlockList()
  for (const [address, bits] of blockedIpv4) {
    list.addSubnet(address, bits, 'ipv4')
    const hex = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'))
    const tail = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`
    // Gateways translate these to IPv4: NAT64 (RFC 6052), 6to4, and IPv4-compatible addresses.
    list.addSubnet(`64:ff9b::${tail}`, 96 + bits, 'ipv6')
    list.addSubnet(`2002:${tail}::`, 16 + bits, 'ipv6')
    // `::1` is the loopback address, not 0.0.0.1.
    if (address !== '0.0.0.0') list.addSubnet(`::${tail}`, 96 + bits, 'ipv6')
  }
  list.addSubnet('fe80::', 10, 'ipv6')
  list.addSubnet('ff00::', 8, 'ipv6')
  for (const address of ['::', 'fd00:ec2::254', 'fd20:ce::254']) list.addAddress(address, 'ipv6')
  return list
}

/** @throws {Error} for a blocked address. */
export function checkAddress(address: string): void {
  if (isBlocked(address)) throw new Error(`dial tcp ${address}: link-local and metadata addresses are not called`)
}

function isBlocked(address: string): boolean {
  const plain = address.replace(/%.*$/, '')
  if (isIP(plain) === 0) return false
  return blockedAddresses.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}

/** A lookup function for sockets that refuses blocked addresses. */
export function guardedLookup(resolveName: ResolveName = firstAddress): LookupFunction {
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

/** Prefers IPv4: `localhost` has two addresses, and servers mostly listen on the IPv4 one. */
function firstAddress(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    systemLookup(name, { all: false, order: 'ipv4first' }, (error, address) => {
      if (error) reject(error)
      else resolve(address)
    })
  })
}

/** The message for a network, DNS or TLS error, in the wording of Go's client, which people who run webhooks search for. */
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
