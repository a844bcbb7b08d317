/**
 * HorizontalPodAutoscalers: replica bounds, the scale target, and in v2 metrics and behavior.
 *
 * A metric is checked for its type and the matching field, not for the contents of that field.
 */
import {
  errorsOfEach,
  pushAll,
  checkPathSegmentName,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from 'evenkeel/unstable/builtins'
import { draftIn, ensureDraft, setDefault } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { allowOneOf, refuse, requireNonNegative } from '../validation.ts'

const specPath = FieldPath.of('spec')
const firstVersion = 'autoscaling/v1'
const cpuPercent = 80
const upPolicies = [
  { type: 'Pods', value: 4, periodSeconds: 15 },
  { type: 'Percent', value: 100, periodSeconds: 15 },
]
const downPolicies = [{ type: 'Percent', value: 100, periodSeconds: 15 }]
const metricFields = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
}

export const horizontalPodAutoscalerStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    setDefault(spec, 'minReplicas', 1)
    if (object['apiVersion'] === firstVersion) {
      setDefault(spec, 'targetCPUUtilizationPercentage', cpuPercent)
      return
    }
    if (objectsIn(spec, 'metrics').length === 0) {
      spec['metrics'] = [
        {
          type: 'Resource',
          resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpuPercent } },
        },
      ]
    }
    const behavior = draftIn(spec, 'behavior')
    if (behavior === undefined) return
    defaultPace(ensureDraft(behavior, 'scaleUp'), upPolicies)
    setDefault(ensureDraft(behavior, 'scaleUp'), 'stabilizationWindowSeconds', 0)
    defaultPace(ensureDraft(behavior, 'scaleDown'), downPolicies)
  },
  prepareForCreate(object) {
    object['status'] = { desiredReplicas: 0, ...(object['apiVersion'] === firstVersion && { currentReplicas: 0 }) }
  },
  validate(object) {
    const spec = objectIn(object, 'spec')
    return [
      ...validateBounds(spec),
      ...validateTarget(objectIn(spec, 'scaleTargetRef')),
      ...validateMetrics(spec),
      ...validateBehavior(spec),
    ]
  },
  validateStatusUpdate: (object) =>
    errorsOfEach(['currentReplicas', 'desiredReplicas'], (key) =>
      requireNonNegative(numberIn(objectIn(object, 'status'), key), FieldPath.of('status', key)),
    ),
}

function defaultPace(rules: JsonObjectDraft, policies: JsonValue): void {
  setDefault(rules, 'selectPolicy', 'Max')
  setDefault(rules, 'policies', policies)
}

function validateBounds(spec: JsonObject): FieldError[] {
  const [least, most] = [numberIn(spec, 'minReplicas'), numberIn(spec, 'maxReplicas') ?? 0]
  const path = specPath.child('maxReplicas')
  const errors: FieldError[] = []
  if (least !== undefined && least < 1)
    errors.push(fieldError.invalid(specPath.child('minReplicas'), least, 'must be greater than or equal to 1'))
  if (most === 0) errors.push(fieldError.required(path, 'must be set and greater than 0'))
  else if (most < 0) errors.push(fieldError.invalid(path, most, 'must be greater than or equal to 1'))
  if (least !== undefined && most < least)
    errors.push(fieldError.invalid(path, most, 'must be greater than or equal to `minReplicas`'))
  return errors
}

function validateTarget(target: JsonObject): FieldError[] {
  const path = specPath.child('scaleTargetRef')
  const errors = errorsOfEach(['kind', 'name'], (key) => {
    const value = textIn(target, key)
    return value === ''
      ? [fieldError.required(path.child(key))]
      : refuse(value, path.child(key), checkPathSegmentName(value))
  })
  const version = textIn(target, 'apiVersion')
  if (version.includes('/') || textIn(target, 'kind') === 'ReplicationController') return errors
  return [...errors, fieldError.invalid(path.child('apiVersion'), version, 'apiVersion must specify API group')]
}

function validateMetrics(spec: JsonObject): FieldError[] {
  const [supported, metrics] = [Object.keys(metricFields), objectsIn(spec, 'metrics')]
  const fromOutside = metrics.some((metric) => ['External', 'Object'].includes(textIn(metric, 'type')))
  const zero =
    spec['minReplicas'] === 0 && !fromOutside
      ? [
          fieldError.forbidden(
            specPath.child('metrics'),
            'must specify at least one Object or External metric to support scaling to zero replicas',
          ),
        ]
      : []
  return [
    ...zero,
    ...errorsOfEach(metrics, (metric, index) => {
      const [path, type] = [specPath.child('metrics').index(index), textIn(metric, 'type')]
      const errors = type === '' ? [fieldError.required(path.child('type'), 'must specify a metric source type')] : []
      if (!supported.includes(type)) return [...errors, fieldError.notSupported(path.child('type'), type, supported)]
      const field = metricFields[type as keyof typeof metricFields]
      if (optionalObjectIn(metric, field) !== undefined) return errors
      return [
        ...errors,
        fieldError.required(path.child(field), 'must populate information for the given metric source'),
      ]
    }),
  ]
}

function validateBehavior(spec: JsonObject): FieldError[] {
  const [behavior, path] = [objectIn(spec, 'behavior'), specPath.child('behavior')]
  return errorsOfEach(['scaleUp', 'scaleDown'], (key) => {
    const rules = optionalObjectIn(behavior, key)
    return rules === undefined ? [] : validatePace(rules, path.child(key))
  })
}

function validatePace(rules: JsonObject, path: FieldPath): FieldError[] {
  const [window, windowPath] = [
    numberIn(rules, 'stabilizationWindowSeconds') ?? 0,
    path.child('stabilizationWindowSeconds'),
  ]
  const policies = objectsIn(rules, 'policies')
  const errors: FieldError[] = []
  if (window < 0) errors.push(fieldError.invalid(windowPath, window, 'must be greater than or equal to zero'))
  if (window > 3600) errors.push(fieldError.invalid(windowPath, window, 'must be less than or equal to 3600'))
  pushAll(errors, allowOneOf(rules['selectPolicy'], path.child('selectPolicy'), ['Disabled', 'Max', 'Min']))
  if (policies.length === 0)
    errors.push(fieldError.required(path.child('policies'), 'must specify at least one Policy'))
  return [
    ...errors,
    ...errorsOfEach(policies, (policy, index) => validatePolicy(policy, path.child('policies').index(index))),
  ]
}

function validatePolicy(policy: JsonObject, path: FieldPath): FieldError[] {
  const [type, value, period] = [
    textIn(policy, 'type'),
    numberIn(policy, 'value') ?? 0,
    numberIn(policy, 'periodSeconds') ?? 0,
  ]
  const errors =
    type === 'Pods' || type === 'Percent'
      ? []
      : [fieldError.notSupported(path.child('type'), type, ['Percent', 'Pods'])]
  if (value <= 0) errors.push(fieldError.invalid(path.child('value'), value, 'must be greater than zero'))
  if (period <= 0) errors.push(fieldError.invalid(path.child('periodSeconds'), period, 'must be greater than zero'))
  if (period > 1800)
    errors.push(fieldError.invalid(path.child('periodSeconds'), period, 'must be less than or equal to 1800'))
  return errors
}
