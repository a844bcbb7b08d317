/**
 * Namespaces: created Active with the finalizer `kubernetes`, which only the finalize subresource can remove, and
 * always labeled with their own name.
 */
import {
  errorsOfEach,
  checkQualifiedName,
  fieldError,
  FieldPath,
  objectIn,
  textIn,
  textsIn,
  valueIn,
  type FieldError,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { ensureDraft, restore } from '../defaulting.ts'
import type { ObjectDraft, WriteContext } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { refuse } from '../validation.ts'

const finalizersPath = FieldPath.of('spec', 'finalizers')
const phasePath = FieldPath.of('status', 'Phase')
const standardFinalizers = ['foregroundDeletion', 'kubernetes', 'orphan']

export const namespaceStrategy: StrategyHooks = {
  selectableFields: {
    'status.phase': (object) => textIn(objectIn(object, 'status'), 'phase'),
  },
  default(object) {
    labelWithName(object)
    const status = ensureDraft(object, 'status')
    if (textIn(status, 'phase') === '') status['phase'] = 'Active'
  },
  prepareForCreate(object) {
    labelWithName(object)
    object['status'] = { phase: 'Active' }
    const spec = ensureDraft(object, 'spec')
    const finalizers = textsIn(spec, 'finalizers')
    if (!finalizers.includes('kubernetes')) spec['finalizers'] = [...finalizers, 'kubernetes']
  },
  prepareForUpdate(object, old, context: WriteContext) {
    labelWithName(object)
    if (context.subresource === 'finalize') return
    const finalizers = valueIn(objectIn(old, 'spec'), 'finalizers')
    if (finalizers === undefined && object['spec'] === undefined) return
    restore(ensureDraft(object, 'spec'), 'finalizers', finalizers)
  },
  validate: (object) =>
    errorsOfEach(textsIn(objectIn(object, 'spec'), 'finalizers'), (finalizer) => [
      ...refuse(finalizer, finalizersPath, checkQualifiedName(finalizer)),
      ...validateFinalizer(finalizer),
    ]),
  validateStatusUpdate: (object) => validatePhase(object),
  deletion: {
    blocksDeletion: (object) => textsIn(objectIn(object, 'spec'), 'finalizers').length > 0,
    markDeleting(object) {
      ensureDraft(object, 'status')['phase'] = 'Terminating'
      // Namespaces have no grace period.
      delete object.metadata['deletionGracePeriodSeconds']
    },
  },
}

function labelWithName(object: ObjectDraft): void {
  const { metadata } = object
  const name = metadata['name']
  if (typeof name === 'string' && name !== '') ensureDraft(metadata, 'labels')['kubernetes.io/metadata.name'] = name
}

function validateFinalizer(finalizer: string): FieldError[] {
  if (finalizer.includes('/') || standardFinalizers.includes(finalizer)) return []
  return [
    fieldError.invalid(
      finalizersPath,
      finalizer,
      'name is neither a standard finalizer name nor is it fully qualified',
    ),
  ]
}

function validatePhase(object: UnstructuredObject): FieldError[] {
  const phase = textIn(objectIn(object, 'status'), 'phase')
  if (object.metadata.deletionTimestamp === undefined) {
    return phase === 'Active'
      ? []
      : [fieldError.invalid(phasePath, phase, "may only be 'Active' if `deletionTimestamp` is empty")]
  }
  return phase === 'Terminating'
    ? []
    : [fieldError.invalid(phasePath, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
}
