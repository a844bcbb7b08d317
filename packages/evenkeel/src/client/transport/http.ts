/**
 * A transport over HTTP: one server, kept connections, TLS, a proxy if there is one.
 *
 * The HTTP library is loaded with the first request: that takes longer than starting up, and in process nobody needs
 * it. Streams (watches, followed logs) have connections of their own, so that many of them never keep a request
 * waiting. No redirect is followed. There is no deadline in here but that of connecting: the request's signal ends it.
 *
 * Invariant: when certificates change, new requests use the new ones; requests under way finish on the old.
 */
import type * as Undici from 'undici'
import type { Dispatcher, Pool } from 'undici'
import type { Transport, WireHeaders, WireRequest, WireResponse } from '#wire'
import { ConnectionError } from '../request/connection-error.ts'
import { asking } from './before-send.ts'
import { toConnectionError } from './describe.ts'
import { Streams } from './streaming/streams.ts'

/** Whom to trust, and who we are. Two that are the same object are the same. */
export interface TlsMaterial {
  /** The authorities to trust, in PEM. @default those that Node trusts */
  readonly caPem?: string
  readonly certPem?: string
  readonly keyPem?: string
  /** The name that the certificate of the server must have. @default that of its address */
  readonly serverName?: string
  /** Trust anybody. For tests, and for nothing else. @default false */
  readonly insecureSkipVerify?: boolean
}

export interface HttpOptions {
  /** `https://10.0.0.1:6443`, perhaps with a path behind it. */
  readonly server: string
  /** May change over time: it is asked for at every request. */
  readonly tls?: TlsMaterial | (() => Promise<TlsMaterial>)
  /** `http://proxy:3128`, or https. @default none */
  readonly proxyUrl?: string
  /** Go with every request, each value on a line of its own. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** @default 10_000 */
  readonly connectTimeoutMs?: number
  /**
   * How many connections there may be at a time, streams not counted.
   *
   * @default 64
   */
  readonly connectionsMax?: number
}

/** A transport, and how to end it. */
export interface HttpConnection {
  readonly transport: Transport
  /** Cuts off what is under way; then nothing is left open. */
  close(): Promise<void>
}

/** The sets of connections. */
interface Lines {
  readonly tls: TlsMaterial
  readonly requests: Dispatcher
  readonly streams: Dispatcher
  /** For streams whose reader takes pieces on loan; absent when there is a proxy in between. */
  readonly lent: Streams | undefined
}

/** @throws {RangeError} when the address of the server or of the proxy cannot be used. */
export function httpTransport({ server, tls = {}, proxyUrl, headers = {}, connectTimeoutMs = 10_000, connectionsMax = 64 }: HttpOptions): HttpConnection {
  const { origin, prefix } = readAddress(server)
  if (proxyUrl !== undefined) checkProxy(proxyUrl)
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]))
  const all = new Set<Lines>()
  let current: Lines | undefined
  let library: typeof Undici | undefined
  let isClosed = false
  const linesFor = async (): Promise<Lines> => {
    const material = typeof tls === 'function' ? await tls() : tls
    library ??= await import('undici')
    if (isClosed) throw new ConnectionError(`the connection to ${origin} was closed by its owner`, { problem: 'connect', address: origin })
    if (current?.tls === material) return current
    if (current) retire(current, all)
    current = openLines(library, { origin, proxyUrl, tls: material, connectTimeoutMs, connectionsMax })
    all.add(current)
    return current
  }
  return {
    async transport(request) {
      const lines = await linesFor()
      const { target, headers, signal } = request
      if (lines.lent && isLent(request)) {
        signal.throwIfAborted()
        return lines.lent.ask({ method: 'GET', target: `${prefix}${target}`, headers: { ...headers, ...own }, signal })
      }
      const dispatcher = isStream(target) ? lines.streams : lines.requests
      return exchange(dispatcher, request, { origin, prefix, headers: own })
    },
    async close() {
      isClosed = true
      for (const { lent } of all) lent?.destroy()
      await Promise.all([...all].flatMap(({ requests, streams }) => [requests.destroy(), streams.destroy()]))
    },
  }
}

interface Destination {
  readonly origin: string
  readonly prefix: string
  readonly headers: Readonly<Record<string, string | string[]>>
}

