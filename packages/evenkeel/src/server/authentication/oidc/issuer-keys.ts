/**
 * The keys of an issuer, fetched when the first of its tokens comes, and again when one names a key that is not known.
 *
 * Invariants: however many tokens come, at most one fetch is under way, and one begins at most every ten seconds: a
 * token with an invented key costs the issuer nothing. What was fetched stays good when the issuer cannot be reached.
 */
import { isJsonObject } from '#api'
import type { JsonValue } from '#api'
import type { Clock, Logger } from '#base'
import { httpsUrl, HttpsJsonClient } from '../ask-outside.ts'
import type { HttpsJsonOptions } from '../ask-outside.ts'
import { readKeySet } from '../jwt/public-key.ts'
import type { PublicKey } from '../jwt/public-key.ts'
import type { OidcIssuer } from './oidc-issuer.ts'

interface IssuerKeysContext extends HttpsJsonOptions {
  readonly clock: Clock
  readonly log: Logger
}

const fetchEveryMs = 10_000

export class IssuerKeys {
  readonly #issuer: OidcIssuer
  readonly #context: IssuerKeysContext
  readonly #calls: HttpsJsonClient
  readonly #discovery: URL
  #keys: readonly PublicKey[] = []
  #nextFetchMs = Number.NEGATIVE_INFINITY
  #fetching: Promise<void> | undefined

  /** @throws {RangeError} when an address is not https. */
  constructor(issuer: OidcIssuer, context: IssuerKeysContext) {
    this.#issuer = issuer
    this.#context = context
    this.#calls = new HttpsJsonClient({ ...context, caPem: issuer.caPem })
    httpsUrl(issuer.url, 'the url of an OpenID issuer')
    this.#discovery = httpsUrl(
      issuer.discoveryUrl ?? `${issuer.url.replace(/\/$/, '')}/.well-known/openid-configuration`,
      'the discoveryUrl of an OpenID issuer',
    )
  }

  /** The keys that a token may have been signed with. */
  async find(id: string): Promise<readonly PublicKey[]> {
    const known = this.#named(id)
    if (known.length > 0) return known
    await this.#fetch()
    return this.#named(id)
  }

  #named(id: string): readonly PublicKey[] {
    return id === '' ? this.#keys : this.#keys.filter((key) => key.id === id)
  }

  #fetch(): Promise<void> {
    const { clock } = this.#context
    if (!this.#fetching && clock.monotonic() < this.#nextFetchMs) return Promise.resolve()
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined
      this.#nextFetchMs = clock.monotonic() + fetchEveryMs
    })
    return this.#fetching
  }

  async #fetchNow(): Promise<void> {
    try {
      const keysUrl = this.#keysUrl(await this.#calls.request(this.#discovery))
      this.#keys = readKeySet(await this.#calls.request(keysUrl))
    } catch (error) {
      this.#context.log.error('the keys of an OpenID issuer cannot be fetched', {
        issuer: this.#issuer.url,
        error,
      })
    }
  }

  #keysUrl(document: JsonValue): URL {
    const { issuer, jwks_uri: address } = isJsonObject(document) ? document : {}
    if (issuer !== this.#issuer.url) throw new Error('the document found at the issuer is of another issuer')
    return httpsUrl(typeof address === 'string' ? address : '', 'jwks_uri')
  }
}
