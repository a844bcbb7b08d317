/**
 * Deployments: the update strategy, the progress deadline and the Pod template.
 */
import {
  deepEqual,
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  optionalObjectIn,
  textIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { defaultTemplate } from '../core/pod-defaults.ts'
import { ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import {
  percentOf,
  requireSame,
  selectorIn,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from '../validation.ts'
import {
  isValidSelector,
  validateCounts,
  validateReplicaStatus,
  validateRestartingTemplate,
  validateSelector,
  validateTemplateMatchesSelector,
} from './pod-selection.ts'

const specPath = FieldPath.of('spec')
const strategyPath = specPath.child('strategy')

export const deploymentStrategy: StrategyHooks = {
  // Annotations count as spec changes, because rollbacks and pauses once used them.
  changesGeneration: (object, old) =>
    !deepEqual(object['spec'], old['spec']) ||
    !deepEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
  default(object) {
    const spec = ensureDraft(object, 'spec')
    setDefault(spec, 'replicas', 1)
    defaultTemplate(spec)
    const strategy = ensureDraft(spec, 'strategy')
    setDefaultText(strategy, 'type', 'RollingUpdate')
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = ensureDraft(strategy, 'rollingUpdate')
      setDefault(rolling, 'maxUnavailable', '25%')
      setDefault(rolling, 'maxSurge', '25%')
    }
    setDefault(spec, 'revisionHistoryLimit', 10)
    setDefault(spec, 'progressDeadlineSeconds', 600)
  },
  prepareForCreate(object) {
    object['status'] = {}
  },
  validate: (object) => validateDeployment(object),
  validateUpdate: (object, old) =>
    requireSame(objectIn(object, 'spec')['selector'], objectIn(old, 'spec')['selector'], specPath.child('selector')),
  validateStatusUpdate: (object) =>
    validateReplicaStatus(objectIn(object, 'status'), ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
}

function validateDeployment(object: UnstructuredObject): FieldError[] {
  const spec = objectIn(object, 'spec')
  const selector = selectorIn(spec, 'selector')
  const template = isValidSelector(selector)
    ? [
        ...validateTemplateMatchesSelector(spec, selector),
        ...validateRestartingTemplate(objectIn(spec, 'template'), { owner: 'ReplicaSet' }),
      ]
    : [fieldError.invalid(specPath.child('selector'), spec['selector'], 'invalid label selector')]
  return [
    ...validateCounts(spec, ['replicas']),
    ...validateSelector(spec, { owner: 'deployment' }),
    ...template,
    ...validateStrategy(objectIn(spec, 'strategy')),
    ...validateCounts(spec, ['minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']),
    ...validateDeadline(numberIn(spec, 'progressDeadlineSeconds'), numberIn(spec, 'minReadySeconds') ?? 0),
  ]
}

function validateStrategy(strategy: JsonObject): FieldError[] {
  const [type, rolling, path] = [
    textIn(strategy, 'type'),
    optionalObjectIn(strategy, 'rollingUpdate'),
    strategyPath.child('rollingUpdate'),
  ]
  if (type === 'RollingUpdate')
    return rolling === undefined ? [fieldError.required(path)] : validateRolling(rolling, path)
  if (type !== 'Recreate')
    return [
      fieldError.notSupported(strategyPath, { Type: type, RollingUpdate: rolling ?? null }, [
        'Recreate',
        'RollingUpdate',
      ]),
    ]
  return rolling === undefined
    ? []
    : [fieldError.forbidden(path, "may not be specified when strategy `type` is 'Recreate'")]
}

function validateRolling(rolling: JsonObject, path: FieldPath): FieldError[] {
  const [missing, extra] = [rolling['maxUnavailable'], rolling['maxSurge']]
  const errors = [
    ...validateIntOrPercent(missing, path.child('maxUnavailable')),
    ...validateIntOrPercent(extra, path.child('maxSurge')),
  ]
  if (isNone(missing) && isNone(extra)) {
    errors.push(fieldError.invalid(path.child('maxUnavailable'), missing, 'may not be 0 when `maxSurge` is 0'))
  }
  return [...errors, ...validateNotMoreThan100Percent(missing, path.child('maxUnavailable'))]
}

function isNone(share: unknown): boolean {
  return (percentOf(share) ?? share) === 0 || (typeof share === 'string' && percentOf(share) === undefined)
}

function validateDeadline(deadline: number | undefined, readySeconds: number): FieldError[] {
  if (deadline === undefined || deadline > readySeconds) return []
  return [
    fieldError.invalid(specPath.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds'),
  ]
}
