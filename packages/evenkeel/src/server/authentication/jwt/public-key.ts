/**
 * Keys that signatures are verified with, in the two forms they come in: PEM, and JSON (JWK).
 */
import { createHash, createPublicKey } from 'node:crypto'
import type { JsonWebKey, KeyObject } from 'node:crypto'
import { isJsonObject } from '#api'
import type { JsonObject, JsonValue } from '#api'
import { algorithmOf } from './algorithms.ts'

export interface PublicKey {
  /** What tokens name it by; empty for a key of others that has no name. */
  readonly id: string
  readonly key: KeyObject
}

/** A key under the name that is made from itself, without giving it away: the same on every server that has it. */
export function publicKeyOf(key: KeyObject): PublicKey {
  const open = key.type === 'private' ? createPublicKey(key) : key
  const id = createHash('sha256')
    .update(open.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, key: open }
}

/** As it is published. */
export function toJwk({ id, key }: PublicKey): JsonObject {
  const { kty = '', ...rest } = key.export({ format: 'jwk' })
  return { use: 'sig', kty, kid: id, alg: algorithmOf(key), ...(rest as JsonObject) }
}

/** The keys of a published set that signatures can be verified with; others are passed over. */
export function readKeySet(value: JsonValue): PublicKey[] {
  const keys = isJsonObject(value) && Array.isArray(value['keys']) ? (value['keys'] as readonly JsonValue[]) : []
  return keys.slice(0, keysMax).flatMap((jwk) => {
    if (!isJsonObject(jwk) || (jwk['use'] !== undefined && jwk['use'] !== 'sig')) return []
    const { kty, kid = '' } = jwk
    if ((kty !== 'RSA' && kty !== 'EC') || typeof kid !== 'string') return []
    try {
      return [{ id: kid, key: createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }) }]
    } catch {
      return []
    }
  })
}

const keysMax = 100
