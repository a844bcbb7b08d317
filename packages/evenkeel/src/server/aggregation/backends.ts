/**
 * The connections to aggregated API servers, one for each address and trust.
 *
 * A connection is kept until its APIService names another address, authority or nothing at all.
 */
import {
  connectBackend,
  type BackendConnection,
  type CertificateKeyPair,
  type WireRequest,
  type WireResponse,
} from '#wire'
import type { User } from '../request-context.ts'
import type { AggregatedApi } from './api-services.ts'
import type { ServiceAddresses } from './service-address.ts'

/** The identity of checks: every backend that trusts this proxy lets it read. */
export const aggregatorUser = { name: 'system:kube-aggregator', groups: ['system:masters'] } as const

interface BackendsOptions {
  readonly addresses: ServiceAddresses
  /** The client certificate that backends know this server by. Made on first use. */
  proxyClient(): CertificateKeyPair
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal
}

/** No address: the message of the condition. */
export class UnresolvedServiceError extends Error {
  override readonly name = 'UnresolvedServiceError'
  readonly reason: string

  constructor(reason: string, message: string) {
    super(message)
    this.reason = reason
  }
}

interface OpenBackend {
  /** The address and what is trusted there. */
  readonly key: string
  readonly connection: BackendConnection
  /** `host:port` */
  readonly host: string
}

export class Backends {
  readonly #options: BackendsOptions
  readonly #open = new Map<string, OpenBackend>()

  constructor(options: BackendsOptions) {
    this.#options = options
    options.stopping.addEventListener(
      'abort',
      () => {
        for (const { connection } of this.#open.values()) connection.close()
      },
      { once: true },
    )
  }

  /**
   * Sends a request as a user. The head of the response has to arrive before the signal aborts.
   *
   * @throws {UnresolvedServiceError} when the service has no address, an `Error` when it cannot be reached.
   */
  async send(api: AggregatedApi, request: WireRequest, user: User): Promise<WireResponse> {
    const { connection, host } = await this.#connection(api)
    const headers = { ...request.headers, ...userHeaders(user), host, 'x-forwarded-host': host }
    return connection.transport({ ...request, signal: request.signal, headers })
  }

  /** The URL of a path, as errors name it. */
  async urlOf(api: AggregatedApi, path: string): Promise<string> {
    const resolved = await this.#options.addresses.resolve(api)
    if (!resolved.ok) throw new UnresolvedServiceError(resolved.reason, resolved.message)
    const { host, port } = resolved.address
    return `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`
  }

  /** Closes the connections of APIServices that are gone. */
  retain(apis: readonly AggregatedApi[]): void {
    const names = new Set(apis.map(({ name }) => name))
    for (const [name, { connection }] of this.#open) {
      if (names.has(name)) continue
      this.#open.delete(name)
      connection.close()
    }
  }

  async #connection(api: AggregatedApi): Promise<OpenBackend> {
    const resolved = await this.#options.addresses.resolve(api)
    if (!resolved.ok) throw new UnresolvedServiceError(resolved.reason, resolved.message)
    const { host, port } = resolved.address
    const key = JSON.stringify([host, port, api.caPem, api.insecureSkipTLSVerify, api.service])
    const known = this.#open.get(api.name)
    if (known?.key === key) return known
    known?.connection.close()
    const connection = connectBackend({
      host,
      port,
      serverName: `${api.service.name}.${api.service.namespace}.svc`,
      caPem: api.caPem,
      isInsecure: api.insecureSkipTLSVerify,
      client: this.#options.proxyClient(),
    })
    const open = { key, connection, host: `${host.includes(':') ? `[${host}]` : host}:${port}` }
    this.#open.set(api.name, open)
    return open
  }
}

/** The user in the headers of a front proxy. Values of one header are separated by line breaks. */
function userHeaders({ name, uid, groups, extra = {} }: User): Record<string, string> {
  const extras = Object.entries(extra).map(([key, values]) => [
    `x-remote-extra-${encodeURIComponent(key.toLowerCase())}`,
    values.map(headerValue).join('\n'),
  ])
  return {
    'x-remote-user': headerValue(name),
    ...(groups.length > 0 && { 'x-remote-group': groups.map(headerValue).join('\n') }),
    ...(uid !== undefined && uid !== '' && { 'x-remote-uid': headerValue(uid) }),
    ...(Object.fromEntries(extras) as Record<string, string>),
  }
}

/** Header values are bytes: UTF-8, one character per byte, without line breaks that would add another value. */
function headerValue(text: string): string {
  return Buffer.from(text.replaceAll(/[\r\n\0]/g, ' '), 'utf8').toString('latin1')
}
