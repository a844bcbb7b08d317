/**
 * RBAC without a server: informers that tests fill directly, and short constructors for roles and bindings.
 */
import type { JsonObject, UnstructuredObject } from '#api'
import type { PolicyRule } from '@evenkeel/builtins'
import { Informer, type Informers } from '../informers.ts'
import type { AuthorizationAttributes } from './authorizer.ts'
import { RbacAuthorizer, rbacGroup } from './rbac.ts'

type Subject = `user ${string}` | `group ${string}` | `account ${string}`

/** Roles and bindings, and the authorizer over them. */
export class World {
  readonly #informers = new Map<string, Informer>()
  readonly permissions: RbacAuthorizer
  #revision = 0

  constructor() {
    const informers = { forResource: (group: string, plural: string): Informer => this.#view(group, plural) }
    this.permissions = new RbacAuthorizer(informers as unknown as Informers)
  }

  put(object: UnstructuredObject): void {
    this.#view(rbacGroup, pluralOf(object)).put(Buffer.from(JSON.stringify(object)), ++this.#revision)
  }

  remove(object: UnstructuredObject): void {
    const { name = '', namespace = '' } = object.metadata
    this.#view(rbacGroup, pluralOf(object)).remove({ name, namespace })
  }

  #view(group: string, plural: string): Informer {
    const view = this.#informers.get(plural) ?? new Informer(group, plural)
    this.#informers.set(plural, view)
    return view
  }
}

function pluralOf({ kind }: UnstructuredObject): string {
  return `${kind.toLowerCase()}s`
}

/** A ClusterRole; with a namespace, a Role. */
export function role(name: string, rules: readonly Partial<PolicyRule>[], namespace = ''): UnstructuredObject {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: namespace === '' ? 'ClusterRole' : 'Role',
    metadata: { name, ...(namespace !== '' && { namespace }) },
    rules: rules.map((rule) => ({ ...rule })),
  }
}

interface BindingOptions {
  readonly namespace?: string
  readonly kind?: 'Role' | 'ClusterRole'
  readonly name?: string
}

/** A binding, by default of a ClusterRole, named after its role. */
export function bind(
  roleName: string,
  subjects: readonly Subject[],
  { namespace = '', kind = 'ClusterRole', name = roleName }: BindingOptions = {},
): UnstructuredObject {
  return {
    apiVersion: `${rbacGroup}/v1`,
    kind: namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: { name, ...(namespace !== '' && { namespace }) },
    roleRef: { apiGroup: rbacGroup, kind, name: roleName },
    subjects: subjects.map(subjectOf),
  }
}

function subjectOf(text: Subject): JsonObject {
  const [kind = '', name = ''] = text.split(' ')
  if (kind !== 'account') return { kind: kind === 'user' ? 'User' : 'Group', apiGroup: rbacGroup, name }
  const [namespace = '', account = name] = name.includes('/') ? name.split('/') : []
  return { kind: 'ServiceAccount', name: account, ...(namespace !== '' && { namespace }) }
}

interface Asked {
  readonly name?: string
  readonly groups?: readonly string[]
  readonly namespace?: string
  readonly object?: string
  readonly group?: string
}

/** Attributes for a user from a short text: `get pods/log`. */
export function may(
  text: string,
  { name = 'u', groups = [], namespace = '', object = '', group = '' }: Asked = {},
): AuthorizationAttributes {
  const [verb = '', what = ''] = text.split(' ')
  const user = { name, groups }
  if (what.startsWith('/')) return { user, verb, path: what, resourcePath: undefined }
  const [resource = '', subresource = ''] = what.split('/')
  return {
    user,
    verb,
    path: '',
    resourcePath: { group, version: 'v1', resource, subresource, namespace, name: object },
  }
}
