/**
 * The default roles and bindings as objects, expanded from a short notation.
 *
 * An aggregated ClusterRole starts with the rules of the roles it selects, so that
 * it works at once, also where no controller updates it.
 */
import type { JsonObject } from 'evenkeel/unstable/builtins'
import { defaultClusterRoles } from './default-cluster-roles.ts'
import { defaultControllerRoles } from './default-controller-roles.ts'
import { policyRule, toRuleObject } from './policy-rule.ts'

interface DefaultRole {
  readonly namespace: string
  readonly name: string
  readonly rules: readonly string[]
}

export interface DefaultClusterRole extends Omit<DefaultRole, 'namespace'> {
  /** The aggregation label that selects other roles. */
  readonly aggregates?: string
  readonly aggregateTo?: string
}

interface DefaultBinding {
  readonly namespace: string
  readonly name: string
  /** @default the name of the binding */
  readonly role?: string
  /** `user NAME`, `group NAME` or `account NAMESPACE/NAME` */
  readonly subjects: readonly string[]
}

/** One default object. */
export interface DefaultRbacObject {
  readonly plural: 'clusterroles' | 'clusterrolebindings' | 'roles' | 'rolebindings'
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** The fields outside metadata. */
  readonly fields: JsonObject
}

const rbacGroup = 'rbac.authorization.k8s.io'
const joinLabel = (name: string): string => `${rbacGroup}/aggregate-to-${name}`

/** All default objects: roles before their bindings. */
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

// The default ClusterRoleBindings, and the namespaced roles and bindings, of Kubernetes 1.36.
// A ClusterRoleBinding has the name of its role.

const defaultClusterRoleBindings: readonly Omit<DefaultBinding, 'namespace'>[] = [
  { name: 'cluster-admin', subjects: ['group system:masters'] },
  { name: 'system:basic-user', subjects: ['group system:authenticated'] },
  { name: 'system:discovery', subjects: ['group system:authenticated'] },
  { name: 'system:kube-controller-manager', subjects: ['user system:kube-controller-manager'] },
  { name: 'system:kube-dns', subjects: ['account kube-system/kube-dns'] },
  { name: 'system:kube-scheduler', subjects: ['user system:kube-scheduler'] },
  { name: 'system:monitoring', subjects: ['group system:monitoring'] },
  { name: 'system:node', subjects: [] },
  { name: 'system:node-proxier', subjects: ['user system:kube-proxy'] },
  { name: 'system:public-info-viewer', subjects: ['group system:authenticated', 'group system:unauthenticated'] },
  { name: 'system:service-account-issuer-discovery', subjects: ['group system:serviceaccounts'] },
  { name: 'system:volume-scheduler', subjects: ['user system:kube-scheduler'] },
]

const defaultRoles: readonly DefaultRole[] = [
  {
    namespace: 'kube-public',
    name: 'system:controller:bootstrap-signer',
    rules: [
      'get,list,watch core configmaps',
      'update core configmaps cluster-info',
      'create,patch,update core,events.k8s.io events',
    ],
  },
  {
    namespace: 'kube-system',
    name: 'extension-apiserver-authentication-reader',
    rules: ['get,list,watch core configmaps extension-apiserver-authentication'],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-controller-manager',
    rules: [
      'create,get,list,update,watch coordination.k8s.io leases',
      'create,get,list,update,watch coordination.k8s.io leasecandidates',
    ],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-scheduler',
    rules: [
      'create,get,list,update,watch coordination.k8s.io leases',
      'create,get,list,update,watch coordination.k8s.io leasecandidates',
    ],
  },
  { namespace: 'kube-system', name: 'system:controller:bootstrap-signer', rules: ['get,list,watch core secrets'] },
  {
    namespace: 'kube-system',
    name: 'system:controller:cloud-provider',
    rules: ['create,get,list,watch core configmaps'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:token-cleaner',
    rules: ['delete,get,list,watch core secrets', 'create,patch,update core,events.k8s.io events'],
  },
]

const defaultRoleBindings: readonly DefaultBinding[] = [
  {
    namespace: 'kube-public',
    name: 'system:controller:bootstrap-signer',
    subjects: ['account kube-system/bootstrap-signer'],
  },
  {
    namespace: 'kube-system',
    name: 'system::extension-apiserver-authentication-reader',
    role: 'extension-apiserver-authentication-reader',
    subjects: ['user system:kube-controller-manager', 'user system:kube-scheduler'],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-controller-manager',
    subjects: [
      'user system:kube-controller-manager',
      'account kube-system/kube-controller-manager',
      'account kube-system/leader-election-controller',
    ],
  },
  {
    namespace: 'kube-system',
    name: 'system::leader-locking-kube-scheduler',
    subjects: ['user system:kube-scheduler', 'account kube-system/kube-scheduler'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:bootstrap-signer',
    subjects: ['account kube-system/bootstrap-signer'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:cloud-provider',
    subjects: ['account kube-system/cloud-provider'],
  },
  {
    namespace: 'kube-system',
    name: 'system:controller:token-cleaner',
    subjects: ['account kube-system/token-cleaner'],
  },
]
