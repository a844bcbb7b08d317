/**
 * What a manager must be allowed to do, as roles that can be applied: worked out from its controllers.
 *
 * A controller of some namespaces needs nothing elsewhere; leases and their namespace are the manager's own.
 */
import type { UnstructuredObject } from '#api'
import { rulesFor } from '#controller'
import type { ControllerDeclaration, PolicyRule } from '#controller'

/** Rules in one namespace, or everywhere when it is undefined. */
export interface ScopedRules {
  readonly namespace: string | undefined
  readonly rules: readonly PolicyRule[]
}

export interface Rbac {
  /** Whom the roles are for. */
  readonly name: string
  readonly scopes: readonly ScopedRules[]
  /** Roles and bindings, ready for `kubectl apply` or `client.apply`. */
  objects(options: SubjectOptions): readonly UnstructuredObject[]
}

export interface SubjectOptions {
  /** The service account that the program runs as. @default the manager's name */
  readonly serviceAccount?: string
  /** Where that account is. */
  readonly namespace: string
}

interface RbacParts {
  readonly name: string
  readonly declarations: readonly ControllerDeclaration[]
  /** @default no election */
  readonly lease?: { readonly name: string; readonly namespace: string } | undefined
}

/** @throws {RangeError} when a watched kind is known by two words only. */
export function rbacOf({ name, declarations, lease }: RbacParts): Rbac {
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
    for (const namespace of namespacesOf(declaration)) add(namespace, rules)
  }
  if (lease) add(lease.namespace, leaseRules(lease.name))
  const scopes = [...byScope].map(([namespace, rules]) => ({ namespace, rules }))
  return { name, scopes, objects: (options) => scopes.flatMap((scope) => roleAndBinding(name, scope, options)) }
}

/** A controller that also watches other things may look at them anywhere. */
function namespacesOf({ for: kind, namespaces, watches = [] }: ControllerDeclaration): readonly (string | undefined)[] {
  return namespaces === undefined || kind.scope !== 'Namespaced' || watches.length > 0 ? [undefined] : namespaces
}

/** A lease that does not exist yet has no name to go by. */
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
    { ...common, kind: `${prefix}Role`, rules },
    {
      ...common,
      kind: `${prefix}RoleBinding`,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: `${prefix}Role`, name },
      subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace: home }],
    },
  ] as unknown as UnstructuredObject[]
}
