/**
 * A transport over HTTP: one server, kept connections, TLS, a proxy if there is one.
 *
 * Streams (watches, followed logs) have their own connections, so that many of them never block a request. Redirects are
 * not followed. The only deadline here is that of connecting: the request's signal ends everything else.
 *
 * The proxy of the environment follows the rules of Go, as for every other client of the cluster: `HTTPS_PROXY`,
 * `HTTP_PROXY` and `NO_PROXY`, in capitals or not; a name in `NO_PROXY` stands for itself and its subdomains, with a dot
 * in front only for the subdomains; addresses may be ranges; loopback is never proxied.
 *
 * Invariant: when certificates change, new requests use the new ones; active requests finish on the old.
 */
import { BlockList, isIP } from 'node:net'
import { abortable, SystemClock } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'
import type { Carrier, CarrierRequest } from './carrier.ts'
import { ConnectionError, toConnectionError } from './connection-error.ts'
import { Dialer, type TlsMaterial } from './dialer.ts'
import { KeptConnections } from './kept-connections.ts'
import { ProxyConnections } from './proxy-connections.ts'
import { StreamConnections } from './stream-connection.ts'
import { UpgradedConnections } from './upgraded-connections.ts'

export type { TlsMaterial }

export interface HttpOptions {
  /** `https://10.0.0.1:6443`, with an optional path. */
  readonly server: string
  /** May change over time: it is called for every request. */
  readonly tls?: TlsMaterial | (() => Promise<TlsMaterial>)
  /** `http://proxy:3128`, or https. @default none */
  readonly proxyUrl?: string
  /** Added to every request, each value on a line of its own. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** @default 10_000 */
  readonly connectTimeoutMs?: number
  /**
   * The most connections at a time, not counting streams.
   *
   * @default 64
   */
  readonly connectionsMax?: number
}

/** A transport, and how to close it. */
export interface HttpConnection {
  readonly transport: Transport
  /** Cuts off active requests; afterwards nothing is open. */
  close(): Promise<void>
}

/** Longer responses come in pieces. */
const shortBytes = 16 * 1024 * 1024

/** The connections for one set of certificates. */
interface ConnectionSet {
  readonly tls: TlsMaterial
  readonly requests: Carrier
  readonly streams: Carrier
  /** For plain streams without a proxy in between; absent with a proxy. */
  readonly direct: StreamConnections | undefined
  /** For WebSockets; absent with a proxy. */
  readonly upgraded: UpgradedConnections | undefined
}

/** @throws {RangeError} when the address of the server or of the proxy is invalid. */
export function httpTransport({
  server,
  tls = {},
  proxyUrl,
  headers = {},
  connectTimeoutMs = 10_000,
  connectionsMax = 64,
}: HttpOptions): HttpConnection {
  const { origin, prefix } = readAddress(server)
  if (proxyUrl !== undefined) checkProxy(proxyUrl)
  const own = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )
  const all = new Set<ConnectionSet>()
  let current: ConnectionSet | undefined
  let isClosed = false
  const linesFor = async (): Promise<ConnectionSet> => {
    const material = typeof tls === 'function' ? await tls() : tls
    if (isClosed)
      throw new ConnectionError(`the connection to ${origin} was closed by its owner`, {
        problem: 'connect',
        address: origin,
      })
    if (current?.tls === material) return current
    if (current) retire(current, all)
    current = openConnections({ origin, proxyUrl, tls: material, connectTimeoutMs, connectionsMax })
    all.add(current)
    return current
  }
  return {
    async transport(request) {
      const lines = await linesFor()
      const { target, signal } = request
      signal.throwIfAborted()
      const sent = { ...request, target: `${prefix}${target}`, headers: { ...request.headers, ...own } }
      if (request.headers['upgrade'] !== undefined) return await upgrade(lines.upgraded, sent, origin)
      if (!isStream(target)) return await exchange(lines.requests, sent, origin)
      if (lines.direct && isBare(request))
        return await lines.direct.request({ ...sent, isLent: request.borrowsChunks === true })
      return await exchange(lines.streams, sent, origin)
    },
    async close() {
      isClosed = true
      for (const { direct, upgraded } of all) {
        direct?.destroy()
        upgraded?.destroy()
      }
      await Promise.all([...all].flatMap(({ requests, streams }) => [requests.destroy(), streams.destroy()]))
    },
  }
}

async function upgrade(
  connections: UpgradedConnections | undefined,
  request: CarrierRequest,
  origin: string,
): Promise<WireResponse> {
  if (!connections)
    throw new ConnectionError(`a WebSocket to ${origin} cannot go through a proxy: put its host into NO_PROXY`, {
      problem: 'proxy',
      address: origin,
    })
  try {
    return await connections.request(request)
  } catch (error) {
    throw explain(error, origin, request.signal)
  }
}

