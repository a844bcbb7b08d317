/**
 * PriorityClasses: the highest values and the `system-` names are reserved; value and preemption policy are immutable.
 */
import {
  fieldError,
  FieldPath,
  isSet,
  numberIn,
  objectIn,
  textIn,
  type FieldError,
  type JsonObjectDraft,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { draftIn, draftsIn, setDefault, setDefaultText } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { allowOneOf, requireSame } from '../validation.ts'

const valueMax = 1_000_000_000
const systemPrefix = 'system-'
const systemClasses = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
])
const policyPath = FieldPath.of('preemptionPolicy')

export const priorityClassStrategy: StrategyHooks = {
  // kube-apiserver sets generation 1 and never increments it.
  changesGeneration: () => false,
  default: (object) => setDefault(object, 'preemptionPolicy', 'PreemptLowerPriority'),
  validate: (object) => [
    ...validateValue(object),
    ...allowOneOf(object['preemptionPolicy'], policyPath, ['PreemptLowerPriority', 'Never']),
  ],
  validateUpdate(object, old) {
    const same = (numberIn(object, 'value') ?? 0) === (numberIn(old, 'value') ?? 0)
    return [
      ...(same ? [] : [fieldError.forbidden(FieldPath.of('value'), 'may not be changed in an update.')]),
      ...requireSame(textIn(object, 'preemptionPolicy'), textIn(old, 'preemptionPolicy'), policyPath),
    ]
  },
}

function validateValue(object: UnstructuredObject): FieldError[] {
  const [name, value] = [object.metadata.name ?? '', numberIn(object, 'value') ?? 0]
  if (!name.startsWith(systemPrefix)) {
    return value > valueMax
      ? [fieldError.forbidden(FieldPath.of('value'), `maximum allowed value of a user defined priority is ${valueMax}`)]
      : []
  }
  const complaint = systemComplaint(name, value, { globalDefault: isSet(object, 'globalDefault') })
  if (complaint === undefined) return []
  const detail = `priority class names with '${systemPrefix}' prefix are reserved for system use only. error: ${complaint}`
  return [fieldError.forbidden(FieldPath.of('metadata', 'name'), detail)]
}

function systemComplaint(
  name: string,
  value: number,
  { globalDefault }: { globalDefault: boolean },
): string | undefined {
  const expected = systemClasses.get(name)
  if (expected === undefined) return `${name} is not a known system priority class`
  if (value !== expected) return `value of ${name} PriorityClass must be ${expected}`
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined
}

// ResourceClaims and ResourceClaimTemplates: the default count of a device request is one.

export const resourceClaimStrategy: StrategyHooks = {
  default(object) {
    fillClaim(draftIn(object, 'spec'))
  },
}

export const resourceClaimTemplateStrategy: StrategyHooks = {
  default(object) {
    const spec = draftIn(object, 'spec')
    fillClaim(spec && draftIn(spec, 'spec'))
  },
}

function fillClaim(spec: JsonObjectDraft | undefined): void {
  const devices = spec && draftIn(spec, 'devices')
  if (devices === undefined) return
  for (const request of draftsIn(devices, 'requests')) {
    const exactly = draftIn(request, 'exactly')
    if (exactly) fillRequest(exactly)
    for (const alternative of draftsIn(request, 'firstAvailable')) fillRequest(alternative)
  }
}

function fillRequest(request: JsonObjectDraft): void {
  setDefaultText(request, 'allocationMode', 'ExactCount')
  if (textIn(request, 'allocationMode') === 'ExactCount') setDefault(request, 'count', 1)
  for (const toleration of draftsIn(request, 'tolerations')) setDefaultText(toleration, 'operator', 'Equal')
}

// ResourceSlices: validated by their schema; field selectors by node and driver.

export const resourceSliceStrategy: StrategyHooks = {
  selectableFields: {
    'spec.nodeName': (object) => textIn(objectIn(object, 'spec'), 'nodeName'),
    'spec.driver': (object) => textIn(objectIn(object, 'spec'), 'driver'),
  },
}
