/**
 * Environment variables of containers: printable names, and one source for each value.
 */
import { checkDnsSubdomain, fieldError } from '#api'
import type { FieldError, FieldPath, JsonObject } from '#api'
import { refuse, requireOneOf, requireQualifiedName, requireText } from '../../checks.ts'
import { checkDataKey } from '../../core/data-keys.ts'
import { objectIn, objectsIn, optionalObjectIn, textIn } from '../../reading.ts'

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']
const podFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
/** Fields that exist but mean nothing in an environment get another answer than unknown ones. */
const otherFields = [
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]
const subscripted = /^(metadata\.(?:annotations|labels))\['(.*)'\]$/

export function validateEnvironment(container: JsonObject, path: FieldPath): FieldError[] {
  return [
    ...objectsIn(container, 'env').flatMap((variable, index) =>
      validateVariable(variable, path.child('env').index(index)),
    ),
    ...objectsIn(container, 'envFrom').flatMap((source, index) => validateBulk(source, path.child('envFrom'), index)),
  ]
}

function validateVariable(variable: JsonObject, path: FieldPath): FieldError[] {
  const name = textIn(variable, 'name')
  const errors =
    name === '' ? [fieldError.required(path.child('name'))] : refuse(name, path.child('name'), checkVariableName(name))
  const from = optionalObjectIn(variable, 'valueFrom')
  return from === undefined
    ? errors
    : [...errors, ...validateSource(from, path.child('valueFrom'), { hasValue: textIn(variable, 'value') !== '' })]
}

function checkVariableName(name: string): string[] {
  return /^[ -<>-~]+$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}

function validateSource(from: JsonObject, path: FieldPath, { hasValue }: { hasValue: boolean }): FieldError[] {
  const used = sources.filter((key) => optionalObjectIn(from, key) !== undefined)
  const errors = used.flatMap((key) => validateReference(key, objectIn(from, key), path.child(key)))
  if (used.length === 0) {
    const detail =
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
    return [...errors, fieldError.invalid(path, '', detail)]
  }
  if (hasValue) return [...errors, fieldError.invalid(path, '', 'may not be specified when `value` is not empty')]
  return used.length > 1
    ? [...errors, fieldError.invalid(path, '', 'may not have more than one field specified at a time')]
    : errors
}

function validateReference(type: string, reference: JsonObject, path: FieldPath): FieldError[] {
  switch (type) {
    case 'fieldRef':
      return validateFieldReference(reference, path)
    case 'configMapKeyRef':
    case 'secretKeyRef': {
      const [name, key] = [textIn(reference, 'name'), textIn(reference, 'key')]
      const errors = refuse(name, path.child('name'), checkDnsSubdomain(name))
      return [
        ...errors,
        ...(key === '' ? [fieldError.required(path.child('key'))] : refuse(key, path.child('key'), checkDataKey(key))),
      ]
    }
    case 'resourceFieldRef':
      return requireText(textIn(reference, 'resource'), path.child('resource'))
    default:
      return []
  }
}

function validateFieldReference(reference: JsonObject, path: FieldPath): FieldError[] {
  const field = textIn(reference, 'fieldPath')
  if (field === '') return [fieldError.required(path.child('fieldPath'))]
  const [, map, key = ''] = subscripted.exec(field) ?? []
  if (map !== undefined) return requireQualifiedName(map === 'metadata.annotations' ? key.toLowerCase() : key, path)
  if (podFields.includes(field)) return []
  if (otherFields.includes(field)) return requireOneOf(field, path.child('fieldPath'), podFields)
  const complaint = field.endsWith("']") ? 'field label does not support subscript' : 'field label not supported'
  return [fieldError.invalid(path.child('fieldPath'), field, `error converting fieldPath: ${complaint}: ${field}`)]
}

function validateBulk(source: JsonObject, path: FieldPath, index: number): FieldError[] {
  const [prefix, here] = [textIn(source, 'prefix'), path.index(index)]
  const errors = prefix === '' ? [] : refuse(prefix, here.child('prefix'), checkVariableName(prefix))
  const used = ['configMapRef', 'secretRef'].filter((key) => optionalObjectIn(source, key) !== undefined)
  for (const key of used) {
    const name = textIn(objectIn(source, key), 'name')
    errors.push(
      ...(name === ''
        ? [fieldError.required(here.child(key, 'name'))]
        : refuse(name, here.child(key, 'name'), checkDnsSubdomain(name))),
    )
  }
  if (used.length === 0) errors.push(fieldError.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
  if (used.length > 1) errors.push(fieldError.invalid(path, '', 'may not have more than one field specified at a time'))
  return errors
}
