/**
 * What an authorizer is asked, what it says, and who is asked in which order.
 *
 * A question is about a user, a verb and a place; a {@link Call} is one as it stands, and so is what a review or the
 * check of an impersonation asks. There is one parser of paths: the place is what storage touches.
 */
import type { FieldRequirement, LabelRequirement } from '#api'
import { policyRule, type PolicyRule } from '#builtins'
import type { ResourcePath } from '#wire'
import type { User } from '../request-context.ts'
import { webhookAuthorizer, type AuthorizationWebhook, type AuthorizationWebhookContext } from './webhook-authorizer.ts'

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

/** The one door to permission: rooms ask it for calls, reviews ask it for others. */
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

/*
 * Which authorizers a server asks: what an option says becomes a chain.
 *
 * Before all others stand two that cannot be taken away: members of `system:masters` may do everything, so that nobody
 * locks themselves out, and everybody may ask whether the server is well.
 */

/**
 * Who decides what callers may do.
 *
 * - `rbac`: Roles, ClusterRoles and their bindings.
 * - `always-allow`: everybody who authenticated may do everything.
 * - a webhook that is sent SubjectAccessReviews.
 * - a function of yours.
 */
export type AuthorizationMode = 'rbac' | 'always-allow' | { readonly webhook: AuthorizationWebhook } | Authorizer

/** One mode, or several: they are asked in order, and the first that has an opinion decides. */
export type AuthorizationOption = AuthorizationMode | readonly AuthorizationMode[]

interface AuthorizationContext extends AuthorizationWebhookContext {
  readonly rbac: Authorizer
}

/**
 * The door to permission of a server.
 *
 * @throws {RangeError} when nobody is asked at all
 */
export function makeAuthorizer(option: AuthorizationOption, context: AuthorizationContext): AuthorizerChain {
  const modes = isList(option) ? option : [option]
  if (modes.length === 0) throw new RangeError('authorization must name at least one mode')
  return chainAuthorizers([systemAuthorizer, ...modes.map((mode) => authorizerOf(mode, context))])
}

function isList(option: AuthorizationOption): option is readonly AuthorizationMode[] {
  return Array.isArray(option)
}

function authorizerOf(mode: AuthorizationMode, context: AuthorizationContext): Authorizer {
  if (mode === 'rbac') return context.rbac
  if (mode === 'always-allow') return allowAuthenticated
  if (typeof mode === 'function') return mode
  if (typeof mode === 'object') return webhookAuthorizer(mode.webhook, context)
  throw new RangeError(`authorization must be 'rbac', 'always-allow', a webhook or a function, got ${String(mode)}`)
}

const healthPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/
const allowedDecision = { allowed: true, reason: '' }
const noRules: SubjectRules = { rules: [], incomplete: false, errors: [] }

const systemAuthorizer: Authorizer = Object.assign(
  ({ user, resourcePath: place, path, verb }: Parameters<Authorizer>[0]) => {
    if (user.groups.includes('system:masters')) return allowedDecision
    return place === undefined && (verb === 'get' || verb === 'head') && healthPaths.test(path)
      ? allowedDecision
      : undefined
  },
  { rulesFor: () => noRules },
)

const allRules: SubjectRules = {
  rules: [
    policyRule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }),
    policyRule({ verbs: ['*'], nonResourceURLs: ['*'] }),
  ],
  incomplete: false,
  errors: [],
}

const allowAuthenticated: Authorizer = Object.assign(
  ({ user }: Parameters<Authorizer>[0]) => (user.groups.includes('system:authenticated') ? allowedDecision : undefined),
  { rulesFor: () => allRules },
)
