/**
 * Roles and ClusterRoles: a rule is about resources or about paths, and paths only make sense for the whole cluster.
 */
import { fieldError, FieldPath, validateLabelSelector } from '#api'
import type { FieldError, JsonObject, UnstructuredObject } from '#api'
import type { StrategyHooks } from '../hooks.ts'
import { objectIn, objectsIn, optionalObjectIn, textsIn } from '../reading.ts'
import { selectorIn } from '../selectors.ts'

const aggregationPath = FieldPath.of('aggregationRule', 'clusterRoleSelectors')

export const roleStrategy: StrategyHooks = { validate: (object) => validateRules(object, { namespaced: true }) }

export const clusterRoleStrategy: StrategyHooks = {
  validate: (object) => [...validateRules(object, { namespaced: false }), ...validateAggregation(object)],
}

interface RuleOptions {
  readonly namespaced: boolean
}

function validateRules(object: UnstructuredObject, options: RuleOptions): FieldError[] {
  return objectsIn(object, 'rules').flatMap((rule, index) => [
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
  return selectors.flatMap((selector, index) => {
    const path = aggregationPath.index(index)
    const errors = validateLabelSelector(selectorIn({ selector }, 'selector') ?? {}, path)
    return errors.length > 0 ? [...errors, fieldError.invalid(path, null, 'invalid label selector.')] : []
  })
}
