/**
 * Who we are, as it is shown to a server, and the wrapper that shows it.
 *
 * A credential may change over time: it is asked for at every request. A server that answers 401 refuses this one; if
 * another can be had the request is sent once more, because a request that was not let in has done nothing.
 */
import type { AbortOptions, Clock } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'
import { ConfigError } from './config-field.ts'

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

/*
 * A token that lies in a file and is replaced there now and then, as those of service accounts are.
 *
 * The file is read again after a minute, and at once when the server refuses the token. While it cannot be read the
 * last token is used: it may still be good, and a volume that is being exchanged is back in a moment.
 */

export interface TokenFileOptions {
  readonly clock: Clock
  readonly readFile: (path: string) => Promise<string>
  /** @default 60_000 */
  readonly rereadMs?: number
}

export function tokenFile(path: string, { clock, readFile, rereadMs = 60_000 }: TokenFileOptions): CredentialSource {
  let known: { readonly token: string; readonly credential: Credential } | undefined
  let readAtMs = -Infinity
  return {
    async get() {
      if (known && clock.monotonic() - readAtMs < rereadMs) return known.credential
      readAtMs = clock.monotonic()
      const token = await readToken(path, readFile).catch((error: unknown) => {
        if (known) return known.token
        throw error
      })
      if (known?.token !== token) known = { token, credential: bearer(token) }
      return known.credential
    },
    refuse(credential) {
      if (credential === known?.credential) readAtMs = -Infinity
      return true
    },
  }
}

async function readToken(path: string, readFile: TokenFileOptions['readFile']): Promise<string> {
  let text: string
  try {
    text = await readFile(path)
  } catch (cause) {
    throw new ConfigError(
      `the token file ${path} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    )
  }
  const token = text.trim()
  if (token === '') throw new ConfigError(`the token file ${path} is empty`)
  return token
}
