/**
 * What is asked about a bearer token, and what is said.
 */
import { hash } from 'node:crypto'
import type { User } from '../../call.ts'

export interface TokenReviewRequest {
  readonly token: string
  /** Stands for the token wherever tokens are compared or remembered: looking it up takes no time that says anything about others. */
  readonly digest: string
  /** For whom the token has to be; one of them is enough. */
  readonly audiences: readonly string[]
}

/** The token is good, or it is of a kind that is known here and is not. */
export type TokenReviewResult = AuthenticatedToken | RejectedToken

export interface AuthenticatedToken {
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
