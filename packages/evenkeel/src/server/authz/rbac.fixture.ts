/**
 * Roles and bindings without a server: views that are filled by hand, and short words for what goes into them.
 */
import type { JsonObject, UnstructuredObject } from '#api'
import type { PolicyRule } from '#builtins'
import { Informer, type Informers } from '../informers.ts'
import type { AuthorizationAttributes } from './authorizer.ts'
import { RbacAuthorizer, rbacGroup } from './rbac.ts'

type Subject = `user ${string}` | `group ${string}` | `account ${string}`

/** A place to put roles and bindings, and who may do what by them. */
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

/** A role; with a namespace, only of that. */
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

/** `get pods/log`, asked for a user. */
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
