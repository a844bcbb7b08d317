/**
 * Callers who show a token.
 *
 * Several kinds of tokens may be known; each is asked in turn, and the first that knows the token decides. A review asks the same
 * way, for audiences of its own.
 */
import type { Authenticator } from '../../authenticate.ts'
import { asAuthenticated } from '../person.ts'
import { digestOf, isGood } from './token.ts'
import type { TokenAuthenticator, TokenBad, TokenGood, TokenQuestion, TokenVerdict } from './token.ts'

export class BearerTokens {
  readonly #kinds: readonly TokenAuthenticator[]
  /** Who this server is, to those who make tokens. */
  readonly audiences: readonly string[]

  constructor(kinds: readonly TokenAuthenticator[], audiences: readonly string[]) {
    this.#kinds = kinds
    this.audiences = audiences
  }

  /** Says whose token it is, or why it is nobody's. */
  review(token: string, audiences: readonly string[] = this.audiences): TokenVerdict | Promise<TokenVerdict> {
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
    question: TokenQuestion,
    { next, errors }: { next: number; errors: readonly string[] },
  ): TokenVerdict | Promise<TokenVerdict> {
    let heard = errors
    for (let index = next; index < this.#kinds.length; index++) {
      const asked = this.#kinds[index]?.(question)
      if (asked instanceof Promise) return this.#goOn(question, asked, { next: index + 1, errors: heard })
      if (asked && isGood(asked)) return recognized(asked)
      if (asked) heard = [...heard, asked.error]
    }
    return refused(heard)
  }

  async #goOn(
    question: TokenQuestion,
    asked: Promise<TokenVerdict | undefined>,
    { next, errors }: { next: number; errors: readonly string[] },
  ): Promise<TokenVerdict> {
    const verdict = await asked
    if (verdict && isGood(verdict)) return recognized(verdict)
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

function userOf(verdict: TokenVerdict): TokenGood['user'] | undefined {
  return isGood(verdict) ? verdict.user : undefined
}

function recognized(verdict: TokenGood): TokenGood {
  const user = asAuthenticated(verdict.user)
  return user === verdict.user ? verdict : { ...verdict, user }
}

function refused(errors: readonly string[]): TokenBad {
  return { error: errors.length === 0 ? unknown : `[${[unknown, ...errors].join(', ')}]` }
}

const unknown = 'invalid bearer token'
