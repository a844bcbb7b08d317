/**
 * What controllers of pods have in common: a selector, and a template whose pods it selects and that run for ever.
 */
import {
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
} from '#api'
import { validateTemplate } from '../core/pod-spec.ts'
import { isEmptySelector, requireNonNegative, selectorIn } from '../validation.ts'

const specPath = FieldPath.of('spec')
const templatePath = specPath.child('template')

/** A selector that is there, is well-formed and says something; `owner` is the word upstream uses. */
export function validateSelector(spec: JsonObject, { owner }: { owner: string }): FieldError[] {
  const [selector, path] = [selectorIn(spec, 'selector'), specPath.child('selector')]
  if (selector === undefined) return [fieldError.required(path)]
  const errors = validateLabelSelector(selector, path)
  return isEmptySelector(selector)
    ? [...errors, fieldError.invalid(path, spec['selector'], `empty selector is invalid for ${owner}`)]
    : errors
}

/** Whether a selector can be used at all. */
export function isValidSelector(selector: LabelSelector | undefined): boolean {
  try {
    labelRequirementsOf(selector)
    return true
  } catch {
    return false
  }
}

/** The template's own labels must satisfy the selector, or the controller would never find its pods. */
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

/** A map as messages show it: by key. */
export function sortedByKey(map: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => compareText(a, b)))
}

/** A template of pods that are replaced when they end; `owner` is the kind. */
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

/** Numbers of a spec that may be absent but not negative. */
export function validateCounts(spec: JsonObject, keys: readonly string[]): FieldError[] {
  return keys.flatMap((key) => requireNonNegative(numberIn(spec, key), specPath.child(key)))
}

/** Counts in a status: none negative, none above the number of replicas, none available that is not ready. */
export function validateReplicaStatus(status: JsonObject, keys: readonly string[]): FieldError[] {
  const path = FieldPath.of('status')
  const count = (key: string): number => numberIn(status, key) ?? 0
  const errors = ['replicas', 'observedGeneration', ...keys].flatMap((key) =>
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
