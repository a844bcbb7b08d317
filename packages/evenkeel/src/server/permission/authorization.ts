/**
 * Which authorizers a server asks: what an option says becomes a chain.
 *
 * Before all others stand two that cannot be taken away: members of `system:masters` may do everything, so that nobody
 * locks themselves out, and everybody may ask whether the server is well.
 */
import { chainAuthorizers } from '../access/access.ts'
import type { AuthorizerChain, Authorizer, SubjectRules } from '../access/access.ts'
import { policyRule } from '../access/policy-rule.ts'
import { webhookAuthorizer } from './webhook/webhook-authorizer.ts'
import type { AuthorizationWebhook, AuthorizationWebhookContext } from './webhook/webhook-authorizer.ts'

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
