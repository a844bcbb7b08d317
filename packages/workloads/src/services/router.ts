/**
 * One HTTP port for all Services with `appProtocol: http`: `http://NAME.NAMESPACE.localhost:PORT`.
 *
 *   request ──Host──▶ Service ──▶ its endpoints, as with any connection ──▶ response
 *                └ unknown: 404 with the names that exist
 *
 * Every request of a connection goes to the Service that its own `Host` names, on a connection of its own. An upgrade
 * (WebSocket) joins the two connections once the endpoint has accepted it.
 *
 * Only names below `localhost` and IP addresses are told which Services exist: a page of another site that points its name to
 * this machine learns nothing.
 */
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { joinConnections } from './connection-pair.ts'
import { formatAddress, type Connection, type ListenFailure, type SocketAddress } from './network.ts'
import { routerPort, type PortClaims } from './port-claims.ts'
import type { Proxies, ServiceOwner } from './proxies.ts'
import { NoEndpointError, type ServiceProxy } from './service-proxy.ts'

interface RouterOptions {
  readonly at: SocketAddress
  readonly proxies: Proxies
  readonly claims: PortClaims
}

type Named = Pick<ServiceOwner, 'namespace' | 'name'>

/** Headers that are about one connection. */
const hopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
])

export class Router {
  readonly #options: RouterOptions
  readonly #server: Server
  /** By host name. */
  readonly #services = new Map<string, ServiceProxy>()
  readonly #connections = new Set<Connection>()
  #isOpen = false