async function exchange(carrier: Carrier, request: CarrierRequest, origin: string): Promise<WireResponse> {
  const { signal, beforeSend } = request
  let refusal: { readonly error: unknown } | undefined
  const ask = (): void => {
    try {
      beforeSend?.()
    } catch (error) {
      refusal = { error }
      throw error
    }
  }
  try {
    // A request that waits for a connection fails at once when it is aborted.
    const answer = await abortable(carrier.carry(beforeSend ? { ...request, beforeSend: ask } : request), { signal })
    const { headers } = answer
    const isShort = !isStream(request.target) && Number(headers['content-length'] ?? NaN) < shortBytes
    return {
      status: answer.status,
      headers,
      body: isShort ? await answer.whole() : pieces(answer.pieces, { origin, signal }),
    }
  } catch (error) {
    throw refusal ? refusal.error : explain(error, origin, signal)
  }
}

async function* pieces(
  body: AsyncIterable<Uint8Array>,
  { origin, signal }: { origin: string; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw explain(error, origin, signal)
  }
}

function explain(error: unknown, origin: string, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : toConnectionError(error, origin)
}

function openConnections({ proxyUrl, connectionsMax, ...options }: ConnectionSetOptions): ConnectionSet {
  const { origin, tls } = options
  if (proxyUrl !== undefined) {
    const proxied = { ...options, proxyUrl }
    const requests = new ProxyConnections({ ...proxied, connectionsMax })
    return { tls, requests, streams: new ProxyConnections(proxied), direct: undefined, upgraded: undefined }
  }
  const dialer = (): Dialer => new Dialer({ ...options, clock: new SystemClock() })
  return {
    tls,
    requests: new KeptConnections({ dialer: dialer(), connectionsMax }),
    streams: new KeptConnections({ dialer: dialer() }),
    upgraded: new UpgradedConnections(dialer()),
    direct: new StreamConnections({ dialer: dialer(), explain: (error) => toConnectionError(error, origin) }),
  }
}

interface ConnectionSetOptions extends Required<Pick<HttpOptions, 'connectTimeoutMs' | 'connectionsMax'>> {
  readonly origin: string
  readonly proxyUrl: string | undefined
  readonly tls: TlsMaterial
}

/** Closes when they are no longer used; a watch may take minutes. */
function retire(lines: ConnectionSet, all: Set<ConnectionSet>): void {
  void Promise.allSettled([
    lines.requests.close(),
    lines.streams.close(),
    lines.direct?.close(),
    lines.upgraded?.close(),
  ]).then(() => all.delete(lines))
}

/** Whether a request consists of its head only. */
function isBare({ method, body, beforeSend }: WireRequest): boolean {
  return method === 'GET' && body === undefined && beforeSend === undefined
}

function isStream(target: string): boolean {
  return /[?&](?:watch|follow)=(?:true|1)(?:&|$)/.test(target)
}

function readAddress(server: string): { origin: string; prefix: string } {
  let url: URL
  try {
    url = new URL(server)
  } catch {
    throw new RangeError(`server must be an address such as https://127.0.0.1:6443, got ${JSON.stringify(server)}`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new RangeError(`server must be an https or http address, got ${JSON.stringify(server)}`)
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') }
}

function checkProxy(proxyUrl: string): void {
  const protocol = /^([a-z0-9+.-]+):\/\//i.exec(proxyUrl)?.[1]?.toLowerCase()
  if (protocol === 'http' || protocol === 'https') return
  const advice = protocol?.startsWith('socks')
    ? 'SOCKS proxies are not supported: use an http one, or a tunnel (ssh -L)'
    : 'it must begin with http:// or https://'
  throw new RangeError(`proxy ${JSON.stringify(proxyUrl)} cannot be used: ${advice}`)
}

type Environment = Readonly<Record<string, string | undefined>>

/** The proxy for a server; undefined when it is connected to directly. */
export function proxyFromEnvironment(server: string, env: Environment): string | undefined {
  const { protocol, hostname, port } = new URL(server)
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy) return undefined
  const host = hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
  const isDirect =
    isLoopback(host) ||
    isExcluded(host, port || (protocol === 'https:' ? '443' : '80'), env['NO_PROXY'] || env['no_proxy'] || '')
  if (isDirect) return undefined
  return /^[a-z0-9+.-]+:\/\//i.test(proxy) ? proxy : `http://${proxy}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function isExcluded(host: string, port: string, list: string): boolean {
  return list
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host, port))
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return inRange(entry, host)
  const [, name = entry, wanted] = /^(.+?|\[.+\]):(\d+)$/.exec(isIP(entry) === 6 ? '' : entry) ?? []
  if (wanted !== undefined && wanted !== port) return false
  const bare = name.replace(/^\[(.*)\]$/, '$1').replace(/^\*\./, '.')
  if (isIP(bare) > 0) return bare === host
  return bare.startsWith('.') ? host.endsWith(bare) : host === bare || host.endsWith(`.${bare}`)
}

function inRange(entry: string, host: string): boolean {
  const [network = '', bits = ''] = entry.split('/')
  const family = isIP(network)
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128))
    return false
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const range = new BlockList()
  range.addSubnet(network, Number(bits), type)
  return range.check(host, type)
}
