/**
 * The authorization modes of a server: an option becomes a chain of authorizers.
 *
 * Two authorizers always come first: members of `system:masters` may do everything, so that no configuration locks the
 * administrator out, and every client may read the health paths.
 */
import { policyRule } from '@evenkeel/builtins'
import { chainAuthorizers, type Authorizer, type AuthorizerChain, type SubjectRules } from './authorizer.ts'
import { webhookAuthorizer, type AuthorizationWebhook, type AuthorizationWebhookContext } from './webhook-authorizer.ts'

/**
 * How requests are authorized.
 *
 * - `rbac`: Roles, ClusterRoles and their bindings.
 * - `always-allow`: every authenticated user may do everything.
 * - a webhook that is sent SubjectAccessReviews.
 * - a function of the embedding program.
 */
export type AuthorizationMode = 'rbac' | 'always-allow' | { readonly webhook: AuthorizationWebhook } | Authorizer

/** One mode, or several in order: the first with an opinion decides. */
export type AuthorizationOption = AuthorizationMode | readonly AuthorizationMode[]

interface AuthorizationContext extends AuthorizationWebhookContext {
  readonly rbac: Authorizer
}

/**
 * The authorizer chain of a server.
 *
 * @throws {RangeError} when there is no mode
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
