/**
 * Room 3, second half: does the caller want to be somebody else, and may it?
 *
 * Before: `authenticate` said who is calling. After: `authorize` asks whether the one it now is may do this. There are
 * several ways to be allowed, tried from the narrowest to the widest; the first that lets pass decides, and when none
 * does, the first refusal is told. Every part of the wanted user (name, uid, each group, each extra value) has to be allowed by itself.
 *
 *   impersonate:MODE and impersonate-on:MODE:VERB   for what the user is: a node, a service account, anybody else
 *   impersonate                                     for everything, as it has always been
 */
import { forbidden, isForbidden } from '#api'
import type { ApiError } from '#api'
import type { Access, AccessQuestion } from '../../access/access.ts'
import { requireAllowed } from '../../authorize.ts'
import type { Call, User } from '../../call.ts'
import {
  accountGroups,
  anonymousName,
  asAuthenticated,
  nodeNameKey,
  parseAccount,
  parseNode,
  unauthenticatedGroup,
} from '../person.ts'
import { extraProblem } from './extra-problem.ts'
import { wantedUser, withoutWish } from './wanted-user.ts'

/**
 * The call as whom the caller wants to be.
 *
 * @throws {ApiError} `Forbidden`, and `BadRequest` for headers that make no sense.
 */
export async function impersonate(call: Call, access: Access): Promise<Call> {
  const { headers } = call.request
  // Asked for with every request, and almost never there.
  if (!hasWish(headers)) return call
  const wanted = wantedUser(headers)
  if (wanted === undefined) return call
  const user = await allowedUser(call, wanted, access)
  return { ...call, request: withoutWish(call.request), user, impersonator: call.user }
}

function hasWish(headers: Call['request']['headers']): boolean {
  return Object.keys(headers).some((name) => name.startsWith('impersonate-'))
}

/** One way to be allowed. */
interface Mode {
  /** Empty for the widest. */
  readonly name: string
  appliesTo(wanted: User, caller: User): boolean
}

const modes: readonly Mode[] = [
  { name: 'associated-node', appliesTo: (wanted, caller) => isBare(wanted) && isOwnNode(wanted, caller) },
  { name: 'arbitrary-node', appliesTo: (wanted) => isBare(wanted) && parseNode(wanted.name) !== undefined },
  { name: 'serviceaccount', appliesTo: (wanted) => isBare(wanted) && parseAccount(wanted.name) !== undefined },
  { name: 'user-info', appliesTo: ({ name }) => parseNode(name) === undefined && parseAccount(name) === undefined },
  { name: '', appliesTo: () => true },
]

async function allowedUser(call: Call, wanted: User, access: Access): Promise<User> {
  let first: ApiError | undefined
  for (const mode of modes) {
    if (!mode.appliesTo(wanted, call.user)) continue
    try {
      return await tryMode(mode, { call, wanted, access })
    } catch (error) {
      if (!isForbidden(error)) throw error
      first ??= error
    }
  }
  throw first ?? forbidden(undefined, 'all impersonation modes failed')
}

interface Trial {
  readonly call: Call
  readonly wanted: User
  readonly access: Access
}

async function tryMode({ name }: Mode, { call, wanted, access }: Trial): Promise<User> {
  const caller = name === 'associated-node' ? withoutExtra(call.user) : call.user
  if (name !== '') await requireAllowed({ ...call, user: caller, verb: `impersonate-on:${name}:${call.verb}` }, access)
  const verb = name === '' ? 'impersonate' : `impersonate:${name}`
  for (const { problem, ...question } of questionsOf(wanted, { mode: name })) {
    const asked: AccessQuestion = { user: caller, verb, path: call.path, place: question }
    if (problem !== undefined) await requireAllowed(asked, refuse(problem))
    await requireAllowed(asked, access)
  }
  return becomes(wanted, { isNode: name.endsWith('-node') })
}

/** A no of our own, in the words in which all are told. */
function refuse(why: string): Access {
  return { decide: () => ({ allowed: false, why }), rulesFor: () => ({ rules: [], incomplete: false, errors: [] }) }
}

type Place = NonNullable<AccessQuestion['place']> & { readonly problem?: string }

function questionsOf(wanted: User, { mode }: { mode: string }): Place[] {
  const isNarrow = mode !== ''
  const group = isNarrow ? authentication : ''
  const place = (resource: string, name: string, more: Partial<Place> = {}): Place => ({
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
    userPlace(wanted.name, { mode, group }),
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

function userPlace(name: string, { mode, group }: { mode: string; group: string }): Place {
  const place = { group, version: 'v1', subresource: '' }
  const account = parseAccount(name)
  if (account) return { ...place, resource: 'serviceaccounts', namespace: account.namespace, name: account.name }
  const node = mode === '' ? undefined : parseNode(name)
  if (node === undefined) return { ...place, resource: 'users', namespace: '', name }
  return { ...place, resource: 'nodes', namespace: '', name: mode === 'associated-node' ? '*' : node }
}

function groupProblem(name: string): { problem?: string } {
  if (name === '') return { problem: 'impersonating the empty string group is not allowed' }
  return name === 'system:masters' ? { problem: 'impersonating the system:masters group is not allowed' } : {}
}

/** The wanted user, in the groups that follow from its name. */
function becomes(wanted: User, { isNode }: { isNode: boolean }): User {
  const account = parseAccount(wanted.name)
  const known = isNode ? ['system:nodes'] : account && accountGroups(account.namespace)
  const user = wanted.groups.length === 0 && known ? { ...wanted, groups: known } : wanted
  if (user.name !== anonymousName) return asAuthenticated(user)
  return user.groups.includes(unauthenticatedGroup) ? user : { ...user, groups: [...user.groups, unauthenticatedGroup] }
}

function isBare({ uid, groups, extra }: User): boolean {
  return uid === undefined && groups.length === 0 && extra === undefined
}

/** A service account wants to be the node that its pod runs on. */
function isOwnNode(wanted: User, { name, extra = {} }: User): boolean {
  const [node, ...more] = extra[nodeNameKey] ?? []
  return more.length === 0 && node !== undefined && node === parseNode(wanted.name) && parseAccount(name) !== undefined
}

/** The right to be one's own node is the same on every node: what differs from pod to pod is not shown to authorizers. */
function withoutExtra(user: User): User {
  return {
    ...user,
    extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra ?? {}).sort() },
  }
}
