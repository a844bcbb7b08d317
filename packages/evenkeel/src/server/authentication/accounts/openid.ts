/**
 * How others verify tokens of service accounts: what OpenID Connect calls discovery, and the public keys.
 */
import type { JsonObject } from '#api'
import type { WireResponse } from '#wire'
import type { ServiceAccountTokens } from './account-tokens.ts'

const keysPath = '/openid/v1/jwks'

interface OpenIdOptions {
  readonly tokens: ServiceAccountTokens
  /** Where the keys are; default: at this server. */
  readonly jwksUri: string | undefined
  /** Host and port that clients reach us at, once that is known. */
  readonly address: string | undefined
}

/** Answers the two paths; undefined for every other. */
export function answerOpenId(
  path: string,
  { tokens, jwksUri: keysUrl, address }: OpenIdOptions,
): WireResponse | undefined {
  const { issuer, keys } = tokens
  if (path === keysPath) return jsonResponse({ keys: keys.published.keys }, 'application/jwk-set+json')
  // Discovery makes sense only where others can follow it.
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
