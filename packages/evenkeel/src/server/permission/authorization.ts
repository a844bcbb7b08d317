/**
 * Which authorizers a server asks: what an option says becomes a chain.
 *
 * Before all others stand two that cannot be taken away: members of `system:masters` may do everything, so that nobody
 * locks themselves out, and everybody may ask whether the server is well.
 */
import { askInTurn } from '../access/access.ts'
import type { Access, Authorizer, HeldRules } from '../access/access.ts'
import { policyRule } from '../access/policy-rule.ts'
import { webhookAuthorizer } from './webhook/webhook-authorizer.ts'
import type { AuthorizationWebhook, WebhookSurroundings } from './webhook/webhook-authorizer.ts'

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

interface AuthorizationSurroundings extends WebhookSurroundings {
  readonly rbac: Authorizer
}

/**
 * The door to permission of a server.
 *
 * @throws {RangeError} when nobody is asked at all
 */
export function makeAccess(option: AuthorizationOption, surroundings: AuthorizationSurroundings): Access {
  const modes = isList(option) ? option : [option]
  if (modes.length === 0) throw new RangeError('authorization must name at least one mode')
  return askInTurn([firstOfAll, ...modes.map((mode) => authorizerOf(mode, surroundings))])
}

function isList(option: AuthorizationOption): option is readonly AuthorizationMode[] {
  return Array.isArray(option)
}

function authorizerOf(mode: AuthorizationMode, surroundings: AuthorizationSurroundings): Authorizer {
  if (mode === 'rbac') return surroundings.rbac
  if (mode === 'always-allow') return allowAuthenticated
  if (typeof mode === 'function') return mode
  if (typeof mode === 'object') return webhookAuthorizer(mode.webhook, surroundings)
  throw new RangeError(`authorization must be 'rbac', 'always-allow', a webhook or a function, got ${String(mode)}`)
}

const healthPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/
const yes = { allowed: true, why: '' }
const noRules: HeldRules = { rules: [], incomplete: false, errors: [] }

const firstOfAll: Authorizer = Object.assign(
  ({ user, place, path, verb }: Parameters<Authorizer>[0]) => {
    if (user.groups.includes('system:masters')) return yes
    return place === undefined && (verb === 'get' || verb === 'head') && healthPaths.test(path) ? yes : undefined
  },
  { rulesFor: () => noRules },
)

const allRules: HeldRules = {
  rules: [
    policyRule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }),
    policyRule({ verbs: ['*'], nonResourceURLs: ['*'] }),
  ],
  incomplete: false,
  errors: [],
}

const allowAuthenticated: Authorizer = Object.assign(
  ({ user }: Parameters<Authorizer>[0]) => (user.groups.includes('system:authenticated') ? yes : undefined),
  { rulesFor: () => allRules },
)
