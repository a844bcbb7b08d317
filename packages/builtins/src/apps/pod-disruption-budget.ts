/**
 * PodDisruptionBudgets: either minAvailable or maxUnavailable, as a number or a percentage.
 */
import {
  errorsOfEach,
  pushAll,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  objectsIn,
  validateConditions,
  type Condition,
  type FieldError,
  type JsonObject,
} from 'evenkeel/unstable/builtins'
import type { StrategyHooks } from '../strategy-flags.ts'
import {
  allowOneOf,
  requireNonNegative,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
  validateSelectorIn,
} from '../validation.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')

export const podDisruptionBudgetStrategy: StrategyHooks = {
  prepareForCreate(object) {
    object['status'] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 }
  },
  validate: (object) => validateSpec(objectIn(object, 'spec')),
  validateStatusUpdate(object) {
    const status = objectIn(object, 'status')
    const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']
    return [
      ...validateConditions(objectsIn(status, 'conditions').filter(isCondition), statusPath.child('conditions')),
      ...errorsOfEach(counts, (key) => requireNonNegative(numberIn(status, key), statusPath.child(key))),
    ]
  },
}

function isCondition(value: JsonObject): value is JsonObject & Condition {
  return [value['type'], value['status'], value['reason'], value['message']].every((text) => typeof text === 'string')
}

/** The spec in the internal form of kube-apiserver. */
function shown(spec: JsonObject): JsonObject {
  const keys = ['minAvailable', 'selector', 'maxUnavailable', 'unhealthyPodEvictionPolicy']
  return Object.fromEntries(keys.map((key) => [`${key.charAt(0).toUpperCase()}${key.slice(1)}`, spec[key] ?? null]))
}

function validateSpec(spec: JsonObject): FieldError[] {
  const errors: FieldError[] = []
  if (spec['minAvailable'] !== undefined && spec['maxUnavailable'] !== undefined) {
    errors.push(fieldError.invalid(specPath, shown(spec), 'minAvailable and maxUnavailable cannot be both set'))
  }
  for (const key of ['minAvailable', 'maxUnavailable']) {
    const value = spec[key]
    if (value !== undefined)
      pushAll(errors, [
        ...validateIntOrPercent(value, specPath.child(key)),
        ...validateNotMoreThan100Percent(value, specPath.child(key)),
      ])
  }
  return [
    ...errors,
    ...validateSelectorIn(spec, 'selector', specPath),
    ...allowOneOf(spec['unhealthyPodEvictionPolicy'], specPath.child('unhealthyPodEvictionPolicy'), [
      'AlwaysAllow',
      'IfHealthyBudget',
    ]),
  ]
}
