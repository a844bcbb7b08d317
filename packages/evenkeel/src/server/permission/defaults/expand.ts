/**
 * The roles and bindings that every cluster has, as objects.
 *
 * The data is written in short; here is how to read it. A role that gathers others starts with what they have, so that
 * it is of use from the first moment, and also where no controller keeps it up to date.
 */
import type { JsonObject } from '#api'
import { policyRule, toRuleObject } from '../../access/policy-rule.ts'
import { defaultClusterRoleBindings, defaultRoleBindings, defaultRoles } from './bindings.ts'
import { defaultClusterRoles } from './cluster-roles.ts'
import { defaultControllerRoles } from './controller-roles.ts'

export interface DefaultRole {
  readonly namespace: string
  readonly name: string
  readonly rules: readonly string[]
}

export interface DefaultClusterRole extends Omit<DefaultRole, 'namespace'> {
  /** It takes in every role that joins this. */
  readonly aggregates?: string
  readonly aggregateTo?: string
}

export interface DefaultBinding {
  readonly namespace: string
  readonly name: string
  /** Default: the role has the name of the binding. */
  readonly role?: string
  /** `user NAME`, `group NAME` or `account NAMESPACE/NAME` */
  readonly subjects: readonly string[]
}

/** One object that must be there. */
export interface DefaultRbacObject {
  readonly plural: 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings'
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** What stands beside metadata. */
  readonly fields: JsonObject
}

const rbacGroup = 'rbac.authorization.k8s.io'
const joinLabel = (name: string): string => `${rbacGroup}/aggregate-to-${name}`

/** Everything that must be there: roles before those who have them. */
export function defaultRbacObjects(): readonly DefaultRbacObject[] {
  const all = [...defaultClusterRoles, ...defaultControllerRoles]
  const controllers = defaultControllerRoles.map(({ name }) => ({
    name,
    subjects: [`account kube-system/${name.split(':').at(-1) ?? ''}`],
  }))
  return [
    ...all.map((role) => clusterRoleObject(role, all)),
    ...defaultRoles.map(({ namespace, name, rules }) =>
      makeObject('roles', { namespace, name }, { rules: rules.map(parseRule) }),
    ),
    ...[...defaultClusterRoleBindings, ...controllers].map((binding) =>
      makeObject('clusterrolebindings', { ...binding, namespace: '' }, bindingFields(binding, 'ClusterRole')),
    ),
    ...defaultRoleBindings.map((binding) => makeObject('rolebindings', binding, bindingFields(binding, 'Role'))),
  ]
}

const kinds = {
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  roles: 'Role',
  rolebindings: 'RoleBinding',
} as const

function makeObject(
  plural: DefaultRbacObject['plural'],
  { namespace, name }: { namespace: string; name: string },
  fields: JsonObject,
): DefaultRbacObject {
  return { plural, kind: kinds[plural], namespace, name, labels: {}, fields }
}

function clusterRoleObject(role: DefaultClusterRole, all: readonly DefaultClusterRole[]): DefaultRbacObject {
  const { name, aggregates: gathers, aggregateTo: joins } = role
  const rules = gatheredRules(role, all).map(parseRule)
  const aggregationRule =
    gathers === undefined
      ? {}
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [joinLabel(gathers)]: 'true' } }] } }
  const object = makeObject('clusterroles', { namespace: '', name }, { ...aggregationRule, rules })
  return { ...object, labels: joins === undefined ? {} : { [joinLabel(joins)]: 'true' } }
}

function gatheredRules(
  { aggregates: gathers, rules }: DefaultClusterRole,
  all: readonly DefaultClusterRole[],
): readonly string[] {
  if (gathers === undefined) return rules
  const joining = all.filter(({ aggregateTo: joins }) => joins === gathers)
  return [...new Set([...rules, ...joining.flatMap((role) => gatheredRules(role, all))])]
}

/** `verbs groups resources [names]`, or `verbs at paths`. */
function parseRule(text: string): JsonObject {
  const [verbs = '', groups = '', resources = '', names] = text.split(' ')
  if (groups === 'at')
    return toRuleObject(policyRule({ verbs: verbs.split(','), nonResourceURLs: resources.split(',') }))
  const apiGroups = groups.split(',').map((group) => (group === 'core' ? '' : group))
  return toRuleObject(
    policyRule({
      verbs: verbs.split(','),
      apiGroups,
      resources: resources.split(','),
      resourceNames: names?.split(',') ?? [],
    }),
  )
}

function bindingFields({ name, role = name, subjects }: Omit<DefaultBinding, 'namespace'>, kind: string): JsonObject {
  return {
    roleRef: { apiGroup: rbacGroup, kind, name: role },
    ...(subjects.length > 0 && { subjects: subjects.map(parseSubject) }),
  }
}

function parseSubject(text: string): JsonObject {
  const [kind = '', name = ''] = text.split(' ')
  if (kind !== 'account') return { kind: kind === 'user' ? 'User' : 'Group', apiGroup: rbacGroup, name }
  const [namespace = '', account = ''] = name.split('/')
  return { kind: 'ServiceAccount', name: account, namespace }
}
