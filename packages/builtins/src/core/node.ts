/**
 * Nodes: taints are unique by key and effect; podCIDRs and providerID are immutable once set.
 */
import {
  errorsOfEach,
  pushAll,
  checkLabelValue,
  deepEqual,
  fieldError,
  FieldPath,
  isSet,
  objectIn,
  objectsIn,
  textIn,
  textsIn,
  valueIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftIn } from '../defaulting.ts'
import { validateRange } from '../ip-addresses.ts'
import { canonicalizeQuantities, fillQuantities, validateQuantity } from '../resource-quantities.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { requireChoice, requireQualifiedName } from '../validation.ts'

const specPath = FieldPath.of('spec')
/** kube-apiserver validates the taints of the spec, but reports a metadata path. */
const taintsPath = FieldPath.of('metadata', 'taints')

export const nodeStrategy: StrategyHooks = {
  selectableFields: { 'spec.unschedulable': (object) => String(isSet(objectIn(object, 'spec'), 'unschedulable')) },
  default(object) {
    const status = draftIn(object, 'status')
    if (status === undefined) return
    canonicalizeQuantities(status, 'capacity')
    canonicalizeQuantities(status, 'allocatable')
    if (status['allocatable'] === undefined && status['capacity'] !== undefined)
      fillQuantities(status, 'allocatable', objectIn(status, 'capacity'))
  },
  validate: (object) => [
    ...validateTaints(objectsIn(objectIn(object, 'spec'), 'taints')),
    ...validateResources(object),
    ...validateRanges(textsIn(objectIn(object, 'spec'), 'podCIDRs')),
  ],
  validateUpdate: (object, old) => [...validateAddresses(object), ...validateKept(object, old)],
  validateStatusUpdate: (object) => [...validateAddresses(object), ...validateResources(object)],
}

function validateTaints(taints: readonly JsonObject[]): FieldError[] {
  const seen = new Set<string>()
  return errorsOfEach(taints, (taint, index) => {
    const path = taintsPath.index(index)
    const [key, value, effect] = [textIn(taint, 'key'), textIn(taint, 'value'), textIn(taint, 'effect')]
    const errors = requireQualifiedName(key, path.child('key'))
    const complaints = checkLabelValue(value)
    if (complaints.length > 0) errors.push(fieldError.invalid(path.child('value'), value, complaints.join(';')))
    pushAll(errors, requireChoice(effect, path.child('effect'), ['NoSchedule', 'PreferNoSchedule', 'NoExecute']))
    const identity = JSON.stringify([effect, key])
    if (seen.has(identity))
      errors.push(
        withDetail(
          fieldError.duplicate(path, { Key: key, Value: value, Effect: effect, TimeAdded: taint['timeAdded'] ?? null }),
          'taints must be unique by key and effect pair',
        ),
      )
    seen.add(identity)
    return errors
  })
}

function withDetail(error: FieldError, detail: string): FieldError {
  return { ...error, body: `${error.body}: ${detail}` }
}

function validateResources(object: UnstructuredObject): FieldError[] {
  const status = objectIn(object, 'status')
  return errorsOfEach(['capacity', 'allocatable'], (part) =>
    errorsOfEach(Object.entries(objectIn(status, part)), ([name, value]) =>
      validateQuantity(name, value, FieldPath.of('status', part, name)),
    ),
  )
}

function validateRanges(ranges: readonly string[]): FieldError[] {
  const path = specPath.child('podCIDRs')
  const errors = errorsOfEach(ranges, (range, index) => validateRange(range, path.index(index)))
  const families = new Set(ranges.map((range) => range.includes(':')))
  if (errors.length > 0 || ranges.length <= 1 || families.size === ranges.length) return errors
  return [fieldError.invalid(path, ranges, 'may specify no more than one CIDR for each IP family')]
}

function validateAddresses(object: UnstructuredObject): FieldError[] {
  const seen = new Set<string>()
  return errorsOfEach(objectsIn(objectIn(object, 'status'), 'addresses'), (address, index) => {
    const identity = JSON.stringify([address['type'], address['address']])
    const repeated = seen.has(identity)
    seen.add(identity)
    return repeated
      ? [
          fieldError.duplicate(FieldPath.of('status', 'addresses').index(index), {
            Type: address['type'],
            Address: address['address'],
          }),
        ]
      : []
  })
}

function validateKept(object: UnstructuredObject, old: UnstructuredObject): FieldError[] {
  const [spec, before] = [objectIn(object, 'spec'), objectIn(old, 'spec')]
  const errors: FieldError[] = []
  if (textsIn(before, 'podCIDRs').length > 0 && !deepEqual(valueIn(spec, 'podCIDRs'), valueIn(before, 'podCIDRs'))) {
    errors.push(
      fieldError.forbidden(specPath.child('podCIDRs'), 'node updates may not change podCIDR except from "" to valid'),
    )
  }
  if (textIn(before, 'providerID') !== '' && textIn(spec, 'providerID') !== textIn(before, 'providerID')) {
    errors.push(
      fieldError.forbidden(
        specPath.child('providerID'),
        'node updates may not change providerID except from "" to valid',
      ),
    )
  }
  return errors
}
