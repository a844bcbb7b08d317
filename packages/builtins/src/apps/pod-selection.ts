/**
 * The common part of workload kinds: a selector, and a Pod template that it selects, with restart policy Always.
 */
import {
  errorsOfEach,
  compareText,
  fieldError,
  FieldPath,
  labelRequirementsOf,
  matchesLabels,
  numberIn,
  objectIn,
  optionalObjectIn,
  textIn,
  textMapIn,
  validateLabelSelector,
  type FieldError,
  type JsonObject,
  type LabelSelector,
} from 'evenkeel/unstable/builtins'
import { validateTemplate } from '../core/pod-spec.ts'
import { isEmptySelector, requireNonNegative, selectorIn } from '../validation.ts'

const specPath = FieldPath.of('spec')
const templatePath = specPath.child('template')

/** Requires a valid, non-empty selector; `owner` is the word in the message. */
export function validateSelector(spec: JsonObject, { owner }: { owner: string }): FieldError[] {
  const [selector, path] = [selectorIn(spec, 'selector'), specPath.child('selector')]
  if (selector === undefined) return [fieldError.required(path)]
  const errors = validateLabelSelector(selector, path)
  return isEmptySelector(selector)
    ? [...errors, fieldError.invalid(path, spec['selector'], `empty selector is invalid for ${owner}`)]
    : errors
}

/** Whether a selector is valid. */
export function isValidSelector(selector: LabelSelector | undefined): boolean {
  try {
    labelRequirementsOf(selector)
    return true
  } catch {
    return false
  }
}

/** The selector must match the labels of the template; otherwise the controller would never find its Pods. */
export function validateTemplateMatchesSelector(spec: JsonObject, selector: LabelSelector | undefined): FieldError[] {
  if (!isValidSelector(selector) || (selector !== undefined && isEmptySelector(selector))) return []
  const metadata = objectIn(objectIn(spec, 'template'), 'metadata')
  const requirements = labelRequirementsOf(selector)
  if (requirements !== undefined && matchesLabels(requirements, textMapIn(metadata, 'labels'))) return []
  const labels = optionalObjectIn(metadata, 'labels')
  return [
    fieldError.invalid(
      templatePath.child('metadata', 'labels'),
      labels && sortedByKey(labels),
      '`selector` does not match template `labels`',
    ),
  ]
}

/** The text of a map in messages, sorted by key. */
export function sortedByKey(map: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => compareText(a, b)))
}

/** A Pod template with restart policy Always; `owner` is the kind. */
export function validateRestartingTemplate(template: JsonObject, { owner }: { owner: string }): FieldError[] {
  const spec = objectIn(template, 'spec')
  const [policy, path] = [textIn(spec, 'restartPolicy'), templatePath.child('spec')]
  const errors = validateTemplate(template, templatePath)
  if (policy !== 'Always') errors.push(fieldError.notSupported(path.child('restartPolicy'), policy, ['Always']))
  if (numberIn(spec, 'activeDeadlineSeconds') === undefined) return errors
  return [
    ...errors,
    fieldError.forbidden(path.child('activeDeadlineSeconds'), `activeDeadlineSeconds in ${owner} is not Supported`),
  ]
}

/** Optional non-negative numbers of a spec. */
export function validateCounts(spec: JsonObject, keys: readonly string[]): FieldError[] {
  return errorsOfEach(keys, (key) => requireNonNegative(numberIn(spec, key), specPath.child(key)))
}

/** Counts in a status: non-negative, at most the number of replicas, available at most ready. */
export function validateReplicaStatus(status: JsonObject, keys: readonly string[]): FieldError[] {
  const path = FieldPath.of('status')
  const count = (key: string): number => numberIn(status, key) ?? 0
  const errors = errorsOfEach(['replicas', 'observedGeneration', ...keys], (key) =>
    requireNonNegative(numberIn(status, key), path.child(key)),
  )
  for (const key of keys) {
    if (count(key) > count('replicas'))
      errors.push(fieldError.invalid(path.child(key), count(key), 'cannot be greater than status.replicas'))
  }
  if (count('availableReplicas') > count('readyReplicas')) {
    errors.push(
      fieldError.invalid(
        path.child('availableReplicas'),
        count('availableReplicas'),
        'cannot be greater than readyReplicas',
      ),
    )
  }
  return errors
}
