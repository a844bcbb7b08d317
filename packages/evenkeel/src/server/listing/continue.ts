/**
 * Where a list goes on: the token between two pages.
 *
 * It names the revision all pages are read at and the key the last page ended with, so that pages fit together
 * whatever is written in between. Clients treat it as opaque; we do not trust it: the key must lie where the list does.
 */
import { badRequest, isJsonObject } from '#api'
import type { JsonValue } from '#api'

interface Continuation {
  /** The revision of the first page; -1 to go on with whatever is there now. */
  readonly revision: number
  /** The last key of the page before, without the prefix of the list. */
  readonly after: string
}

const tokenVersion = 'evenkeel.dev/v1'

export function formatContinue({ revision, after }: Continuation): string {
  return Buffer.from(JSON.stringify({ v: tokenVersion, rv: revision, start: after })).toString('base64url')
}

/**
 * Reads a token.
 *
 * @throws {ApiError} `BadRequest`
 */
export function parseContinue(token: string): Continuation {
  const value = decodeToken(token)
  if (!isJsonObject(value) || value['v'] !== tokenVersion) throw invalidToken()
  const { rv, start } = value
  if (!Number.isSafeInteger(rv) || (rv as number) < -1 || rv === 0) throw invalidToken()
  if (typeof start !== 'string' || start === '' || !/^[!-~]+$/.test(start)) throw invalidToken()
  return { revision: rv as number, after: start }
}

function decodeToken(token: string): JsonValue | undefined {
  if (!/^[\w-]+=*$/.test(token)) return undefined
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString()) as JsonValue
  } catch {
    return undefined
  }
}

function invalidToken(): Error {
  return badRequest('invalid continue token: continue key is not valid: start the list again without it')
}
