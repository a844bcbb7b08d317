/**
 * The RBAC rules and roles of a manager, derived from its controllers.
 *
 * A controller with `namespaces` gets Roles in these namespaces only, and a rule with namespaces of its own (a dependency in
 * a fixed namespace) Roles in those. The rules for the lease are added by the manager.
 */
import type { UnstructuredObject } from '#api'
import { rulesFor } from '#controller'
import type { ControllerDeclaration, PolicyRule } from '#controller'

/** Rules in one namespace, or in all namespaces if it is undefined. */
export interface ScopedRules {
  readonly namespace: string | undefined
  readonly rules: readonly PolicyRule[]
}

export interface Rbac {
  /** The name of the manager, and of its roles. */
  readonly name: string
  readonly scopes: readonly ScopedRules[]
  /** Roles and bindings, ready for `kubectl apply` or `client.apply`. */
  objects(options: SubjectOptions): readonly UnstructuredObject[]
}

export interface SubjectOptions {
  /** The service account of the program. @default the name of the manager */
  readonly serviceAccount?: string
  /** The namespace of the service account. */
  readonly namespace: string
}

interface RbacOptions {
  readonly name: string
  readonly declarations: readonly ControllerDeclaration[]
  /** @default no election */
  readonly lease?: { readonly name: string; readonly namespace: string } | undefined
}

/** @throws {RangeError} if a watched kind has no plural, because it is declared by apiVersion and kind only. */
export function rbacOf({ name, declarations, lease }: RbacOptions): Rbac {
  const byScope = new Map<string | undefined, PolicyRule[]>()
  const add = (namespace: string | undefined, rules: readonly PolicyRule[]): void => {
    const known = byScope.get(namespace) ?? []
    byScope.set(namespace, [
      ...known,
      ...rules.filter((rule) => !known.some((other) => JSON.stringify(other) === JSON.stringify(rule))),
    ])
  }
  for (const declaration of declarations) {
    const rules = rulesFor(declaration).filter(
      (rule) => !rule.resources.includes('leases') || declaration.rbac?.includes(rule),
    )
    for (const scoped of rules) {
      const { namespaces, ...rule } = scoped
      const scope = namespaces === 'all' ? [undefined] : (namespaces ?? namespacesOf(declaration))
      for (const namespace of scope) add(namespace, [namespaces === undefined ? scoped : rule])
    }
  }
  if (lease) add(lease.namespace, leaseRules(lease.name))
  const scopes = [...byScope].map(([namespace, rules]) => ({ namespace, rules }))
  return { name, scopes, objects: (options) => scopes.flatMap((scope) => roleAndBinding(name, scope, options)) }
}

/** A controller with additional watches needs them in all namespaces. */
function namespacesOf({ for: kind, namespaces, watches = [] }: ControllerDeclaration): readonly (string | undefined)[] {
  return namespaces === undefined || kind.scope !== 'Namespaced' || watches.length > 0 ? [undefined] : namespaces
}

/** RBAC cannot restrict `create` by name. */
function leaseRules(name: string): PolicyRule[] {
  const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] }
  return [
    { ...lease, verbs: ['create'] },
    { ...lease, verbs: ['get', 'update'], resourceNames: [name] },
  ]
}

function roleAndBinding(
  name: string,
  { namespace, rules }: ScopedRules,
  { serviceAccount = name, namespace: home }: SubjectOptions,
): UnstructuredObject[] {
  const prefix = namespace === undefined ? 'Cluster' : ''
  const common = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    metadata: { name, ...(namespace !== undefined && { namespace }) },
  }
  return [
    { ...common, kind: `${prefix}Role`, rules: rules.map((rule) => ({ ...rule })) },
    {
      ...common,
      kind: `${prefix}RoleBinding`,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: `${prefix}Role`, name },
      subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace: home }],
    },
  ]
}
