/**
 * Escalation check: a user cannot grant permissions that the user does not have.
 *
 * To write a Role, a user must hold all its rules or the verb `escalate`; to write a binding, the rules of the bound
 * role or the verb `bind` on that role. An aggregated ClusterRole can come to hold any rule, so writing one requires
 * all permissions. A write that only affects deletion (finalizers, owners) grants nothing.
 *
 * It runs after all other mutating plugins, so that it sees the final object, and before validation, as upstream.
 */
import {
  deepEqual,
  forbidden,
  getOwn,
  isJsonObject,
  notFound,
  quote,
  type JsonObject,
  type UnstructuredObject,
} from '#api'
import { policyRule, rulesOf, type ObjectDraft, type PolicyRule } from '@evenkeel/builtins'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import type { User } from '../request-context.ts'
import type { AuthorizerChain } from './authorizer.ts'
import { describeRules, partsMax, quoteAll, uncovered } from './policy-rules.ts'
import { rbacGroup, roleRefOf, type RbacAuthorizer } from './rbac.ts'

const roleKinds: ReadonlySet<string> = new Set(['roles', 'clusterroles'])
const bindingKinds: ReadonlySet<string> = new Set(['rolebindings', 'clusterrolebindings'])
const everything: readonly PolicyRule[] = [
  policyRule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }),
  policyRule({ verbs: ['*'], nonResourceURLs: ['*'] }),
]

interface EscalationContext {
  readonly rbac: RbacAuthorizer
  readonly authorizer: AuthorizerChain
}

/** Refuses writes that would grant more than the user has. */
export function escalationPlugin(context: EscalationContext): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: ({
      operation,
      target: {
        resource: { group, plural },
      },
    }) =>
      group === rbacGroup &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      (roleKinds.has(plural) || bindingKinds.has(plural)),
    async mutate(draft, admitted) {
      const {
        user,
        old,
        target: {
          resource: { plural },
        },
      } = admitted
      if (user === undefined || user.groups.includes('system:masters') || (old && onlyRemovesFinalizers(draft, old)))
        return false
      await (roleKinds.has(plural) ? checkRole : checkBinding)(draft, { ...context, admitted, user })
      return false
    },
  }
}

interface RbacWrite extends EscalationContext {
  readonly admitted: AdmissionAttributes
  readonly user: User
}

async function checkRole(draft: ObjectDraft, writing: RbacWrite): Promise<void> {
  const {
    authorizer,
    user,
    admitted: {
      operation,
      old,
      target: {
        resource: { plural },
        namespace,
        name: present,
      },
    },
  } = writing
  // A new object has no name yet that a rule could cover.
  const name = operation === 'CREATE' ? '' : present
  const question = {
    user,
    verb: 'escalate',
    path: '',
    resourcePath: { group: rbacGroup, version: '*', resource: plural, subresource: '', namespace, name },
  }
  if ((await authorizer.decide(question)).allowed) return
  requireHeld(rulesOf(draft), draft, writing)
  if (!isAggregated(draft) && !(old && isAggregated(old))) return
  if (missingOf(everything, writing)?.length !== 0)
    throw refuse(draft, writing, 'must have cluster-admin privileges to use the aggregationRule')
}

async function checkBinding(draft: ObjectDraft, writing: RbacWrite): Promise<void> {
  const {
    authorizer,
    rbac: permissions,
    user,
    admitted: {
      target: {
        resource: { group, plural },
        namespace,
      },
    },
  } = writing
  const role = roleRefOf(draft)
  const resource = role.kind === 'Role' ? 'roles' : 'clusterroles'
  // Validation refuses other kinds of role references.
  if (role.kind !== 'Role' && role.kind !== 'ClusterRole')
    throw refuse(draft, writing, `unsupported role reference kind: ${quote(role.kind)}`)
  const place = { group: rbacGroup, version: '*', resource, subresource: '', namespace, name: role.name }
  if ((await authorizer.decide({ user, verb: 'bind', path: '', resourcePath: place })).allowed) return
  const rules = permissions.rulesOf(role, namespace)
  // Upstream names the binding in this error, and clients expect it.
  if (rules === undefined) throw notFound({ group, kind: plural, name: role.name })
  requireHeld(rules, draft, writing)
}

function requireHeld(rules: readonly PolicyRule[], draft: ObjectDraft, writing: RbacWrite): void {
  const missing = missingOf(rules, writing)
  if (missing === undefined)
    throw refuse(
      draft,
      writing,
      `the rules come to more than ${partsMax} single permissions, which is too many to compare`,
    )
  if (missing.length === 0) return
  const {
    user: { name, groups },
    rbac: permissions,
    admitted: {
      target: { namespace },
    },
  } = writing
  const { errors } = permissions.rulesFor(writing.user, namespace)
  const unresolved = errors.length === 0 ? '' : `; resolution errors: [${errors.join(' ')}]`
  throw refuse(
    draft,
    writing,
    `user ${quote(name)} (groups=${quoteAll(groups)}) is attempting to grant RBAC permissions not currently held:\n${describeRules(missing)}${unresolved}`,
  )
}

function missingOf(
  rules: readonly PolicyRule[],
  {
    rbac: permissions,
    user,
    admitted: {
      target: { namespace },
    },
  }: RbacWrite,
): readonly PolicyRule[] | undefined {
  return uncovered(permissions.rulesFor(user, namespace).rules, rules)
}

function refuse(
  { metadata }: ObjectDraft,
  {
    admitted: {
      target: {
        resource: { group, plural },
      },
    },
  }: RbacWrite,
  why: string,
): Error {
  return forbidden({ group, kind: plural, name: String(metadata['name'] ?? '') }, why)
}

function isAggregated(role: JsonObject): boolean {
  const rule = getOwn(role, 'aggregationRule')
  const selectors = isJsonObject(rule) ? getOwn(rule, 'clusterRoleSelectors') : undefined
  return Array.isArray(selectors) && selectors.length > 0
}

/** Whether only finalizers and owner references differ. */
function onlyRemovesFinalizers(draft: ObjectDraft, old: UnstructuredObject): boolean {
  return deepEqual(comparable(draft), comparable(old))
}

function comparable({ metadata, ...rest }: UnstructuredObject): object {
  const { ownerReferences: _, finalizers: __, managedFields: ___, selfLink: ____, ...kept } = metadata
  return { ...rest, metadata: { ...kept } }
}
