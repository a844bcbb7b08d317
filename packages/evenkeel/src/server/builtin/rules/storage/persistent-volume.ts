/**
 * PersistentVolumes: storage that is there. Its source never changes.
 */
import { checkDnsSubdomain, deepEqual, fieldError, FieldPath } from '#api'
import type { FieldError, JsonObject, UnstructuredObject } from '#api'
import { allowOneOf, refuse, requireSame } from '../checks.ts'
import { draftIn, ensureDraft, setDefault, setDefaultText } from '../drafts.ts'
import type { StrategyHooks } from '../hooks.ts'
import { canonicalizeQuantities, quantityFrom } from '../quantities.ts'
import { objectIn, textIn, textsIn } from '../reading.ts'
import { validateModes, volumeModes } from './persistent-volume-claim.ts'

const specPath = FieldPath.of('spec')
/** Everything else in a spec is a source. */
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
    if (subresource !== 'status' || phaseOf(object as unknown as UnstructuredObject) === phaseOf(old)) return
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
    ...Object.entries(capacity).flatMap(([name, value]) => {
      const quantity = quantityFrom(value)
      return quantity !== undefined && quantity.unscaled > 0n
        ? []
        : [fieldError.invalid(path.key(name), value, 'must be greater than zero')]
    }),
  ]
}
