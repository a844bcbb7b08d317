/**
 * A token that lies in a file and is replaced there now and then, as those of service accounts are.
 *
 * The file is read again after a minute, and at once when the server refuses the token. While it cannot be read the
 * last token is used: it may still be good, and a volume that is being exchanged is back in a moment.
 */
import type { Clock } from '#base'
import { ConfigError } from '../config/config-error.ts'
import { bearer } from './credential.ts'
import type { Credential, CredentialSource } from './credential.ts'

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
