/**
 * Tokens that say something and are signed: JSON Web Tokens in compact form.
 *
 * Reading one proves nothing: what it says counts only after {@link isSignedBy}. What is not exactly of the form is no
 * token at all, so that there is one text for one token.
 */
import type { KeyObject } from 'node:crypto'
import { isJsonObject } from '#api'
import type { JsonObject, JsonValue } from '#api'
import { algorithmOf, isSignature, makeSignature } from './algorithms.ts'
import type { PublicKey } from './public-key.ts'

export interface Jwt {
  readonly algorithm: string
  /** Which key it says it was signed with; empty when it does not. */
  readonly keyId: string
  /** Not to be believed before the signature is verified. */
  readonly claims: JsonObject
  /** What the signature is over. */
  readonly text: string
  readonly signature: Uint8Array
}

const tokenBytesMax = 65_536
const compact = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/

/** Reads a token; undefined when it is none. */
export function parseJwt(token: string): Jwt | undefined {
  if (token.length > tokenBytesMax) return undefined
  const [, head = '', body = '', tail = ''] = compact.exec(token) ?? []
  const header = parsePart(head)
  const claims = parsePart(body)
  const signature = decodePart(tail)
  if (!header || !claims || !signature) return undefined
  const { alg, kid = '' } = header
  // Whatever is marked as critical changes what the token means, in ways that are not known here.
  if (typeof alg !== 'string' || typeof kid !== 'string' || header['crit'] !== undefined) return undefined
  return { algorithm: alg, keyId: kid, claims, text: `${head}.${body}`, signature }
}

/** Whether the owner of a key has signed it. */
export function isSignedBy({ algorithm, text, signature }: Jwt, { key }: PublicKey): boolean {
  return isSignature(signature, text, { name: algorithm, key })
}

/** A new token. */
export function signJwt(claims: JsonObject, { key, id }: { key: KeyObject; id: string }): string {
  const text = `${encodePart({ alg: algorithmOf(key), kid: id })}.${encodePart(claims)}`
  return `${text}.${makeSignature(text, key).toString('base64url')}`
}

function encodePart(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** Exactly as it would be encoded: other texts for the same bytes would be other names of one token. */
function decodePart(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.byteLength > 0 && bytes.toString('base64url') === text ? bytes : undefined
}

function parsePart(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(decodePart(text)?.toString() ?? '') as JsonValue
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
