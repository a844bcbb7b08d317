/**
 * Authorizers: the attributes of a request, the decision about it, and the chain in which authorizers are asked.
 *
 * Attributes are a user, a verb and a resource path. A {@link RequestContext} has them; reviews and impersonation make
 * their own. There is one parser of paths, so a decision is about the object that storage touches.
 */
import type { FieldRequirement, LabelRequirement } from '#api'
import type { PolicyRule } from '#builtins'
import type { ResourcePath } from '#wire'
import type { User } from '../request-context.ts'

/** What is asked. Without a place it is about a path that is not about resources. */
export interface AuthorizationAttributes {
  readonly user: User
  /** `get`, `list`, ..., `impersonate`, `escalate`, `bind`, or the method in lower case for other paths. */
  readonly verb: string
  readonly path: string
  /** The name is also that of a collection whose field selector lets only one name through. */
  readonly resourcePath:
    | Pick<ResourcePath, 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'>
    | undefined
  /** What narrows a list, a watch or the deletion of a collection; for authorizers that look at it. */
  readonly fields?: readonly FieldRequirement[]
  readonly labels?: readonly LabelRequirement[]
}

/** What is said: yes, or a no that ends the asking. */
export interface AuthorizationDecision {
  readonly allowed: boolean
  /** Why, for the caller to read; may be empty. */
  readonly reason: string
  /** A no for want of a yes: others are asked, and what is said here is kept for the end. */
  readonly noOpinion?: true
  /** What went wrong while deciding. Only a yes holds in spite of it. */
  readonly error?: string
}

/** What somebody may do in a namespace, as far as it can be said in rules. */
export interface SubjectRules {
  readonly rules: readonly PolicyRule[]
  /** There may be more that is allowed than the rules say. */
  readonly incomplete: boolean
  /** What could not be found out. */
  readonly errors: readonly string[]
}

/** Says yes or no, or undefined when it has no opinion. */
export interface Authorizer {
  (question: AuthorizationAttributes): AuthorizationDecision | undefined | Promise<AuthorizationDecision | undefined>
  /** For those whose decisions follow from rules. Without it the answer to "what may I do" is marked as incomplete. */
  rulesFor?(user: User, namespace: string): SubjectRules
}

/** The authorization stage: all authorizers of a server, in order. */
export interface AuthorizerChain {
  decide(question: AuthorizationAttributes): AuthorizationDecision | Promise<AuthorizationDecision>
  rulesFor(user: User, namespace: string): SubjectRules
}

/** Asks authorizers in turn; the first that has an opinion decides, and without one the answer is no. */
export function chainAuthorizers(authorizers: readonly Authorizer[]): AuthorizerChain {
  return {
    decide: (question) => decideFrom(question, { authorizers, next: 0, decisions: [] }),
    rulesFor(user, namespace) {
      const held = authorizers.map((authorizer) => authorizer.rulesFor?.(user, namespace) ?? unknownRules)
      return {
        rules: held.flatMap(({ rules }) => rules),
        incomplete: held.some(({ incomplete }) => incomplete),
        errors: held.flatMap(({ errors }) => errors),
      }
    },
  }
}

interface ChainState {
  readonly authorizers: readonly Authorizer[]
  readonly next: number
  /** By those who had no opinion. */
  readonly decisions: readonly AuthorizationDecision[]
}

// Most decisions wait for nobody, and a promise costs more than they do.
function decideFrom(
  question: AuthorizationAttributes,
  { authorizers, next, decisions: said }: ChainState,
): AuthorizationDecision | Promise<AuthorizationDecision> {
  let heard = said
  for (let index = next; index < authorizers.length; index++) {
    const asked = authorizers[index]?.(question)
    if (asked instanceof Promise)
      return continueAfter(question, asked, { authorizers, next: index + 1, decisions: heard })
    if (isDecided(asked)) return asked
    if (asked) heard = [...heard, asked]
  }
  return heard.length === 0 ? noOpinion : joinDecisions(heard)
}

async function continueAfter(
  question: AuthorizationAttributes,
  asked: Promise<AuthorizationDecision | undefined>,
  asking: ChainState,
): Promise<AuthorizationDecision> {
  const verdict = await asked
  if (isDecided(verdict)) return verdict
  return decideFrom(question, { ...asking, decisions: verdict ? [...asking.decisions, verdict] : asking.decisions })
}

function isDecided(verdict: AuthorizationDecision | undefined): verdict is AuthorizationDecision {
  return verdict !== undefined && !verdict.noOpinion
}

function joinDecisions(said: readonly AuthorizationDecision[]): AuthorizationDecision {
  const why = said
    .map((verdict) => verdict.reason)
    .filter((text) => text !== '')
    .join('\n')
  const errors = said.flatMap(({ error }) => error ?? [])
  return { allowed: false, noOpinion: true, reason: why, ...(errors.length > 0 && { error: formatErrors(errors) }) }
}

/** Several errors as one text, in the form clients know. */
export function formatErrors(errors: readonly string[]): string {
  const [first = '', ...others] = new Set(errors)
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`
}

const noOpinion: AuthorizationDecision = { allowed: false, noOpinion: true, reason: '' }
const unknownRules: SubjectRules = { rules: [], incomplete: true, errors: [] }
