/**
 * StorageClasses and CSIDrivers. Except for expansion and topology, a StorageClass is immutable.
 */
import {
  errorsOfEach,
  fieldError,
  FieldPath,
  textIn,
  textMapIn,
  textsIn,
  utf8Length,
  type FieldError,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { ensureDraft, setDefault } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { allowOneOf, requireQualifiedName, requireSame } from '../validation.ts'

const parametersMax = 512
const parameterBytesMax = 256 * 1024
const fixed = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode']

export const storageClassStrategy: StrategyHooks = {
  default(object) {
    setDefault(object, 'reclaimPolicy', 'Delete')
    setDefault(object, 'volumeBindingMode', 'Immediate')
  },
  validate: (object) => [
    ...validateProvisioner(textIn(object, 'provisioner')),
    ...validateParameters(object),
    ...allowOneOf(object['reclaimPolicy'], FieldPath.of('reclaimPolicy'), ['Delete', 'Retain']),
    ...allowOneOf(object['volumeBindingMode'], FieldPath.of('volumeBindingMode'), [
      'Immediate',
      'WaitForFirstConsumer',
    ]),
  ],
  validateUpdate: (object, old) => errorsOfEach(fixed, (key) => requireSame(object[key], old[key], FieldPath.of(key))),
}

export const csiDriverStrategy: StrategyHooks = {
  default(object) {
    const spec = ensureDraft(object, 'spec')
    setDefault(spec, 'attachRequired', true)
    setDefault(spec, 'podInfoOnMount', false)
    setDefault(spec, 'storageCapacity', false)
    setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType')
    if (textsIn(spec, 'volumeLifecycleModes').length === 0) spec['volumeLifecycleModes'] = ['Persistent']
    setDefault(spec, 'requiresRepublish', false)
    setDefault(spec, 'seLinuxMount', false)
  },
}

function validateProvisioner(provisioner: string): FieldError[] {
  const path = FieldPath.of('provisioner')
  return provisioner === '' ? [fieldError.required(path)] : requireQualifiedName(provisioner.toLowerCase(), path)
}

function validateParameters(object: UnstructuredObject): FieldError[] {
  const [parameters, path] = [Object.entries(textMapIn(object, 'parameters')), FieldPath.of('parameters')]
  if (parameters.length > parametersMax) return [fieldError.tooLong(path, parametersMax)]
  const errors = parameters.some(([key]) => key === '') ? [fieldError.invalid(path, '', 'field can not be empty.')] : []
  const bytes = parameters.reduce((sum, [key, value]) => sum + utf8Length(key) + utf8Length(value), 0)
  return bytes > parameterBytesMax ? [...errors, fieldError.tooLong(path, parameterBytesMax)] : errors
}
