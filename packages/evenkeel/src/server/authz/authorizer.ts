/**
 * Authorizers: the attributes of a request, the decision about it, and the chain of authorizers.
 *
 * Attributes are a user, a verb and a resource path. A {@link RequestContext} has them; reviews and impersonation make
 * their own. There is one parser of paths, so a decision is about the object that storage touches.
 */
import type { FieldRequirement, LabelRequirement } from '#api'
import type { PolicyRule } from '@evenkeel/builtins'
import type { ResourcePath } from '#wire'
import type { User } from '../request-context.ts'

/** What an authorizer decides about. Without a resource path it is about a non-resource path. */
export interface AuthorizationAttributes {
  readonly user: User
  /** `get`, `list`, ..., `impersonate`, `escalate`, `bind`, or the method in lower case for other paths. */
  readonly verb: string
  readonly path: string
  /** Also has the name for a collection whose field selector matches a single name. */
  readonly resourcePath:
    | Pick<ResourcePath, 'group' | 'version' | 'resource' | 'subresource' | 'namespace' | 'name'>
    | undefined
  /** The selectors of a list, a watch or the deletion of a collection, for authorizers that support them. */
  readonly fields?: readonly FieldRequirement[]
  readonly labels?: readonly LabelRequirement[]
}

/** A decision: allowed, denied, or no opinion. */
export interface AuthorizationDecision {
  readonly allowed: boolean
  /** The reason, for the client; may be empty. */
  readonly reason: string
  /** Not a denial: the next authorizer decides, and the reason is kept for the final refusal. */
  readonly noOpinion?: true
  /** An error during the decision. Only an allowing decision is valid in spite of it. */
  readonly error?: string
}

/** What a user may do in a namespace, as far as rules can express it. */
export interface SubjectRules {
  readonly rules: readonly PolicyRule[]
  /** The user may have more permissions than the rules show. */
  readonly incomplete: boolean
  /** Errors during the evaluation. */
  readonly errors: readonly string[]
}

/** Allows, denies, or returns undefined for no opinion. */
export interface Authorizer {
  (question: AuthorizationAttributes): AuthorizationDecision | undefined | Promise<AuthorizationDecision | undefined>
  /** For authorizers that decide by rules. Without it a SelfSubjectRulesReview is marked as incomplete. */
  rulesFor?(user: User, namespace: string): SubjectRules
}

/** The authorization stage: all authorizers of a server, in order. */
export interface AuthorizerChain {
  decide(question: AuthorizationAttributes): AuthorizationDecision | Promise<AuthorizationDecision>
  rulesFor(user: User, namespace: string): SubjectRules
}

/** Runs authorizers in order; the first with an opinion decides, and without any the request is denied. */
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
  /** The decisions of authorizers without an opinion. */
  readonly decisions: readonly AuthorizationDecision[]
}

// Most decisions are synchronous, and a promise costs more than they do.
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
