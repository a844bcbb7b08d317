/**
 * Impersonation: a request whose headers ask to act as another user, group or service account.
 *
 * There are several kinds of permission, tried from the narrowest to the widest. The first that allows decides; if
 * none does, the first refusal is the error. Every part of the wanted user (name, uid, each group, each extra value)
 * must be allowed by itself.
 *
 *   impersonate:MODE and impersonate-on:MODE:VERB   for the kind of user: a node, a service account, any other
 *   impersonate                                     for every user, the original permission
 */
import { badRequest, checkDnsSubdomain, forbidden, isForbidden, setOwn, type ApiError } from '#api'
import type { WireHeaders, WireRequest } from '#wire'
import { requireAllowed } from '../authz/authorize.ts'
import type { AuthorizationAttributes, AuthorizerChain } from '../authz/authorizer.ts'
import { ChangedRequest, type RequestContext, type User } from '../request-context.ts'
import { extraFromHeaders } from './front-proxy.ts'
import {
  anonymousName,
  nodeNameKey,
  parseNodeName,
  parseServiceAccount,
  serviceAccountGroups,
  unauthenticatedGroup,
  withAuthenticatedGroup,
} from './user.ts'

/**
 * The request with the impersonated user.
 *
 * @throws {ApiError} `Forbidden`, and `BadRequest` for invalid headers.
 */
export async function impersonate(context: RequestContext, authorizer: AuthorizerChain): Promise<RequestContext> {
  const { headers } = context.request
  // Runs for every request; impersonation is rare.
  if (!wantsImpersonation(headers)) return context
  const wanted = requestedUser(headers)
  if (wanted === undefined) return context
  const user = await allowedUser(context, wanted, authorizer)
  return { ...context, request: withoutImpersonationHeaders(context.request), user, impersonator: context.user }
}

function wantsImpersonation(headers: RequestContext['request']['headers']): boolean {
  return Object.keys(headers).some((name) => name.startsWith('impersonate-'))
}

/** One mode of impersonation. */
interface ImpersonationMode {
  /** Empty for the original permission. */
  readonly name: string
  appliesTo(wanted: User, caller: User): boolean
}

const impersonationModes: readonly ImpersonationMode[] = [
  { name: 'associated-node', appliesTo: (wanted, caller) => hasOnlyName(wanted) && isOwnNode(wanted, caller) },
  { name: 'arbitrary-node', appliesTo: (wanted) => hasOnlyName(wanted) && parseNodeName(wanted.name) !== undefined },
  {
    name: 'serviceaccount',
    appliesTo: (wanted) => hasOnlyName(wanted) && parseServiceAccount(wanted.name) !== undefined,
  },
  {
    name: 'user-info',
    appliesTo: ({ name }) => parseNodeName(name) === undefined && parseServiceAccount(name) === undefined,
  },
  { name: '', appliesTo: () => true },
]

async function allowedUser(context: RequestContext, wanted: User, authorizer: AuthorizerChain): Promise<User> {
  let first: ApiError | undefined
  for (const mode of impersonationModes) {
    if (!mode.appliesTo(wanted, context.user)) continue
    try {
      return await tryMode(mode, { context, wanted, authorizer })
    } catch (error) {
      if (!isForbidden(error)) throw error
      first ??= error
    }
  }
  throw first ?? forbidden(undefined, 'all impersonation modes failed')
}

interface ImpersonationAttempt {
  readonly context: RequestContext
  readonly wanted: User
  readonly authorizer: AuthorizerChain
}

async function tryMode(
  { name }: ImpersonationMode,
  { context, wanted, authorizer }: ImpersonationAttempt,
): Promise<User> {
  const caller = name === 'associated-node' ? withoutExtra(context.user) : context.user
  if (name !== '')
    await requireAllowed({ ...context, user: caller, verb: `impersonate-on:${name}:${context.verb}` }, authorizer)
  const verb = name === '' ? 'impersonate' : `impersonate:${name}`
  for (const { problem, ...question } of impersonationChecks(wanted, { mode: name })) {
    const asked: AuthorizationAttributes = { user: caller, verb, path: context.path, resourcePath: question }
    if (problem !== undefined) await requireAllowed(asked, refuse(problem))
    await requireAllowed(asked, authorizer)
  }
  return impersonatedUser(wanted, { isNode: name.endsWith('-node') })
}

/** A refusal by this stage, with the usual text of `Forbidden`. */
function refuse(why: string): AuthorizerChain {
  return {
    decide: () => ({ allowed: false, reason: why }),
    rulesFor: () => ({ rules: [], incomplete: false, errors: [] }),
  }
}

type ImpersonationAttributes = NonNullable<AuthorizationAttributes['resourcePath']> & { readonly problem?: string }

function impersonationChecks(wanted: User, { mode }: { mode: string }): ImpersonationAttributes[] {
  const isNarrow = mode !== ''
  const group = isNarrow ? authentication : ''
  const place = (
    resource: string,
    name: string,
    more: Partial<ImpersonationAttributes> = {},
  ): ImpersonationAttributes => ({
    group: authentication,
    version: 'v1',
    resource,
    subresource: '',
    namespace: '',
    name,
    ...more,
  })
  const extra = Object.entries(wanted.extra ?? {})
  return [
    userAttributes(wanted.name, { mode, group }),
    ...(wanted.uid === undefined ? [] : [place('uids', wanted.uid)]),
    ...wanted.groups.map((name) => place('groups', name, { group, ...(isNarrow && groupProblem(name)) })),
    ...extra.flatMap(([key, values]) =>
      values.map((value) =>
        place('userextras', value, { subresource: key, ...(isNarrow && extraProblem(key, value)) }),
      ),
    ),
  ]
}