  constructor(options: RouterOptions) {
    this.#options = options
    options.claims.reserve(routerPort, options.at.port)
    this.#server = createServer({ requestTimeout: 0 }, (request, response) => {
      void this.#serve(request, response)
    })
    this.#server.on('upgrade', (request: IncomingMessage, client: Duplex, head: Buffer) => {
      void this.#upgrade(request, { client, head })
    })
  }

  urlOf(service: Named): string {
    return `http://${hostOf(service)}:${this.#options.at.port}`
  }

  /** Listens, unless it does already. */
  async open(): Promise<ListenFailure | undefined> {
    if (this.#isOpen) return undefined
    const { proxies, claims, at } = this.#options
    const failure = await proxies.listenWith(at, (connection) => {
      this.#connections.add(connection)
      connection.once('close', () => this.#connections.delete(connection))
      this.#server.emit('connection', connection)
      connection.resume()
    })
    this.#isOpen = !failure
    if (failure?.reason !== 'PortTaken') return failure
    const { reason, message } = await claims.explain(at.port)
    return { reason, message: `the router cannot listen on ${formatAddress(at)}: ${message}` }
  }

  /** From now on requests for this host go there. */
  serve(service: Named, proxy: ServiceProxy): void {
    this.#services.set(hostOf(service), proxy)
  }

  remove(service: Named): void {
    this.#services.delete(hostOf(service))
  }

  /** Accepts nothing any more. */
  async stopListening(): Promise<void> {
    if (this.#isOpen) await this.#options.proxies.unlistenWith(this.#options.at)
  }

  /** Ends every connection. */
  close(): void {
    for (const connection of this.#connections) connection.destroy()
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const proxy = this.#services.get(hostName(request))
    if (!proxy) {
      answer(response, 404, this.#unknown(request))
      return
    }
    const leaving = new AbortController()
    response.once('close', () => {
      leaving.abort(new Error('the client has gone'))
    })
    const endpoint = await proxy.connect({ signal: leaving.signal }).catch((error: unknown) => {
      if (error instanceof NoEndpointError) answer(response, 503, `${hostName(request)}: ${error.message}\n`)
      return undefined
    })
    if (!endpoint) return
    const upstream = sendOn(request, { endpoint, headers: headersOf(request) })
    upstream.on('response', (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.statusMessage, endToEnd(answered.rawHeaders))
      answered.pipe(response)
      answered.once('error', () => response.destroy())
    })
    upstream.on('error', (error) => {
      if (response.headersSent) response.destroy()
      else answer(response, 502, `${hostName(request)}: its endpoint ended the connection (${error.message})\n`)
    })
    response.once('close', () => {
      if (!response.writableFinished) upstream.destroy()
    })
    request.pipe(upstream)
  }

  async #upgrade(
    request: IncomingMessage,
    { client, head }: { readonly client: Duplex; readonly head: Buffer },
  ): Promise<void> {
    client.on('error', () => undefined)
    const proxy = this.#services.get(hostName(request))
    if (!proxy) {
      endRaw(client, '404 Not Found', this.#unknown(request))
      return
    }
    const leaving = new AbortController()
    const onClose = (): void => {
      leaving.abort(new Error('the client has gone'))
    }
    client.once('close', onClose)
    const endpoint = await proxy.connect({ signal: leaving.signal }).catch(() => undefined)
    if (!endpoint) {
      endRaw(client, '503 Service Unavailable', `${hostName(request)}: no endpoint is ready\n`)
      return
    }
    const { connection = 'Upgrade', upgrade } = request.headers
    const headers = {
      ...headersOf(request),
      Connection: connection,
      ...(upgrade !== undefined && { Upgrade: upgrade }),
    }
    const upstream = sendOn(request, { endpoint, headers })
    upstream.on('upgrade', (answered, socket, first) => {
      client.off('close', onClose)
      client.write(`${statusLine(answered)}\r\n${rawLines(answered.rawHeaders)}\r\n\r\n`)
      if (first.length > 0) client.write(first)
      joinConnections(client, socket, { head: head.length > 0 ? [head] : [] })
    })
    // It refuses: the answer is passed on, and the connection ends, because its next request may be for another host.
    upstream.on('response', (answered) => {
      const { 'transfer-encoding': _, ...headers } = byLowerCase(endToEnd(answered.rawHeaders))
      client.write(`${statusLine(answered)}\r\n${rawLines(flat({ ...headers, connection: 'close' }))}\r\n\r\n`)
      answered.pipe(client)
    })
    upstream.on('error', (error) => {
      endRaw(client, '502 Bad Gateway', `${hostName(request)}: its endpoint ended the connection (${error.message})\n`)
    })
    upstream.end()
  }

  #unknown(request: IncomingMessage): string {
    const host = hostName(request)
    const isTrusted = host === 'localhost' || host.endsWith('.localhost') || /^[\d.]+$|^\[/.test(host)
    if (!isTrusted) return `${JSON.stringify(host)} is not served here: use NAME.NAMESPACE.localhost\n`
    const urls = [...this.#services.keys()].sort().map((name) => `  http://${name}:${this.#options.at.port}`)
    const existing =
      urls.length > 0 ? `These exist:\n${urls.join('\n')}\n` : 'There is no Service with appProtocol: http.\n'
    return `No Service is served at ${JSON.stringify(host)}. ${existing}`
  }
}

/** The request to an endpoint, on a connection of its own. Its body is written by the caller. */
function sendOn(
  { method, url }: IncomingMessage,
  { endpoint, headers }: { readonly endpoint: Connection; readonly headers: Record<string, string | string[]> },
) {
  return httpRequest({
    createConnection: () => endpoint,
    ...(method !== undefined && { method }),
    path: url ?? '/',
    headers,
  })
}

/** The headers of a request as the endpoint gets them. */
function headersOf({ rawHeaders, socket, headers }: IncomingMessage): Record<string, string | string[]> {
  const from = [headers['x-forwarded-for'], socket.remoteAddress].filter((one) => one !== undefined).join(', ')
  const { host } = headers
  return {
    ...endToEnd(rawHeaders),
    ...(from !== '' && { 'X-Forwarded-For': from }),
    ...(host !== undefined && { 'X-Forwarded-Host': host }),
    'X-Forwarded-Proto': 'http',
  }
}

/** Headers without those of one connection. */
function endToEnd(rawHeaders: readonly string[]): Record<string, string | string[]> {
  const kept = new Map<string, { readonly name: string; readonly values: string[] }>()
  const named = new Set(
    pairsOf(rawHeaders).flatMap(([name, value]) =>
      name.toLowerCase() === 'connection' ? value.split(',').map((one) => one.trim().toLowerCase()) : [],
    ),
  )
  for (const [name, value] of pairsOf(rawHeaders)) {
    const key = name.toLowerCase()
    if (hopHeaders.has(key) || named.has(key)) continue
    const known = kept.get(key) ?? { name, values: [] }
    known.values.push(value)
    kept.set(key, known)
  }
  return Object.fromEntries(
    [...kept.values()].map(({ name, values: [first = '', ...more] }) => [
      name,
      more.length > 0 ? [first, ...more] : first,
    ]),
  )
}

function byLowerCase(headers: Record<string, string | string[]>): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function pairsOf(rawHeaders: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as const] : []))
}

function flat(headers: Record<string, string | string[]>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => [value].flat().flatMap((one) => [name, one]))
}

function rawLines(rawHeaders: readonly string[]): string {
  return pairsOf(rawHeaders)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n')
}

function statusLine({ statusCode = 502, statusMessage = '' }: IncomingMessage): string {
  return `HTTP/1.1 ${statusCode} ${statusMessage}`
}

/** `web.default.localhost` */
function hostOf({ name, namespace }: Named): string {
  return `${name}.${namespace}.localhost`
}

/** The host name that a request asks for, without its port. */
function hostName({ headers: { host = '' } }: IncomingMessage): string {
  return host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')
}

function answer(response: ServerResponse, status: number, text: string): void {
  if (response.destroyed || response.headersSent) return
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

/** Answers an upgrade that cannot be passed on. */
function endRaw(client: Duplex, status: string, text: string): void {
  if (client.destroyed) return
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close`
  client.end(`${head}\r\n\r\n${text}`)
}
