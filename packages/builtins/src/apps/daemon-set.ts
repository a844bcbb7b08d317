/**
 * DaemonSets: one Pod per node, updated with either maxUnavailable or maxSurge.
 *
 * The template generation is kept in an annotation, as in kube-apiserver.
 */
import {
  errorsOfEach,
  deepEqual,
  fieldError,
  FieldPath,
  objectIn,
  optionalObjectIn,
  textIn,
  textMapIn,
  validateLabelSelector,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { defaultTemplate } from '../core/pod-defaults.ts'
import { ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import {
  isEmptySelector,
  percentOf,
  requireSame,
  selectorIn,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from '../validation.ts'
import { validateCounts, validateRestartingTemplate, validateTemplateMatchesSelector } from './pod-selection.ts'

const specPath = FieldPath.of('spec')
const strategyPath = specPath.child('updateStrategy')
const countAnnotation = 'deprecated.daemonset.template.generation'

export const daemonSetStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    defaultTemplate(spec)
    const strategy = ensureDraft(spec, 'updateStrategy')
    setDefaultText(strategy, 'type', 'RollingUpdate')
    if (strategy['type'] === 'RollingUpdate') {
      const rolling = ensureDraft(strategy, 'rollingUpdate')
      setDefault(rolling, 'maxUnavailable', 1)
      setDefault(rolling, 'maxSurge', 0)
    }
    setDefault(spec, 'revisionHistoryLimit', 10)
    // In kube-apiserver the count is a field that becomes an annotation: the writer of an object without it owns it.
    setDefaultText(ensureDraft(object.metadata, 'annotations'), countAnnotation, '0')
  },
  prepareForCreate(object) {
    setCount(object, Math.max(1, countOf(textMapIn(object.metadata, 'annotations'))))
    object['status'] = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 }
  },
  prepareForUpdate(object, old) {
    const changed = !deepEqual(objectIn(object, 'spec')['template'], objectIn(old, 'spec')['template'])
    setCount(object, countOf(old.metadata.annotations ?? {}) + Number(changed))
  },
  validate: validateDaemonSet,
  validateUpdate: (object, old) =>
    requireSame(objectIn(object, 'spec')['selector'], objectIn(old, 'spec')['selector'], specPath.child('selector')),
}

function countOf(annotations: Readonly<Record<string, string>>): number {
  const count = Number(annotations[countAnnotation] ?? 0)
  return Number.isSafeInteger(count) && count > 0 ? count : 0
}

function setCount(object: ObjectDraft, count: number): void {
  ensureDraft(object.metadata, 'annotations')[countAnnotation] = String(count)
}

function validateDaemonSet(object: UnstructuredObject): FieldError[] {
  const spec = objectIn(object, 'spec')
  const [selector, path] = [selectorIn(spec, 'selector'), specPath.child('selector')]
  return [
    ...(selector === undefined ? [] : validateLabelSelector(selector, path)),
    ...validateTemplateMatchesSelector(spec, selector),
    ...(selector !== undefined && isEmptySelector(selector)
      ? [fieldError.invalid(path, spec['selector'], 'empty selector is invalid for daemonset')]
      : []),
    ...validateRestartingTemplate(objectIn(spec, 'template'), { owner: 'DaemonSet' }),
    ...validateCounts(spec, ['minReadySeconds']),
    ...validateStrategy(objectIn(spec, 'updateStrategy')),
    ...validateCounts(spec, ['revisionHistoryLimit']),
  ]
}

function validateStrategy(strategy: JsonObject): FieldError[] {
  const [type, rolling, path] = [
    textIn(strategy, 'type'),
    optionalObjectIn(strategy, 'rollingUpdate'),
    strategyPath.child('rollingUpdate'),
  ]
  if (type === 'OnDelete') return []
  if (type !== 'RollingUpdate')
    return [
      fieldError.notSupported(strategyPath, { Type: type, RollingUpdate: rolling ?? null }, [
        'RollingUpdate',
        'OnDelete',
      ]),
    ]
  return rolling === undefined ? [fieldError.required(path)] : validateRolling(rolling, path)
}

function validateRolling(rolling: JsonObject, path: FieldPath): FieldError[] {
  const keys = ['maxUnavailable', 'maxSurge']
  const errors = [
    ...errorsOfEach(keys, (key) => validateIntOrPercent(rolling[key], path.child(key))),
    ...errorsOfEach(keys, (key) => validateNotMoreThan100Percent(rolling[key], path.child(key))),
  ]
  const [missing, extra] = keys.map((key) => (percentOf(rolling[key]) ?? rolling[key]) !== 0)
  if (missing && extra)
    errors.push(
      fieldError.invalid(path.child('maxSurge'), rolling['maxSurge'], 'may not be set when maxUnavailable is non-zero'),
    )
  if (!missing && !extra)
    errors.push(fieldError.required(path.child('maxUnavailable'), 'cannot be 0 when maxSurge is 0'))
  return errors
}
