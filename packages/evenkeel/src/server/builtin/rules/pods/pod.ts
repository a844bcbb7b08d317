/**
 * Pods: completed by defaults, born Pending, and hardly changed afterwards; they get time to stop.
 */
import { fieldError, FieldPath } from '#api'
import type { FieldError, UnstructuredObject } from '#api'
import type { ObjectDraft, WriteContext } from '../../../resources/resource.ts'
import { requireSame } from '../checks.ts'
import { draftIn, ensureDraft, restore } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { isSet, numberIn, objectIn, objectsIn, textIn } from '../reading.ts'
import { defaultPod, defaultTemplate } from './defaults/pod-spec.ts'
import { validatePodChange } from './pod-update.ts'
import { qosClassOf } from './quality.ts'
import { validatePodSpec, validateTemplate } from './validation/pod-spec.ts'

const specPath = FieldPath.of('spec')
const graceSecondsDefault = 30

export const podStrategy: StrategyHooks = {
  selectableFields: {
    'spec.nodeName': (object) => textIn(objectIn(object, 'spec'), 'nodeName'),
    // An old name for the node, still accepted.
    'spec.host': (object) => textIn(objectIn(object, 'spec'), 'nodeName'),
    'spec.restartPolicy': (object) => textIn(objectIn(object, 'spec'), 'restartPolicy'),
    'spec.schedulerName': (object) => textIn(objectIn(object, 'spec'), 'schedulerName'),
    'spec.serviceAccountName': (object) => textIn(objectIn(object, 'spec'), 'serviceAccountName'),
    'spec.hostNetwork': (object) => String(isSet(objectIn(object, 'spec'), 'hostNetwork')),
    'status.phase': (object) => textIn(objectIn(object, 'status'), 'phase'),
    'status.podIP': addressOf,
    'status.podIPs': addressOf,
    'status.nominatedNodeName': (object) => textIn(objectIn(object, 'status'), 'nominatedNodeName'),
  },
  default: (object) => defaultPod(ensureDraft(object, 'spec')),
  prepareForCreate(object) {
    object['status'] = { phase: 'Pending', qosClass: qosClassOf(objectIn(object, 'spec')) }
  },
  prepareForUpdate: prepareUpdate,
  validate: (object) => validatePod(object),
  validateUpdate: (object, old) => validatePodChange(objectIn(object, 'spec'), objectIn(old, 'spec'), specPath),
  validateStatusUpdate: (object, old) =>
    requireSame(
      textIn(objectIn(object, 'status'), 'qosClass'),
      textIn(objectIn(old, 'status'), 'qosClass'),
      FieldPath.of('status', 'qosClass'),
    ),
  graceSeconds,
}

/** PodTemplates: the same defaults and rules, without a life of their own. */
export const podTemplateStrategy: StrategyHooks = {
  default: defaultTemplate,
  validate: (object) => validateTemplate(objectIn(object, 'template'), FieldPath.of('template')),
}

/** A pod that was never placed, or has finished, has nothing to stop; less than nothing means as little as possible. */
function graceSeconds(object: UnstructuredObject, asked: number | undefined): number {
  const [spec, phase] = [objectIn(object, 'spec'), textIn(objectIn(object, 'status'), 'phase')]
  if (textIn(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0
  const seconds = asked ?? numberIn(spec, 'terminationGracePeriodSeconds') ?? graceSecondsDefault
  return seconds < 0 ? 1 : seconds
}

/** Whoever writes the status (a kubelet) says nothing about owners and may leave out the quality. */
function prepareUpdate(object: ObjectDraft, old: UnstructuredObject, { subresource }: WriteContext): void {
  if (subresource !== 'status') return
  restore(object.metadata, 'ownerReferences', old.metadata.ownerReferences)
  const [status, before] = [draftIn(object, 'status'), objectIn(old, 'status')]
  if (status === undefined) return
  for (const key of ['qosClass', 'observedGeneration']) if (status[key] === undefined) restore(status, key, before[key])
}

function validatePod(object: UnstructuredObject): FieldError[] {
  const spec = objectIn(object, 'spec')
  const errors = validatePodSpec(spec, specPath, { pod: object.metadata.name ?? '' })
  for (const key of ['containers', 'initContainers']) {
    objectsIn(spec, key).forEach((container, index) => {
      const image = textIn(container, 'image')
      const path = specPath.child(key).index(index).child('image')
      if (image.trim() !== image)
        errors.push(fieldError.invalid(path, image, 'must not have leading or trailing whitespace'))
    })
  }
  // Only running pods get ephemeral containers; an object without a version is not stored yet.
  if (object.metadata.resourceVersion === undefined && objectsIn(spec, 'ephemeralContainers').length > 0) {
    errors.push(fieldError.forbidden(specPath.child('ephemeralContainers'), 'cannot be set on create'))
  }
  if (textIn(spec, 'nodeName') !== '' && objectsIn(spec, 'schedulingGates').length > 0) {
    errors.push(
      fieldError.forbidden(specPath.child('nodeName'), 'cannot be set until all schedulingGates have been cleared'),
    )
  }
  return errors
}

function addressOf(object: UnstructuredObject): string {
  const status = objectIn(object, 'status')
  return textIn(status, 'podIP') || textIn(objectsIn(status, 'podIPs')[0], 'ip')
}
