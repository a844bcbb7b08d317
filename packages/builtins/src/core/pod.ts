/**
 * Pods: defaults, status Pending on create, a mostly immutable spec, and a grace period on delete.
 */
import {
  errorsOfEach,
  addQuantities,
  compareQuantities,
  deepEqual,
  fieldError,
  FieldPath,
  isSet,
  numberIn,
  objectIn,
  objectsIn,
  optionalObjectIn,
  textIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type Quantity,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftIn, ensureDraft, restore } from '../defaulting.ts'
import { quantityFrom } from '../resource-quantities.ts'
import type { ObjectDraft, WriteContext } from '../resource.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { requireSame } from '../validation.ts'
import { defaultPod, defaultTemplate } from './pod-defaults.ts'
import { validatePodSpec, validateTemplate } from './pod-spec.ts'

const specPath = FieldPath.of('spec')
const graceSecondsDefault = 30

export const podStrategy: StrategyHooks = {
  selectableFields: {
    'spec.nodeName': (object) => textIn(objectIn(object, 'spec'), 'nodeName'),
    // The deprecated field selector for the node.
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

/** PodTemplates: the same defaults and validation, without a status. */
export const podTemplateStrategy: StrategyHooks = {
  default: defaultTemplate,
  validate: (object) => validateTemplate(objectIn(object, 'template'), FieldPath.of('template')),
}

/** A Pod that was never scheduled or has finished is deleted at once; a negative grace period means the minimum. */
function graceSeconds(object: UnstructuredObject, requested: number | undefined): number {
  const [spec, phase] = [objectIn(object, 'spec'), textIn(objectIn(object, 'status'), 'phase')]
  if (textIn(spec, 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0
  const seconds = requested ?? numberIn(spec, 'terminationGracePeriodSeconds') ?? graceSecondsDefault
  return seconds < 0 ? 1 : seconds
}

/** A status update cannot change owner references or begin a deletion, and may leave out the QoS class. */
function prepareUpdate(object: ObjectDraft, old: UnstructuredObject, { subresource }: WriteContext): void {
  if (subresource !== 'status') return
  restore(object.metadata, 'ownerReferences', old.metadata.ownerReferences)
  restore(object.metadata, 'deletionTimestamp', old.metadata.deletionTimestamp)
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
  // Only existing Pods can get ephemeral containers; an object without a resourceVersion is not stored yet.
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

// The mutable parts of a Pod spec: images, a shorter deadline, more tolerations, fewer scheduling gates; and while
// a Pod is gated, its scheduling directives.

const mutable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
]

function validatePodChange(spec: JsonObject, old: JsonObject, path: FieldPath): FieldError[] {
  for (const key of ['containers', 'initContainers']) {
    if (objectsIn(spec, key).length !== objectsIn(old, key).length) {
      return [fieldError.forbidden(path.child(key), 'pod updates may not add or remove containers')]
    }
  }
  const deadline = validateDeadline(
    numberIn(spec, 'activeDeadlineSeconds'),
    numberIn(old, 'activeDeadlineSeconds'),
    path.child('activeDeadlineSeconds'),
  )
  const errors = [
    ...deadline,
    ...validateTolerations(objectsIn(spec, 'tolerations'), objectsIn(old, 'tolerations'), path.child('tolerations')),
    ...validateGates(
      objectsIn(spec, 'schedulingGates'),
      objectsIn(old, 'schedulingGates'),
      path.child('schedulingGates'),
    ),
  ]
  if (deepEqual(comparable(spec, old), comparable(old, old))) return errors
  return [...errors, fieldError.forbidden(path, `pod updates may not change fields other than ${mutable.join(',')}`)]
}

function validateDeadline(now: number | undefined, before: number | undefined, path: FieldPath): FieldError[] {
  if (before === undefined) return []
  if (now === undefined) return [fieldError.invalid(path, null, 'must not update from a positive integer to nil value')]
  return now > before ? [fieldError.invalid(path, now, 'must be less than or equal to previous value')] : []
}

function validateTolerations(now: readonly JsonObject[], before: readonly JsonObject[], path: FieldPath): FieldError[] {
  const present = new Set(now.map(identityOf))
  const kept = before.every((old) => present.has(identityOf(old)))
  return kept
    ? []
    : [fieldError.forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')]
}

/** All fields of a toleration but its seconds. */
function identityOf(toleration: JsonObject): string {
  return JSON.stringify(['key', 'operator', 'value', 'effect'].map((field) => toleration[field] ?? ''))
}

function validateGates(now: readonly JsonObject[], before: readonly JsonObject[], path: FieldPath): FieldError[] {
  const names = new Set(before.map((gate) => textIn(gate, 'name')))
  return errorsOfEach(now, (gate, index) => {
    const name = textIn(gate, 'name')
    if (names.has(name)) return []
    return [
      fieldError.forbidden(
        path.index(index).child('name'),
        `only deletion is allowed, but found new scheduling gate '${name}'`,
      ),
    ]
  })
}

/** The spec with all mutable fields reset to their old values; an empty list equals an absent one. */
function comparable(spec: JsonObject, old: JsonObject): JsonObject {
  const copy: JsonObjectDraft = { ...spec }
  for (const key of ['containers', 'initContainers']) {
    const before = objectsIn(old, key)
    copy[key] = objectsIn(spec, key).map((container, index) => ({
      ...container,
      image: textIn(before[index], 'image'),
    }))
  }
  const isGated = objectsIn(old, 'schedulingGates').length > 0
  for (const key of ['activeDeadlineSeconds', 'tolerations', 'schedulingGates', ...(isGated ? ['nodeSelector'] : [])])
    copy[key] = old[key]
  if (isGated)
    copy['affinity'] = { ...objectIn(spec, 'affinity'), nodeAffinity: objectIn(old, 'affinity')['nodeAffinity'] }
  if ((numberIn(old, 'terminationGracePeriodSeconds') ?? 0) < 0 && copy['terminationGracePeriodSeconds'] === 1) {
    copy['terminationGracePeriodSeconds'] = old['terminationGracePeriodSeconds']
  }
  return Object.fromEntries(Object.entries(copy).filter(([, value]) => !isEmpty(value)))
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (value === undefined || value === false || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return typeof value === 'object' && value !== null && Object.values(value).every((field) => field === undefined)
}

// The QoS class of a Pod, which determines the order of eviction on a node under pressure.
//
// Guaranteed: every container has cpu and memory limits with equal requests. BestEffort: no requests and limits.
// Burstable: all other Pods.

const computed = ['cpu', 'memory']
type Sums = Map<string, Quantity>

export function qosClassOf(spec: JsonObject): 'BestEffort' | 'Burstable' | 'Guaranteed' {
  const whole = optionalObjectIn(spec, 'resources')
  const resources =
    whole === undefined
      ? [...objectsIn(spec, 'containers'), ...objectsIn(spec, 'initContainers')].map((container) =>
          objectIn(container, 'resources'),
        )
      : [whole]
  const [requests, limits]: [Sums, Sums] = [new Map(), new Map()]
  let isLimited = true
  for (const each of resources) {
    add(requests, objectIn(each, 'requests'))
    isLimited = add(limits, objectIn(each, 'limits')) === computed.length && isLimited
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  return isLimited && isSame(requests, limits) ? 'Guaranteed' : 'Burstable'
}

/** Adds the quantities above zero; returns the number of such resources. */
function add(sums: Sums, amounts: JsonObject): number {
  let count = 0
  for (const name of computed) {
    const quantity = Object.hasOwn(amounts, name) ? quantityFrom(amounts[name]) : undefined
    if (quantity === undefined || quantity.unscaled <= 0n) continue
    const sum = sums.get(name)
    sums.set(name, sum === undefined ? quantity : addQuantities(sum, quantity))
    count++
  }
  return count
}

function isSame(requests: Sums, limits: Sums): boolean {
  if (requests.size !== limits.size) return false
  return [...requests].every(([name, quantity]) => {
    const limit = limits.get(name)
    return limit !== undefined && compareQuantities(limit, quantity) === 0
  })
}
