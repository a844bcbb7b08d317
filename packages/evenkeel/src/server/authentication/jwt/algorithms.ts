/**
 * Ways to sign a token, and which keys each is for.
 *
 * Invariant: the key decides, never the token. An algorithm is used only with a key of its own type and curve, so no
 * public key is ever taken for a shared secret; there are no shared secrets and there is no `none`.
 */
import { constants, sign, verify } from 'node:crypto'
import type { KeyObject, SignKeyObjectInput, VerifyKeyObjectInput } from 'node:crypto'

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

/** All that tokens of others may be signed with. */
export const algorithmNames: readonly string[] = Object.keys(algorithms)

const rsaBitsMin = 2048

/**
 * What a key of ours signs with.
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

export function makeSignature(text: string, key: KeyObject): Buffer {
  const name = algorithmOf(key)
  const algorithm = algorithms[name] as Algorithm
  return sign(algorithm.hash, Buffer.from(text), { key, ...detailsOf(algorithm) } satisfies SignKeyObjectInput)
}

/** Whether a signature was made over a text by the owner of a key, in the way it says. */
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
