/**
 * Bearer tokens: authenticators of several kinds in a chain, and a cache for those that use the network.
 *
 * The first authenticator that recognizes a token decides. A TokenReview uses the same chain with audiences of its own.
 *
 * Invariant of the cache: it is bounded, and no entry outlives its time to live.
 */
import { hash } from 'node:crypto'
import type { Clock } from '#base'
import { webSocketToken } from '#wire'
import type { Authenticator, User } from '../request-context.ts'
import { withAuthenticatedGroup } from './user.ts'

export class BearerTokenAuthenticator {
  readonly #kinds: readonly TokenAuthenticator[]
  /** The audiences of this server. */
  readonly audiences: readonly string[]

  constructor(kinds: readonly TokenAuthenticator[], audiences: readonly string[]) {
    this.#kinds = kinds
    this.audiences = audiences
  }

  /** The user of a token, or why it is not accepted. */
  review(token: string, audiences: readonly string[] = this.audiences): TokenReviewResult | Promise<TokenReviewResult> {
    return this.#ask({ token, digest: digestOf(token), audiences }, { next: 0, errors: [] })
  }

  /** Authenticates requests by the token in the `authorization` header, or in a subprotocol of a WebSocket. */
  get authenticator(): Authenticator {
    return ({ request: { headers } }) => {
      const token = bearerOf(headers['authorization']) || webSocketToken(headers)
      if (token === '') return undefined
      const asked = this.review(token)
      return asked instanceof Promise ? asked.then(userOf) : userOf(asked)
    }
  }

  // Most tokens are verified synchronously, and a promise costs more than that.
  #ask(
    question: TokenReviewRequest,
    { next, errors }: { next: number; errors: readonly string[] },
  ): TokenReviewResult | Promise<TokenReviewResult> {
    let heard = errors
    for (let index = next; index < this.#kinds.length; index++) {
      const asked = this.#kinds[index]?.(question)
      if (asked instanceof Promise) return this.#goOn(question, asked, { next: index + 1, errors: heard })
      if (asked && isAuthenticatedToken(asked)) return recognized(asked)
      if (asked) heard = [...heard, asked.error]
    }
    return refused(heard)
  }

  async #goOn(
    question: TokenReviewRequest,
    asked: Promise<TokenReviewResult | undefined>,
    { next, errors }: { next: number; errors: readonly string[] },
  ): Promise<TokenReviewResult> {
    const verdict = await asked
    if (verdict && isAuthenticatedToken(verdict)) return recognized(verdict)
    return this.#ask(question, { next, errors: verdict ? [...errors, verdict.error] : errors })
  }
}

/** The usual spelling of the scheme. */
const usual = 'Bearer '

/** The token of a header; empty when there is none. */
function bearerOf(header: string | undefined): string {
  if (header === undefined) return ''
  if (header.startsWith(usual) && !header.includes(' ', usual.length)) return header.slice(usual.length)
  const [scheme = '', token = ''] = header.trim().split(' ', 2)
  return scheme.toLowerCase() === 'bearer' ? token : ''
}

function userOf(verdict: TokenReviewResult): AuthenticatedToken['user'] | undefined {
  return isAuthenticatedToken(verdict) ? verdict.user : undefined
}

function recognized(verdict: AuthenticatedToken): AuthenticatedToken {
  const user = withAuthenticatedGroup(verdict.user)
  return user === verdict.user ? verdict : { ...verdict, user }
}

function refused(errors: readonly string[]): RejectedToken {
  return { error: errors.length === 0 ? invalidToken : `[${[invalidToken, ...errors].join(', ')}]` }
}

const invalidToken = 'invalid bearer token'

export interface TokenReviewRequest {
  readonly token: string
  /** A hash of the token, for comparisons and cache keys: a lookup does not leak other tokens by its timing. */
  readonly digest: string
  /** The accepted audiences; the token must have one of them. */
  readonly audiences: readonly string[]
}

/** The user of a valid token, or the error of a token of a known kind. */
export type TokenReviewResult = AuthenticatedToken | RejectedToken

interface AuthenticatedToken {
  readonly user: User
  /** The requested audiences that the token has. */
  readonly audiences: readonly string[]
}

export interface RejectedToken {
  readonly error: string
}

/** Returns the user of a token; undefined for a token of another kind. */
export type TokenAuthenticator = (
  question: TokenReviewRequest,
) => TokenReviewResult | undefined | Promise<TokenReviewResult | undefined>

export function isAuthenticatedToken(verdict: TokenReviewResult): verdict is AuthenticatedToken {
  return 'user' in verdict
}

export function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}

/** The wanted audiences that a token has. */
export function commonAudiences(wanted: readonly string[], has: readonly string[]): readonly string[] {
  // Requests, unlike reviews, always want the same audiences.
  return wanted === has ? has : has.filter((one) => wanted.includes(one))
}

/** The error for a token with other audiences. */
export function wrongAudience(has: readonly string[], wanted: readonly string[]): RejectedToken {
  return { error: `token audiences ${quoted(has)} is invalid for the target audiences ${quoted(wanted)}` }
}

function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`
}

// The cache of remote decisions.

const entriesMax = 4096

interface TokenCacheEntry {
  readonly verdict: TokenReviewResult | undefined
  readonly untilMs: number
}

export class TokenCache {
  readonly #clock: Clock
  readonly #entries = new Map<string, TokenCacheEntry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A cached result, if any. */
  get(question: TokenReviewRequest): { readonly verdict: TokenReviewResult | undefined } | undefined {
    const key = keyOf(question)
    const entry = this.#entries.get(key)
    if (entry === undefined || this.#clock.now() < entry.untilMs) return entry
    this.#entries.delete(key)
    return undefined
  }

  set(question: TokenReviewRequest, verdict: TokenReviewResult | undefined, untilMs: number): void {
    const [oldest] = this.#entries.keys()
    if (this.#entries.size >= entriesMax && oldest !== undefined) this.#entries.delete(oldest)
    this.#entries.set(keyOf(question), { verdict, untilMs })
  }
}

function keyOf({ digest, audiences }: TokenReviewRequest): string {
  return `${digest} ${audiences.join('\n')}`
}
