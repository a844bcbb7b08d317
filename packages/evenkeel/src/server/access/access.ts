/**
 * What an authorizer is asked, what it says, and who is asked in which order.
 *
 * A question is about a user, a verb and a place; a {@link Call} is one as it stands, and so is what a review or the
 * check of an impersonation asks. There is one parser of paths: the place is what storage touches.
 */
import type { ResourcePath } from '#wire'
import type { Call, User } from '../call.ts'

/** What is asked. Without a place it is about a path that is not about resources. */
export interface AccessQuestion {
  readonly user: User
  /** `get`, `list`, ..., `impersonate`, `escalate`, `bind`, or the method in lower case for other paths. */
  readonly verb: string
  readonly path: string
  readonly place: Pick<ResourcePath, 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'> | undefined
}

/** What is said: yes, or a no that ends the asking. */
export interface Verdict {
  readonly allowed: boolean
  /** Why, for the caller to read; may be empty. */
  readonly why: string
}

/** Says yes or no, or undefined when it has no opinion. */
export type Authorizer = (question: AccessQuestion) => Verdict | undefined | Promise<Verdict | undefined>

/** The one door to permission: rooms ask it for calls, reviews ask it for others. */
export interface Access {
  decide(question: AccessQuestion): Verdict | Promise<Verdict>
}

/** Asks authorizers in turn; the first that has an opinion decides, and without one the answer is no. */
export function askInTurn(authorizers: readonly Authorizer[]): Access {
  const askFrom = async (question: AccessQuestion, pending: { readonly first: Promise<Verdict | undefined>, readonly index: number }): Promise<Verdict> => {
    const verdict = await pending.first
    if (verdict) return verdict
    for (let index = pending.index + 1; index < authorizers.length; index++) {
      const next = await authorizers[index]?.(question)
      if (next) return next
    }
    return noOpinion
  }
  return {
    decide(question) {
      for (const [index, authorizer] of authorizers.entries()) {
        const asked = authorizer(question)
        if (asked instanceof Promise) return askFrom(question, { first: asked, index })
        if (asked) return asked
      }
      return noOpinion
    },
  }
}

/** Every caller that authenticated may do everything; the health paths are for everybody. */
export const allowAuthenticated: Authorizer = ({ user, place }: Pick<Call, 'user'> & Pick<AccessQuestion, 'place'>) =>
  (user.groups.includes('system:authenticated') || place === undefined ? { allowed: true, why: '' } : undefined)

const noOpinion: Verdict = { allowed: false, why: '' }
