/**
 * ReplicaSets, and ReplicationControllers, whose selector is a map that defaults to the labels of the template.
 */
import {
  fieldError,
  FieldPath,
  numberIn,
  objectIn,
  optionalObjectIn,
  textMapIn,
  type FieldError,
  type LabelSelector,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { defaultTemplate } from '../core/pod-defaults.ts'
import { ensureDraft, setDefault } from '../defaulting.ts'
import type { ObjectDraft } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { requireSame, selectorIn } from '../validation.ts'
import {
  isValidSelector,
  validateCounts,
  validateReplicaStatus,
  validateRestartingTemplate,
  validateSelector,
  validateTemplateMatchesSelector,
} from './pod-selection.ts'

const specPath = FieldPath.of('spec')
const statusCounts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']

export const replicaSetStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    setDefault(spec, 'replicas', 1)
    defaultTemplate(spec)
  },
  prepareForCreate: startWithNone,
  validate(object) {
    const spec = objectIn(object, 'spec')
    const selector = selectorIn(spec, 'selector')
    const template = isValidSelector(selector)
      ? [
          ...validateTemplateMatchesSelector(spec, selector),
          ...validateRestartingTemplate(objectIn(spec, 'template'), { owner: 'ReplicaSet' }),
        ]
      : [fieldError.invalid(specPath.child('selector'), spec['selector'], 'invalid label selector')]
    return [
      ...validateCounts(spec, ['replicas', 'minReadySeconds']),
      ...validateSelector(spec, { owner: 'deployment' }),
      ...template,
    ]
  },
  validateUpdate: (object, old) =>
    requireSame(objectIn(object, 'spec')['selector'], objectIn(old, 'spec')['selector'], specPath.child('selector')),
  validateStatusUpdate: (object) => validateReplicaStatus(objectIn(object, 'status'), statusCounts),
}

export const replicationControllerStrategy: StrategyHooks = {
  selectableFields: { 'status.replicas': (object) => String(numberIn(objectIn(object, 'status'), 'replicas') ?? 0) },
  default(object) {
    const spec = ensureDraft(object, 'spec')
    setDefault(spec, 'replicas', 1)
    if (spec['template'] !== undefined) defaultTemplate(spec)
    const labels = optionalObjectIn(objectIn(objectIn(spec, 'template'), 'metadata'), 'labels')
    if (labels === undefined) return
    if (Object.keys(objectIn(spec, 'selector')).length === 0) spec['selector'] = { ...labels }
    if (Object.keys(objectIn(object.metadata, 'labels')).length === 0)
      object.metadata.labels = textMapIn(objectIn(objectIn(spec, 'template'), 'metadata'), 'labels')
  },
  prepareForCreate: startWithNone,
  validate: validateController,
  validateStatusUpdate: (object) => validateReplicaStatus(objectIn(object, 'status'), statusCounts),
}

function startWithNone(object: ObjectDraft): void {
  object['status'] = { replicas: 0 }
}

function validateController(object: UnstructuredObject): FieldError[] {
  const spec = objectIn(object, 'spec')
  const matchLabels = textMapIn(spec, 'selector')
  const selector: LabelSelector = { matchLabels }
  const errors = validateCounts(spec, ['replicas', 'minReadySeconds'])
  if (Object.keys(matchLabels).length === 0) errors.push(fieldError.required(specPath.child('selector')))
  if (optionalObjectIn(spec, 'template') === undefined)
    return [...errors, fieldError.required(specPath.child('template'))]
  return [
    ...errors,
    ...validateTemplateMatchesSelector(spec, selector),
    ...validateRestartingTemplate(objectIn(spec, 'template'), { owner: 'ReplicationController' }),
  ]
}