const authentication = 'authentication.k8s.io'

function userAttributes(name: string, { mode, group }: { mode: string; group: string }): ImpersonationAttributes {
  const place = { group, version: 'v1', subresource: '' }
  const account = parseServiceAccount(name)
  if (account) return { ...place, resource: 'serviceaccounts', namespace: account.namespace, name: account.name }
  const node = mode === '' ? undefined : parseNodeName(name)
  if (node === undefined) return { ...place, resource: 'users', namespace: '', name }
  return { ...place, resource: 'nodes', namespace: '', name: mode === 'associated-node' ? '*' : node }
}

function groupProblem(name: string): { problem?: string } {
  if (name === '') return { problem: 'impersonating the empty string group is not allowed' }
  return name === 'system:masters' ? { problem: 'impersonating the system:masters group is not allowed' } : {}
}

/** The impersonated user with its implied groups. */
function impersonatedUser(wanted: User, { isNode }: { isNode: boolean }): User {
  const account = parseServiceAccount(wanted.name)
  const known = isNode ? ['system:nodes'] : account && serviceAccountGroups(account.namespace)
  const user = wanted.groups.length === 0 && known ? { ...wanted, groups: known } : wanted
  if (user.name !== anonymousName) return withAuthenticatedGroup(user)
  return user.groups.includes(unauthenticatedGroup) ? user : { ...user, groups: [...user.groups, unauthenticatedGroup] }
}

function hasOnlyName({ uid, groups, extra }: User): boolean {
  return uid === undefined && groups.length === 0 && extra === undefined
}

/** Whether a service account impersonates the node of its Pod. */
function isOwnNode(wanted: User, { name, extra = {} }: User): boolean {
  const [node, ...more] = extra[nodeNameKey] ?? []
  return (
    more.length === 0 &&
    node !== undefined &&
    node === parseNodeName(wanted.name) &&
    parseServiceAccount(name) !== undefined
  )
}

/**
 * The permission to impersonate the own node is the same on every node, so authorizers do not see the values that
 * differ from Pod to Pod.
 */
function withoutExtra(user: User): User {
  return {
    ...user,
    extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra ?? {}).sort() },
  }
}

const prefix = 'impersonate-'
const extraPrefix = 'impersonate-extra-'

/**
 * The impersonated user, or undefined without impersonation.
 *
 * @throws {ApiError} `BadRequest`, for groups, a uid or extra without a name.
 */
function requestedUser(headers: WireHeaders): User | undefined {
  const name = firstOf(headers['impersonate-user'])
  const uid = firstOf(headers['impersonate-uid'])
  const groups = headers['impersonate-group']?.split('\n') ?? []
  const extra = extraFromHeaders(headers, extraPrefix)
  if (name !== '') return { name, groups, ...(uid !== '' && { uid }), ...(extra && { extra }) }
  if (uid === '' && groups.length === 0 && extra === undefined) return undefined
  throw badRequest(
    `requested ${describe({ name, uid, groups, ...(extra && { extra }) })} without impersonating a user name`,
  )
}

/** The request without its impersonation headers, so that no later stage acts on them. */
function withoutImpersonationHeaders(request: WireRequest): WireRequest {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers))
    if (!name.startsWith(prefix)) setOwn(headers, name, value)
  return new ChangedRequest(request, { headers })
}

function firstOf(value: string | undefined): string {
  return value?.split('\n', 1)[0] ?? ''
}

/** The user in upstream's text form. */
function describe({ name, uid = '', groups, extra }: User): string {
  const list = (texts: readonly string[]): string => `[]string{${texts.map((text) => JSON.stringify(text)).join(', ')}}`
  const written =
    extra === undefined
      ? '(nil)'
      : `{${Object.entries(extra)
          .map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`)
          .join(', ')}}`
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${groups.length === 0 ? '[]string(nil)' : list(groups)}, Extra:map[string][]string${written}}`
}

const pathText = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

/** Keys are `domain/path` in lower case; neither key nor value is empty. */
function extraProblem(key: string, value: string): { problem?: string } {
  if (key === '') return { problem: 'impersonating the empty string key in extra is not allowed' }
  const at = key.indexOf('/')
  const [domain, path] = [key.slice(0, Math.max(at, 0)), key.slice(at + 1)]
  if (at <= 0 || checkDnsSubdomain(domain).length > 0 || !pathText.test(path))
    return {
      problem: `impersonating an invalid key in extra is not allowed: extra.key: Invalid value: ${JSON.stringify(key)}: must be a domain-prefixed path (such as "acme.io/foo")`,
    }
  if (key !== key.toLowerCase())
    return { problem: `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}` }
  return value === '' ? { problem: 'impersonating the empty string value in extra is not allowed' } : {}
}
