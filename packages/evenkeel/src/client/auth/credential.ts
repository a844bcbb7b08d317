/**
 * Who we are, as it is shown to a server, and the wrapper that shows it.
 *
 * A credential may change over time: it is asked for at every request. A server that answers 401 refuses this one; if
 * another can be had the request is sent once more, because a request that was not let in has done nothing.
 */
import type { AbortOptions } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'

/** What is shown. Two that are the same object are the same. */
export interface Credential {
  /** The header of that name. */
  readonly authorization?: string
  readonly certPem?: string
  readonly keyPem?: string
}

export interface CredentialSource {
  get(options?: AbortOptions): Promise<Credential>
  /** A server refused this one. Whether `get` may now give another. */
  refuse(credential: Credential): boolean
}

/** A credential that stays. */
export function fixedCredential(credential: Credential): CredentialSource {
  return { get: () => Promise.resolve(credential), refuse: () => false }
}

export function bearer(token: string): Credential {
  return { authorization: `Bearer ${token}` }
}

export function basic(username: string, password: string): Credential {
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
}

/** Shows a credential with every request that brings none of its own. */
export function withCredentials(transport: Transport, source: CredentialSource): Transport {
  return async (request) => {
    if (request.headers['authorization'] !== undefined) return transport(request)
    const credential = await source.get({ signal: request.signal })
    const response = await send(transport, request, credential)
    if (response.status !== 401 || !source.refuse(credential)) return response
    const other = await source.get({ signal: request.signal })
    return other === credential ? response : send(transport, request, other)
  }
}

function send(transport: Transport, request: WireRequest, { authorization }: Credential): Promise<WireResponse> {
  return transport(
    authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } },
  )
}
