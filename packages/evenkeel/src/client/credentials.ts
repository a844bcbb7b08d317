/**
 * Credentials, and the wrapper that adds them to requests when they are sent.
 *
 * A credential may change over time: it is read for every request. A 401 refuses it; if there is another one the request
 * is sent once more, because a refused request has done nothing.
 *
 * The token of a file, as service accounts have it, is read again after a minute, and at once when the server refuses it.
 * While the file cannot be read the last token is used: it may still be valid, and a volume that is being replaced is
 * back in a moment.
 */
import type { AbortOptions, Clock } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'
import { ConfigError } from './config-field.ts'

/** What is sent. Compared by identity. */
export interface Credential {
  /** The header of that name. */
  readonly authorization?: string
  readonly certPem?: string
  readonly keyPem?: string
}

export interface CredentialSource {
  get(options?: AbortOptions): Promise<Credential>
  /** The server refused this one. Returns whether `get` may return another now. */
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

/** Adds the credential to every request without one. */
export function withCredentials(transport: Transport, source: CredentialSource): Transport {
  return async (request) => {
    if (request.headers['authorization'] !== undefined) return await transport(request)
    const credential = await source.get({ signal: request.signal })
    const response = await send(transport, request, credential)
    if (response.status !== 401 || !source.refuse(credential)) return response
    const other = await source.get({ signal: request.signal })
    return other === credential ? response : await send(transport, request, other)
  }
}

function send(transport: Transport, request: WireRequest, { authorization }: Credential): Promise<WireResponse> {
  return transport(
    authorization === undefined ? request : { ...request, headers: { ...request.headers, authorization } },
  )
}

interface TokenFileOptions {
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
