/**
 * PersistentVolumes: the volume source is immutable.
 */
import {
  errorsOfEach,
  checkDnsSubdomain,
  compareQuantities,
  deepEqual,
  fieldError,
  FieldPath,
  objectIn,
  optionalObjectIn,
  textIn,
  textsIn,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftIn, ensureDraft, setDefault, setDefaultText } from '../defaulting.ts'
import { canonicalizeQuantities, quantityFrom, validateQuantity } from '../resource-quantities.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { allowOneOf, refuse, requireSame, requireText, validateSelectorIn } from '../validation.ts'
import { defaultClaimSpec } from './pod-defaults.ts'

const specPath = FieldPath.of('spec')
/** All other fields of a spec are volume sources. */
const plainFields = [
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]

export const persistentVolumeStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    setDefaultText(spec, 'persistentVolumeReclaimPolicy', 'Retain')
    setDefault(spec, 'volumeMode', 'Filesystem')
    const path = draftIn(spec, 'hostPath')
    if (path !== undefined) setDefault(path, 'type', '')
    canonicalizeQuantities(spec, 'capacity')
    if (object['status'] !== undefined) setDefaultText(ensureDraft(object, 'status'), 'phase', 'Pending')
  },
  prepareForCreate(object, { now }) {
    object['status'] = { phase: 'Pending', lastPhaseTransitionTime: now }
  },
  validate: (object) => validateSpec(objectIn(object, 'spec')),
  validateUpdate(object, old) {
    const [spec, before] = [objectIn(object, 'spec'), objectIn(old, 'spec')]
    const errors = deepEqual(sourcesOf(spec), sourcesOf(before))
      ? []
      : [
          fieldError.forbidden(
            specPath.child('persistentvolumesource'),
            'spec.persistentvolumesource is immutable after creation',
          ),
        ]
    return [...errors, ...requireSame(spec['volumeMode'], before['volumeMode'], FieldPath.of('volumeMode'))]
  },
  prepareForUpdate: (object, old, { subresource, now }) => {
    if (subresource !== 'status' || phaseOf(object) === phaseOf(old)) return
    ensureDraft(object, 'status')['lastPhaseTransitionTime'] = now
  },
}

function phaseOf(object: UnstructuredObject): string {
  return textIn(objectIn(object, 'status'), 'phase')
}

function sourcesOf(spec: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !plainFields.includes(key)))
}

function validateSpec(spec: JsonObject): FieldError[] {
  const [modes, className, sources] = [
    textsIn(spec, 'accessModes'),
    textIn(spec, 'storageClassName'),
    Object.keys(sourcesOf(spec)),
  ]
  return [
    ...(modes.length === 0 ? [fieldError.required(specPath.child('accessModes'))] : []),
    ...validateModes(modes, specPath.child('accessModes')),
    ...validateCapacity(objectIn(spec, 'capacity'), specPath.child('capacity')),
    ...allowOneOf(spec['persistentVolumeReclaimPolicy'], specPath.child('persistentVolumeReclaimPolicy'), [
      'Delete',
      'Recycle',
      'Retain',
    ]),
    ...(sources.length === 0 ? [fieldError.required(specPath, 'must specify a volume type')] : []),
    ...sources
      .slice(1)
      .map((key) => fieldError.forbidden(specPath.child(key), 'may not specify more than 1 volume type')),
    ...(className === '' ? [] : refuse(className, specPath.child('storageClassName'), checkDnsSubdomain(className))),
    ...allowOneOf(spec['volumeMode'], specPath.child('volumeMode'), volumeModes),
  ]
}

function validateCapacity(capacity: JsonObject, path: FieldPath): FieldError[] {
  const names = Object.keys(capacity)
  const errors = names.length === 0 ? [fieldError.required(path)] : []
  if (names.length !== 1 || names[0] !== 'storage')
    errors.push(fieldError.notSupported(path, names.length === 0 ? null : capacity, ['storage']))
  return [
    ...errors,
    ...errorsOfEach(Object.entries(capacity), ([name, value]) => {
      const quantity = quantityFrom(value)
      return quantity !== undefined && quantity.unscaled > 0n
        ? []
        : [fieldError.invalid(path.key(name), value, 'must be greater than zero')]
    }),
  ]
}

// PersistentVolumeClaims: after creation only the size may grow, and only once the claim is bound.

const claimSpecPath = FieldPath.of('spec')
const changeComplaint =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
const volumeModes = ['Block', 'Filesystem']

export const persistentVolumeClaimStrategy: StrategyHooks = {
  default(object) {
    defaultClaimSpec(ensureDraft(object, 'spec'))
    if (object['status'] !== undefined) setDefaultText(ensureDraft(object, 'status'), 'phase', 'Pending')
  },
  prepareForCreate(object) {
    object['status'] = { phase: 'Pending' }
    mirrorSource(ensureDraft(object, 'spec'))
  },
  validate: (object) => validateClaimSpec(objectIn(object, 'spec'), claimSpecPath),
  validateUpdate: validateChange,
}

