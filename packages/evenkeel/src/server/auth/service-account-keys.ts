/**
 * The keys of service account tokens and their OpenID Connect discovery documents: the first key signs, all verify.
 *
 * To rotate, put a new key in front and keep the old one until its tokens have expired. Without configured keys one is
 * generated on first use, because most servers in tests never sign a token.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { JsonObject } from '#api'
import type { WireResponse } from '#wire'
import { algorithmOf, publicKeyOf, signJwt, toJwk, type PublicKey } from './jwt.ts'

interface OpenedKeys {
  readonly signing: { readonly key: KeyObject; readonly id: string }
  readonly known: readonly PublicKey[]
}

const pemBlock = /-----BEGIN ((?:RSA |EC )?(?:PRIVATE|PUBLIC) KEY|CERTIFICATE)-----[^-]+-----END \1-----/g

/** A new key, in PEM. */
export function makeServiceAccountKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
}

export class ServiceAccountKeys {
  #pems: readonly string[]
  #opened: OpenedKeys | undefined

  /**
   * @param pems keys, any number in each text; the first must be private. Without any, one is generated.
   * @throws {RangeError} for a text without a usable key.
   */
  constructor(pems: readonly string[]) {
    this.#pems = pems
    if (pems.length > 0) this.#open()
  }

  sign(claims: JsonObject): string {
    return signJwt(claims, this.#open().signing)
  }

  /** The keys with an id; all keys for a token without one. */
  find(id: string): readonly PublicKey[] {
    const { known } = this.#open()
    return id === '' ? known : known.filter((key) => key.id === id)
  }

  /** The public keys as a JWK set. */
  get published(): { readonly keys: readonly JsonObject[]; readonly algorithms: readonly string[] } {
    const { known } = this.#open()
    return { keys: known.map(toJwk), algorithms: [...new Set(known.map(({ key }) => algorithmOf(key)))].sort() }
  }

  #open(): OpenedKeys {
    if (this.#opened) return this.#opened
    if (this.#pems.length === 0) this.#pems = [makeServiceAccountKey()]
    const keys = this.#pems.flatMap((pem) => parsePemKeys(pem))
    const [first] = keys
    if (first?.type !== 'private')
      throw new RangeError('the first key of service accounts must be a private one: it signs')
    const known = new Map(keys.map(publicKeyOf).map((key) => [key.id, key]))
    for (const { key } of known.values()) algorithmOf(key)
    this.#opened = { signing: { key: first, id: publicKeyOf(first).id }, known: [...known.values()] }
    return this.#opened
  }
}

/** The keys in a PEM text. */
export function parsePemKeys(pem: string): KeyObject[] {
  const blocks = [...pem.matchAll(pemBlock)]
  if (blocks.length === 0) throw new RangeError('keys of service accounts must be given in PEM, got a text without one')
  return blocks.map(([block, kind]) => (kind?.includes('PRIVATE') ? createPrivateKey(block) : createPublicKey(block)))
}

// Discovery documents, with which other services verify service account tokens.

const keysPath = '/openid/v1/jwks'

interface OpenIdOptions {
  readonly tokens: { readonly issuer: string; readonly keys: ServiceAccountKeys }
  /** The address of the keys; default: this server. */
  readonly jwksUri: string | undefined
  /** Host and port of the server for clients, once known. */
  readonly address: string | undefined
}

/** Answers the two paths; undefined for every other. */
export function answerOpenId(
  path: string,
  { tokens, jwksUri: keysUrl, address }: OpenIdOptions,
): WireResponse | undefined {
  const { issuer, keys } = tokens
  if (path === keysPath) return jsonResponse({ keys: keys.published.keys }, 'application/jwk-set+json')
  // Discovery is useful only with an issuer that clients can reach.
  if (path !== '/.well-known/openid-configuration' || !issuer.startsWith('https://')) return undefined
  return jsonResponse(
    {
      issuer,
      jwks_uri: keysUrl ?? `https://${address ?? 'localhost'}${keysPath}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: keys.published.algorithms,
    },
    'application/json',
  )
}

function jsonResponse(document: JsonObject, type: string): WireResponse {
  return {
    status: 200,
    headers: { 'content-type': type, 'cache-control': 'public, max-age=3600' },
    body: Buffer.from(JSON.stringify(document)),
  }
}
