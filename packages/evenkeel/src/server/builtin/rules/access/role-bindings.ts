/**
 * RoleBindings and ClusterRoleBindings: who gets which role. The role of a binding never changes.
 */
import { checkDnsSubdomain, checkPathSegmentName, deepEqual, fieldError, FieldPath } from '#api'
import type { FieldError, JsonObject, UnstructuredObject } from '#api'
import type { ObjectDraft } from '../../../resources/resource.ts'
import { refuse, requireOneOf, requireText } from '../checks.ts'
import { draftsIn, ensureDraft, setDefaultText } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { objectIn, objectsIn, textIn } from '../reading.ts'

const rbacGroup = 'rbac.authorization.k8s.io'
const rolePath = FieldPath.of('roleRef')

export const roleBindingStrategy: StrategyHooks = bindingStrategy({ kinds: ['Role', 'ClusterRole'], namespaced: true })
export const clusterRoleBindingStrategy: StrategyHooks = bindingStrategy({ kinds: ['ClusterRole'], namespaced: false })

interface BindingOptions {
  /** Kinds of roles that may be given. */
  readonly kinds: readonly string[]
  readonly namespaced: boolean
}

function bindingStrategy({ kinds, namespaced }: BindingOptions): StrategyHooks {
  return {
    default: defaultBinding,
    validate: (object) => [
      ...validateRole(objectIn(object, 'roleRef'), kinds),
      ...objectsIn(object, 'subjects').flatMap((subject, index) =>
        validateSubject(subject, FieldPath.of('subjects').index(index), { namespaced }),
      ),
    ],
    validateUpdate: validateRoleKept,
  }
}

function defaultBinding(object: ObjectDraft): void {
  setDefaultText(ensureDraft(object, 'roleRef'), 'apiGroup', rbacGroup)
  for (const subject of draftsIn(object, 'subjects')) {
    if (subject['kind'] === 'User' || subject['kind'] === 'Group') setDefaultText(subject, 'apiGroup', rbacGroup)
  }
}

function validateRole(role: JsonObject, kinds: readonly string[]): FieldError[] {
  const name = textIn(role, 'name')
  return [
    ...requireOneOf(textIn(role, 'apiGroup'), rolePath.child('apiGroup'), [rbacGroup]),
    ...requireOneOf(textIn(role, 'kind'), rolePath.child('kind'), kinds),
    ...requireText(name, rolePath.child('name')),
    ...refuse(name, rolePath.child('name'), checkPathSegmentName(name)),
  ]
}

function validateSubject(subject: JsonObject, path: FieldPath, { namespaced }: { namespaced: boolean }): FieldError[] {
  const [kind, name, group] = [textIn(subject, 'kind'), textIn(subject, 'name'), textIn(subject, 'apiGroup')]
  const errors = requireText(name, path.child('name'))
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') errors.push(...refuse(name, path.child('name'), checkDnsSubdomain(name)))
      errors.push(...requireOneOf(group, path.child('apiGroup'), ['']))
      if (!namespaced) errors.push(...requireText(textIn(subject, 'namespace'), path.child('namespace')))
      return errors
    case 'User':
    case 'Group':
      return [...errors, ...requireOneOf(group, path.child('apiGroup'), [rbacGroup])]
    default:
      return [...errors, fieldError.notSupported(path.child('kind'), kind, ['ServiceAccount', 'User', 'Group'])]
  }
}

function validateRoleKept(object: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  const role = objectIn(object, 'roleRef')
  if (deepEqual(role, objectIn(old, 'roleRef'))) return []
  // Upstream shows its internal form, in which fields have other names.
  const shown = { APIGroup: textIn(role, 'apiGroup'), Kind: textIn(role, 'kind'), Name: textIn(role, 'name') }
  return [fieldError.invalid(rolePath, shown, 'cannot change roleRef')]
}