async function exchange(dispatcher: Dispatcher, { method, target, headers, body, signal, beforeSend }: WireRequest, { origin, prefix, headers: own }: Destination): Promise<WireResponse> {
  signal.throwIfAborted()
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
    const response = await (beforeSend ? asking(dispatcher) : dispatcher).request({
      origin, path: `${prefix}${target}`, method: method as Dispatcher.HttpMethod, headers: { ...headers, ...own }, signal, ...beforeSend && { beforeSend: ask },
      body: body === undefined || body instanceof Uint8Array ? body ?? null : body as unknown as Dispatcher.DispatchOptions['body'] & object,
    })
    const answered = joinHeaders(response.headers)
    const isShort = !isStream(target) && Number(answered['content-length'] ?? NaN) < 16 * 1024 * 1024
    return { status: response.statusCode, headers: answered, body: isShort ? await response.body.bytes() : pieces(response.body, { origin, signal }) }
  } catch (error) {
    throw refusal ? refusal.error : explain(error, origin, signal)
  }
}

async function* pieces(body: AsyncIterable<Uint8Array>, { origin, signal }: { origin: string, signal: AbortSignal }): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw explain(error, origin, signal)
  }
}

function explain(error: unknown, origin: string, signal: AbortSignal): unknown {
  return signal.aborted ? signal.reason : toConnectionError(error, origin)
}

function openLines({ Pool, ProxyAgent }: typeof Undici, { origin, proxyUrl, tls, connectTimeoutMs, connectionsMax }: OpenOptions): Lines {
  const secure = {
    timeout: connectTimeoutMs, keepAlive: true, ...tls.caPem !== undefined && { ca: tls.caPem }, ...tls.certPem !== undefined && { cert: tls.certPem },
    ...tls.keyPem !== undefined && { key: tls.keyPem }, ...tls.serverName !== undefined && { servername: tls.serverName },
    ...tls.insecureSkipVerify && { rejectUnauthorized: false },
  }
  // Deadlines are those of the request: zero turns the library's own off. Servers that keep connections for less say so.
  const shared = { headersTimeout: 0, bodyTimeout: 0, pipelining: 1, keepAliveTimeout: 30_000 } satisfies Pool.Options
  const open = (connections: number | null): Dispatcher => proxyUrl === undefined
    ? new Pool(origin, { ...shared, connections, connect: secure })
    : new ProxyAgent({ ...shared, uri: proxyUrl, requestTls: secure, ...connections !== null && { connections } })
  const lent = proxyUrl === undefined ? new Streams({ origin, tls, connectTimeoutMs, explain: (error) => toConnectionError(error, origin) }) : undefined
  return { tls, requests: open(connectionsMax), streams: open(null), lent }
}

interface OpenOptions extends Required<Pick<HttpOptions, 'connectTimeoutMs' | 'connectionsMax'>> {
  readonly origin: string
  readonly proxyUrl: string | undefined
  readonly tls: TlsMaterial
}

/** Closes once nothing uses them any more; a watch may take minutes. */
function retire(lines: Lines, all: Set<Lines>): void {
  void Promise.allSettled([lines.requests.close(), lines.streams.close(), lines.lent?.close()]).then(() => all.delete(lines))
}

/** Whether the reader takes pieces on loan, and there is nothing about the request that only the library can do. */
function isLent({ method, body, borrowsPieces, beforeSend }: WireRequest): boolean {
  return borrowsPieces === true && method === 'GET' && body === undefined && beforeSend === undefined
}

function isStream(target: string): boolean {
  return /[?&](?:watch|follow)=(?:true|1)(?:&|$)/.test(target)
}

function joinHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): WireHeaders {
  const joined: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) joined[name] = typeof value === 'string' ? value : value.join(', ')
  return joined
}

function readAddress(server: string): { origin: string, prefix: string } {
  let url: URL
  try {
    url = new URL(server)
  } catch {
    throw new RangeError(`server must be an address such as https://127.0.0.1:6443, got ${JSON.stringify(server)}`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new RangeError(`server must be an https or http address, got ${JSON.stringify(server)}`)
  return { origin: url.origin, prefix: url.pathname.replace(/\/+$/, '') }
}

function checkProxy(proxyUrl: string): void {
  const protocol = /^([a-z0-9+.-]+):\/\//i.exec(proxyUrl)?.[1]?.toLowerCase()
  if (protocol === 'http' || protocol === 'https') return
  const advice = protocol?.startsWith('socks') ? 'SOCKS proxies are not supported: use an http one, or a tunnel (ssh -L)' : 'it must begin with http:// or https://'
  throw new RangeError(`proxy ${JSON.stringify(proxyUrl)} cannot be used: ${advice}`)
}
