/**
 * Callers who show a token.
 *
 * Several kinds of tokens may be known; each is asked in turn, and the first that knows the token decides. A review asks the same
 * way, for audiences of its own.
 */
import { hash } from 'node:crypto'
import type { Clock } from '#base'
import type { Authenticator, User } from '../request-context.ts'
import { withAuthenticatedGroup } from './user.ts'

export class BearerTokenAuthenticator {
  readonly #kinds: readonly TokenAuthenticator[]
  /** Who this server is, to those who make tokens. */
  readonly audiences: readonly string[]

  constructor(kinds: readonly TokenAuthenticator[], audiences: readonly string[]) {
    this.#kinds = kinds
    this.audiences = audiences
  }

  /** Says whose token it is, or why it is nobody's. */
  review(token: string, audiences: readonly string[] = this.audiences): TokenReviewResult | Promise<TokenReviewResult> {
    return this.#ask({ token, digest: digestOf(token), audiences }, { next: 0, errors: [] })
  }

  /** Knows callers by the token in the `authorization` header. */
  get authenticator(): Authenticator {
    return ({ request: { headers } }) => {
      const token = bearerOf(headers['authorization'])
      if (token === '') return undefined
      const asked = this.review(token)
      return asked instanceof Promise ? asked.then(userOf) : userOf(asked)
    }
  }

  // Most tokens are known without waiting, and a promise costs more than knowing them.
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

/** How nearly everybody writes it. */
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

/*
 * What is asked about a bearer token, and what is said.
 */

export interface TokenReviewRequest {
  readonly token: string
  /** Stands for the token wherever tokens are compared or remembered: looking it up takes no time that says anything about others. */
  readonly digest: string
  /** For whom the token has to be; one of them is enough. */
  readonly audiences: readonly string[]
}

/** The token is good, or it is of a kind that is known here and is not. */
export type TokenReviewResult = AuthenticatedToken | RejectedToken

interface AuthenticatedToken {
  readonly user: User
  /** Those of the question that it is for. */
  readonly audiences: readonly string[]
}

export interface RejectedToken {
  readonly error: string
}

/** Says whose token it is; undefined when it is none of its kind. */
export type TokenAuthenticator = (
  question: TokenReviewRequest,
) => TokenReviewResult | undefined | Promise<TokenReviewResult | undefined>

export function isAuthenticatedToken(verdict: TokenReviewResult): verdict is AuthenticatedToken {
  return 'user' in verdict
}

export function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}

/** Those of the wanted audiences that a token is for. */
export function commonAudiences(wanted: readonly string[], has: readonly string[]): readonly string[] {
  // Callers, unlike reviews, always want the same.
  return wanted === has ? has : has.filter((one) => wanted.includes(one))
}

/** What is said to who shows a token for others. */
export function wrongAudience(has: readonly string[], wanted: readonly string[]): RejectedToken {
  return { error: `token audiences ${quoted(has)} is invalid for the target audiences ${quoted(wanted)}` }
}

function quoted(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`
}

/*
 * What was found out about tokens that others answer for, for a little while.
 *
 * Invariant: bounded, and nothing is believed for longer than it was meant to be.
 */

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

  /** What is known; undefined when nothing is. */
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
