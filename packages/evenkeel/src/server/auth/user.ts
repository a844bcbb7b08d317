/**
 * Names of users and groups: authenticated users, service accounts and their groups.
 */
import { checkDnsLabelName, checkDnsSubdomainName, setOwn, type JsonObject, type JsonObjectDraft } from '#api'
import type { User } from '../request-context.ts'

export const anonymousName = 'system:anonymous'
export const authenticatedGroup = 'system:authenticated'
export const unauthenticatedGroup = 'system:unauthenticated'

/** The key in a user's extra with the id of the token or certificate. */
export const credentialKey = 'authentication.kubernetes.io/credential-id'
export const nodeNameKey = 'authentication.kubernetes.io/node-name'

/** The user of requests without credentials. */
export const anonymous: User = { name: anonymousName, groups: [unauthenticatedGroup] }

/** The user of the administrator's token. */
export const administrator: User = { name: 'evenkeel-admin', groups: ['system:masters', authenticatedGroup] }

/** Adds the group of all authenticated users, unless the groups already say otherwise. */
export function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user
  if (name === anonymousName || groups.includes(authenticatedGroup) || groups.includes(unauthenticatedGroup))
    return user
  return { ...user, groups: [...groups, authenticatedGroup] }
}

/** Namespace and name of a service account. */
export interface ServiceAccountName {
  readonly namespace: string
  readonly name: string
}

const serviceAccountPrefix = 'system:serviceaccount:'
const nodePrefix = 'system:node:'

export function formatServiceAccount({ namespace, name }: ServiceAccountName): string {
  return `${serviceAccountPrefix}${namespace}:${name}`
}

/** The service account of a user name, if it has the form of one. */
export function parseServiceAccount(userName: string): ServiceAccountName | undefined {
  if (!userName.startsWith(serviceAccountPrefix)) return undefined
  const [namespace = '', name = '', ...rest] = userName.slice(serviceAccountPrefix.length).split(':')
  const isProper =
    rest.length === 0 && checkDnsLabelName(namespace).length === 0 && checkDnsSubdomainName(name).length === 0
  return isProper ? { namespace, name } : undefined
}

/** The groups that every service account of a namespace is in. */
export function serviceAccountGroups(namespace: string): string[] {
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]
}

/** The node of a user name, if it has the form of one. */
export function parseNodeName(userName: string): string | undefined {
  if (!userName.startsWith(nodePrefix)) return undefined
  const name = userName.slice(nodePrefix.length)
  return checkDnsSubdomainName(name).length === 0 ? name : undefined
}

/** A user as `UserInfo`. */
export function userInfo({ name, uid, groups, extra }: User): JsonObject {
  const info: JsonObjectDraft = { username: name }
  if (uid !== undefined && uid !== '') info['uid'] = uid
  if (groups.length > 0) info['groups'] = [...groups]
  if (extra === undefined || Object.keys(extra).length === 0) return info
  const copy: JsonObjectDraft = {}
  for (const [key, values] of Object.entries(extra)) setOwn(copy, key, [...values])
  info['extra'] = copy
  return info
}
