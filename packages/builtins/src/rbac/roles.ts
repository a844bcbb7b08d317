/**
 * Roles and ClusterRoles: a rule has resources or non-resource URLs, and only ClusterRoles may have the latter.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsSubdomain,
  checkPathSegmentName,
  deepEqual,
  fieldError,
  FieldPath,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  textsIn,
  validateLabelSelector,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftsIn, ensureDraft, setDefaultText } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { refuse, requireOneOf, requireText, selectorIn } from '../validation.ts'

const aggregationPath = FieldPath.of('aggregationRule', 'clusterRoleSelectors')

export const roleStrategy: StrategyHooks = { validate: (object) => validateRules(object, { namespaced: true }) }

export const clusterRoleStrategy: StrategyHooks = {
  validate: (object) => [...validateRules(object, { namespaced: false }), ...validateAggregation(object)],
}

interface RuleOptions {
  readonly namespaced: boolean
}

function validateRules(object: UnstructuredObject, options: RuleOptions): FieldError[] {
  return errorsOfEach(objectsIn(object, 'rules'), (rule, index) => [
    ...(textsIn(rule, 'verbs').length > 0
      ? []
      : [fieldError.required(rulePath(index).child('verbs'), 'verbs must contain at least one value')]),
    ...(textsIn(rule, 'nonResourceURLs').length > 0
      ? validatePathRule(rule, rulePath(index), options)
      : validateResourceRule(rule, rulePath(index))),
  ])
}

function rulePath(index: number): FieldPath {
  return FieldPath.of('rules').index(index)
}

function validatePathRule(rule: JsonObject, path: FieldPath, { namespaced }: RuleOptions): FieldError[] {
  const urls = textsIn(rule, 'nonResourceURLs')
  const here = path.child('nonResourceURLs')
  const errors = namespaced
    ? [fieldError.invalid(here, urls, 'namespaced rules cannot apply to non-resource URLs')]
    : []
  if (['apiGroups', 'resources', 'resourceNames'].some((key) => textsIn(rule, key).length > 0)) {
    errors.push(fieldError.invalid(here, urls, 'rules cannot apply to both regular resources and non-resource URLs'))
  }
  return errors
}

function validateResourceRule(rule: JsonObject, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (textsIn(rule, 'apiGroups').length === 0) {
    errors.push(fieldError.required(path.child('apiGroups'), 'resource rules must supply at least one api group'))
  }
  if (textsIn(rule, 'resources').length === 0) {
    errors.push(fieldError.required(path.child('resources'), 'resource rules must supply at least one resource'))
  }
  return errors
}

function validateAggregation(object: UnstructuredObject): FieldError[] {
  if (optionalObjectIn(object, 'aggregationRule') === undefined) return []
  const selectors = objectsIn(objectIn(object, 'aggregationRule'), 'clusterRoleSelectors')
  if (selectors.length === 0) {
    return [
      fieldError.required(aggregationPath, 'at least one clusterRoleSelector required if aggregationRule is non-nil'),
    ]
  }
  return errorsOfEach(selectors, (selector, index) => {
    const path = aggregationPath.index(index)
    const errors = validateLabelSelector(selectorIn({ selector }, 'selector') ?? {}, path)
    return errors.length > 0 ? [...errors, fieldError.invalid(path, null, 'invalid label selector.')] : []
  })
}

// RoleBindings and ClusterRoleBindings. The roleRef of a binding is immutable.

const rbacGroup = 'rbac.authorization.k8s.io'
const rolePath = FieldPath.of('roleRef')

export const roleBindingStrategy: StrategyHooks = bindingStrategy({ kinds: ['Role', 'ClusterRole'], namespaced: true })
export const clusterRoleBindingStrategy: StrategyHooks = bindingStrategy({ kinds: ['ClusterRole'], namespaced: false })

interface BindingOptions {
  /** The allowed kinds of roleRef. */
  readonly kinds: readonly string[]
  readonly namespaced: boolean
}

function bindingStrategy({ kinds, namespaced }: BindingOptions): StrategyHooks {
  return {
    default: defaultBinding,
    validate: (object) => [
      ...validateRole(objectIn(object, 'roleRef'), kinds),
      ...errorsOfEach(objectsIn(object, 'subjects'), (subject, index) =>
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
      if (name !== '') pushAll(errors, refuse(name, path.child('name'), checkDnsSubdomain(name)))
      pushAll(errors, requireOneOf(group, path.child('apiGroup'), ['']))
      if (!namespaced) pushAll(errors, requireText(textIn(subject, 'namespace'), path.child('namespace')))
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
  // kube-apiserver shows its internal form, in which fields have other names.
  const shown = { APIGroup: textIn(role, 'apiGroup'), Kind: textIn(role, 'kind'), Name: textIn(role, 'name') }
  return [fieldError.invalid(rolePath, shown, 'cannot change roleRef')]
}
