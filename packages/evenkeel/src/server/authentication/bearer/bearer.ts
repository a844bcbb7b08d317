/**
 * Callers who show a token.
 *
 * Several kinds of tokens may be known; each is asked in turn, and the first that knows the token decides. A review asks the same
 * way, for audiences of its own.
 */
import type { Authenticator } from '../../authenticate.ts'
import { withAuthenticatedGroup } from '../person.ts'
import { digestOf, isAuthenticatedToken } from './token.ts'
import type {
  TokenAuthenticator,
  RejectedToken,
  AuthenticatedToken,
  TokenReviewRequest,
  TokenReviewResult,
} from './token.ts'

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
