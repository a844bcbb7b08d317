/**
 * Tokens that were agreed on beforehand: each stands for a user.
 */
import type { User } from '../../call.ts'
import { withAuthenticatedGroup } from '../person.ts'
import { commonAudiences, digestOf } from './token.ts'
import type { TokenAuthenticator } from './token.ts'

export interface StaticToken {
  readonly token: string
  readonly user: User
}

/** Knows the given tokens. They say nothing of audiences: they are for this server. */
export function staticTokens(tokens: readonly StaticToken[], ownAudiences: readonly string[]): TokenAuthenticator {
  const users = new Map(tokens.map(({ token, user }) => [digestOf(token), withAuthenticatedGroup(user)]))
  return ({ digest, audiences }) => {
    const user = users.get(digest)
    if (!user) return undefined
    const common = commonAudiences(audiences, ownAudiences)
    return common.length === 0 ? undefined : { user, audiences: common }
  }
}
