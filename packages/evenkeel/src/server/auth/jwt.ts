/**
 * JSON Web Tokens in compact form: parsing, signing, verification, and the keys for it.
 *
 * A parsed token proves nothing: its claims count only after {@link isSignedBy}. Any deviation from the compact form is
 * an error, so each token has exactly one text.
 *
 * Invariant: the key decides the algorithm, never the token. An algorithm is used only with a key of its own type and
 * curve, so a public key is never used as a shared secret. There are no shared secrets and there is no `none`.
 */
import {
  constants,
  createHash,
  createPublicKey,
  sign,
  verify,
  type JsonWebKey,
  type KeyObject,
  type SignKeyObjectInput,
  type VerifyKeyObjectInput,
} from 'node:crypto'
import { isJsonObject, type JsonObject, type JsonValue } from '#api'

export interface Jwt {
  readonly algorithm: string
  /** The key id in the header; empty when there is none. */
  readonly keyId: string
  /** Untrusted until the signature is verified. */
  readonly claims: JsonObject
  /** The signed text. */
  readonly text: string
  readonly signature: Uint8Array
}

const tokenBytesMax = 65_536
const compact = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/

/** Parses a token; undefined when it is malformed. */
export function parseJwt(token: string): Jwt | undefined {
  if (token.length > tokenBytesMax) return undefined
  const [, head = '', body = '', tail = ''] = compact.exec(token) ?? []
  const header = parsePart(head)
  const claims = parsePart(body)
  const signature = decodePart(tail)
  if (!header || !claims || !signature) return undefined
  const { alg, kid = '' } = header
  // A critical header parameter may change the meaning of a token, and none is supported.
  if (typeof alg !== 'string' || typeof kid !== 'string' || header['crit'] !== undefined) return undefined
  return { algorithm: alg, keyId: kid, claims, text: `${head}.${body}`, signature }
}

/** Whether a token is signed by a key. */
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

/** Only the canonical encoding: otherwise one token would have several texts. */
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

// Signature algorithms and the keys that each accepts.

interface Algorithm {
  readonly hash: 'sha256' | 'sha384' | 'sha512'
  readonly type: 'rsa' | 'ec'
  readonly curve?: string
  readonly isPss?: true
}

const algorithms: Readonly<Record<string, Algorithm>> = {
  RS256: { hash: 'sha256', type: 'rsa' },
  RS384: { hash: 'sha384', type: 'rsa' },
  RS512: { hash: 'sha512', type: 'rsa' },
  PS256: { hash: 'sha256', type: 'rsa', isPss: true },
  PS384: { hash: 'sha384', type: 'rsa', isPss: true },
  PS512: { hash: 'sha512', type: 'rsa', isPss: true },
  ES256: { hash: 'sha256', type: 'ec', curve: 'prime256v1' },
  ES384: { hash: 'sha384', type: 'ec', curve: 'secp384r1' },
  ES512: { hash: 'sha512', type: 'ec', curve: 'secp521r1' },
}

/** All supported algorithms. */
export const algorithmNames: readonly string[] = Object.keys(algorithms)

const rsaBitsMin = 2048

/**
 * The algorithm for a private key.
 *
 * @throws {RangeError} when tokens cannot be signed with it.
 */
export function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  if (asymmetricKeyType === 'rsa') return 'RS256'
  const found = Object.entries(algorithms).find(
    ([, { type, curve }]) => type === asymmetricKeyType && curve === asymmetricKeyDetails?.namedCurve,
  )
  if (!found)
    throw new RangeError(
      `tokens are signed with RSA or ECDSA keys (P-256, P-384, P-521), got ${String(asymmetricKeyType)}`,
    )
  return found[0]
}

function makeSignature(text: string, key: KeyObject): Buffer {
  const name = algorithmOf(key)
  const algorithm = algorithms[name] as Algorithm
  return sign(algorithm.hash, Buffer.from(text), { key, ...detailsOf(algorithm) } satisfies SignKeyObjectInput)
}

/** Whether a signature over a text is valid for a key and an algorithm. */
export function isSignature(
  signature: Uint8Array,
  text: string,
  { name, key }: { name: string; key: KeyObject },
): boolean {
  const algorithm = Object.hasOwn(algorithms, name) ? algorithms[name] : undefined
  if (!algorithm || !fitsKey(key, algorithm)) return false
  return verify(
    algorithm.hash,
    Buffer.from(text),
    { key, ...detailsOf(algorithm) } satisfies VerifyKeyObjectInput,
    signature,
  )
}

function fitsKey({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, { type, curve }: Algorithm): boolean {
  if (asymmetricKeyType !== type) return false
  return type === 'rsa'
    ? (asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin
    : asymmetricKeyDetails?.namedCurve === curve
}

function detailsOf({ type, isPss }: Algorithm): Pick<SignKeyObjectInput, 'dsaEncoding' | 'padding' | 'saltLength'> {
  if (type === 'ec') return { dsaEncoding: 'ieee-p1363' }
  return isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : { padding: constants.RSA_PKCS1_PADDING }
}

// Public keys for verification, from PEM or JWK.

export interface PublicKey {
  /** The key id in tokens; empty for a foreign key without one. */
  readonly id: string
  readonly key: KeyObject
}

/** A key with an id derived from the key itself: the same on every server that has it. */
export function publicKeyOf(key: KeyObject): PublicKey {
  const open = key.type === 'private' ? createPublicKey(key) : key
  const id = createHash('sha256')
    .update(open.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, key: open }
}

/** The key as JWK. */
export function toJwk({ id, key }: PublicKey): JsonObject {
  const { kty = '', ...rest } = key.export({ format: 'jwk' })
  return { use: 'sig', kty, kid: id, alg: algorithmOf(key), ...(rest as JsonObject) }
}

/** The usable keys of a JWK set; others are skipped. */
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