/** The spec of a claim or of a claim template. */
export function validateClaimSpec(spec: JsonObject, path: FieldPath): FieldError[] {
  const [modes, className] = [textsIn(spec, 'accessModes'), textIn(spec, 'storageClassName')]
  return [
    ...(modes.length === 0
      ? [fieldError.required(path.child('accessModes'), 'at least 1 access mode is required')]
      : []),
    ...validateSelectorIn(spec, 'selector', path),
    ...validateModes(modes, path.child('accessModes')),
    ...validateSize(objectIn(objectIn(spec, 'resources'), 'requests'), path.child('resources').key('storage')),
    ...(className === '' ? [] : refuse(className, path.child('storageClassName'), checkDnsSubdomain(className))),
    ...allowOneOf(spec['volumeMode'], path.child('volumeMode'), volumeModes),
    ...validateSource(optionalObjectIn(spec, 'dataSource'), path.child('dataSource')),
    ...validateSource(optionalObjectIn(spec, 'dataSourceRef'), path.child('dataSourceRef')),
  ]
}

function validateModes(modes: readonly string[], path: FieldPath): FieldError[] {
  const errors = modes
    .filter((mode) => !accessModes.includes(mode))
    .map((mode) => fieldError.notSupported(path, mode, accessModes))
  const isSingle = modes.includes('ReadWriteOncePod')
  if (!isSingle || modes.every((mode) => mode === 'ReadWriteOncePod' || !accessModes.includes(mode))) return errors
  return [...errors, fieldError.forbidden(path, 'may not use ReadWriteOncePod with other access modes')]
}

function validateSize(requests: JsonObject, path: FieldPath): FieldError[] {
  if (!Object.hasOwn(requests, 'storage')) return [fieldError.required(path)]
  const quantity = quantityFrom(requests['storage'])
  if (quantity !== undefined && quantity.unscaled <= 0n)
    return [fieldError.invalid(path, requests['storage'], 'must be greater than zero')]
  return validateQuantity('storage', requests['storage'], path)
}

function validateSource(source: JsonObject | undefined, path: FieldPath): FieldError[] {
  if (source === undefined) return []
  const [kind, group] = [textIn(source, 'kind'), textIn(source, 'apiGroup')]
  const errors = [...requireText(textIn(source, 'name'), path.child('name')), ...requireText(kind, path.child('kind'))]
  if (group === '' && kind !== 'PersistentVolumeClaim') {
    errors.push(fieldError.invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
  }
  return group === '' ? errors : [...errors, ...refuse(group, path.child('apiGroup'), checkDnsSubdomain(group))]
}

/** `dataSource`, for claims and snapshots only, and `dataSourceRef`: either one sets the other. */
function mirrorSource(spec: JsonObjectDraft): void {
  const [source, reference] = [optionalObjectIn(spec, 'dataSource'), optionalObjectIn(spec, 'dataSourceRef')]
  if (source !== undefined && !isOldSource(source)) delete spec['dataSource']
  else if (source !== undefined && reference === undefined) spec['dataSourceRef'] = { ...source }
  if (spec['dataSource'] === undefined && reference !== undefined && textIn(reference, 'namespace') === '')
    spec['dataSource'] = { ...reference }
}

function isOldSource(source: JsonObject): boolean {
  const [kind, group] = [textIn(source, 'kind'), textIn(source, 'apiGroup')]
  return (
    (kind === 'PersistentVolumeClaim' && group === '') ||
    (kind === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io')
  )
}

function validateChange(object: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  const [spec, before] = [objectIn(object, 'spec'), objectIn(old, 'spec')]
  const isBound = textIn(objectIn(object, 'status'), 'phase') === 'Bound'
  const errors = deepEqual(comparable(spec, before, { isBound }), comparable(before, before, { isBound }))
    ? []
    : [fieldError.forbidden(claimSpecPath, changeComplaint)]
  return [
    ...errors,
    ...validateShrinking(spec, old),
    ...requireSame(spec['volumeMode'], before['volumeMode'], FieldPath.of('volumeMode')),
  ]
}

/** The spec with all mutable fields reset to their old values. */
function comparable(spec: JsonObject, before: JsonObject, { isBound }: { isBound: boolean }): JsonObject {
  const copy: JsonObjectDraft = { ...spec }
  if (textIn(before, 'volumeName') === '') delete copy['volumeName']
  if (before['storageClassName'] === undefined) delete copy['storageClassName']
  if (!isBound) return copy
  const resources = objectIn(spec, 'resources')
  copy['resources'] = { ...resources, requests: { ...objectIn(resources, 'requests'), storage: null } }
  delete copy['volumeAttributesClassName']
  return copy
}

/** A volume cannot shrink, but a failed expansion can be reverted down to the current capacity. */
function validateShrinking(spec: JsonObject, old: UnstructuredObject): FieldError[] {
  const sizeOf = (amounts: JsonObject) => quantityFrom(amounts['storage'])
  const now = sizeOf(objectIn(objectIn(spec, 'resources'), 'requests'))
  const before = sizeOf(objectIn(objectIn(objectIn(old, 'spec'), 'resources'), 'requests'))
  if (now === undefined || before === undefined || compareQuantities(now, before) >= 0) return []
  const actual = sizeOf(objectIn(objectIn(old, 'status'), 'capacity'))
  if (actual === undefined || compareQuantities(now, actual) > 0) return []
  return [
    fieldError.forbidden(
      claimSpecPath.child('resources', 'requests', 'storage'),
      'field can not be less than status.capacity',
    ),
  ]
}
