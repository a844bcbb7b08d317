/**
 * ResourceQuotas: limits by resource name, for the objects in the scopes; scopes are immutable.
 */
import {
  errorsOfEach,
  fieldError,
  FieldPath,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  textsIn,
  valueIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftIn } from '../defaulting.ts'
import {
  canonicalizeQuantities,
  isQuotaResource,
  validateQuantity,
  validateQuotaResourceName,
} from '../resource-quantities.ts'
import type { StrategyHooks } from '../strategy-flags.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const podScopes = ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity']
const switchScopes = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity']
const scopes = [...podScopes, 'BestEffort', 'VolumeAttributesClass']
const podResources = ['pods', 'cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory']
const conflicts = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
]
const existsComplaint =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
  'ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity'

export const resourceQuotaStrategy: StrategyHooks = {
  default(object) {
    const [spec, status] = [draftIn(object, 'spec'), draftIn(object, 'status')]
    if (spec !== undefined) canonicalizeQuantities(spec, 'hard')
    for (const part of ['hard', 'used']) if (status !== undefined) canonicalizeQuantities(status, part)
  },
  prepareForCreate(object) {
    object['status'] = {}
  },
  validate(object) {
    const spec = objectIn(object, 'spec')
    return [...validateHard(spec, 'hard', specPath), ...validateScopes(spec), ...validateSelector(spec)]
  },
  validateUpdate: validateScopesKept,
  validateStatusUpdate(object) {
    const status = objectIn(object, 'status')
    return [...validateHard(status, 'hard', statusPath), ...validateHard(status, 'used', statusPath)]
  },
}

function validateHard(part: JsonObject, key: string, path: FieldPath): FieldError[] {
  return errorsOfEach(Object.entries(objectIn(part, key)), ([name, value]) => {
    const here = path.child(key).key(name)
    return [...validateQuotaResourceName(name, here), ...validateQuantity(name, value, here)]
  })
}

function validateScopes(spec: JsonObject): FieldError[] {
  const [path, list] = [specPath.child('scopes'), textsIn(spec, 'scopes')]
  const complain = (detail: string): FieldError => fieldError.invalid(path, list, detail)
  return [
    ...errorsOfEach(list, (scope) => [
      ...(scopes.includes(scope) ? [] : [complain('unsupported scope')]),
      ...misplaced(spec, scope).map(() => complain('unsupported scope applied to resource')),
    ]),
    ...contradictions(list).map(() => complain('conflicting scopes')),
  ]
}

function validateSelector(spec: JsonObject): FieldError[] {
  const selector = optionalObjectIn(spec, 'scopeSelector')
  const path = specPath.child('scopeSelector', 'matchExpressions')
  const requirements = objectsIn(selector, 'matchExpressions')
  return [
    ...errorsOfEach(requirements, (requirement) => {
      const scope = textIn(requirement, 'scopeName')
      return [
        ...(scopes.includes(scope) ? [] : [fieldError.invalid(path.child('scopeName'), scope, 'unsupported scope')]),
        ...misplaced(spec, scope).map(() =>
          fieldError.invalid(path, selector, 'unsupported scope applied to resource'),
        ),
        ...validateOperator(requirement, path),
      ]
    }),
    ...contradictions(requirements.map((requirement) => textIn(requirement, 'scopeName'))).map(() =>
      fieldError.invalid(path, valueIn(spec, 'scopes'), 'conflicting scopes'),
    ),
  ]
}

function validateOperator(requirement: JsonObject, path: FieldPath): FieldError[] {
  const [scope, operator, values] = [
    textIn(requirement, 'scopeName'),
    textIn(requirement, 'operator'),
    textsIn(requirement, 'values'),
  ]
  const errors: FieldError[] = []
  if (switchScopes.includes(scope) && operator !== 'Exists')
    errors.push(fieldError.invalid(path.child('operator'), operator, existsComplaint))
  if (operator === 'In' || operator === 'NotIn') {
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
    if (values.length === 0) errors.push(fieldError.required(path.child('values'), detail))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
    if (values.length > 0) errors.push(fieldError.invalid(path.child('values'), values, detail))
  } else errors.push(fieldError.invalid(path.child('operator'), operator, 'not a valid selector operator'))
  return errors
}

/** The limited resources that a scope does not support. */
function misplaced(spec: JsonObject, scope: string): readonly string[] {
  return Object.keys(objectIn(spec, 'hard')).filter((name) => isQuotaResource(name) && !suits(scope, name))
}

function suits(scope: string, resource: string): boolean {
  if (podScopes.includes(scope)) return podResources.includes(resource)
  if (scope === 'BestEffort') return resource === 'pods'
  if (scope === 'VolumeAttributesClass') return resource === 'persistentvolumeclaims' || resource === 'requests.storage'
  return true
}

function contradictions(list: readonly string[]): readonly (readonly string[])[] {
  return conflicts.filter((pair) => pair.every((scope) => list.includes(scope)))
}

function validateScopesKept(object: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  const [now, before] = [objectIn(object, 'spec'), objectIn(old, 'spec')].map(
    (spec) => new Set(textsIn(spec, 'scopes')),
  ) as [Set<string>, Set<string>]
  const same = now.size === before.size && [...now].every((scope) => before.has(scope))
  return same
    ? []
    : [fieldError.invalid(specPath.child('scopes'), valueIn(objectIn(object, 'spec'), 'scopes'), 'field is immutable')]
}
