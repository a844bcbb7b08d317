/**
 * ConfigMaps: keys are valid file names and occur in either `data` or `binaryData`.
 */
import {
  errorsOfEach,
  deepEqual,
  fieldError,
  FieldPath,
  isSet,
  objectIn,
  utf8Length,
  valueIn,
  type FieldError,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import type { StrategyHooks } from '../strategy-flags.ts'
import { refuse } from '../validation.ts'

// The common part of ConfigMaps and Secrets: keys that are valid file names, a limit of the total size, and
// `immutable`, which cannot be reset.

/** The limit of the total size of all values. */
export const dataBytesMax = 1024 * 1024

const keyPattern = /^[-._a-zA-Z0-9]+$/
const keyComplaint =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' " +
  "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
const immutableComplaint = 'field is immutable when `immutable` is set'

/** A key of a ConfigMap or a Secret. */
export function checkDataKey(key: string): string[] {
  const complaints: string[] = []
  if (utf8Length(key) > 253) complaints.push('must be no more than 253 characters')
  if (!keyPattern.test(key)) complaints.push(keyComplaint)
  if (key === '.' || key === '..') complaints.push(`must not be '${key}'`)
  else if (key.startsWith('..')) complaints.push("must not start with '..'")
  return complaints
}

export function validateDataKeys(keys: readonly string[], path: FieldPath): FieldError[] {
  return errorsOfEach(keys, (key) => refuse(key, path.key(key), checkDataKey(key)))
}

/** Whether a text is padded base64, as Go accepts it. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

/** The decoded length of a base64 text. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='))
  return Math.floor(text.length / 4) * 3 - padding
}

/** Reports changes of an immutable object. */
export function validateImmutable(
  object: UnstructuredObject,
  old: UnstructuredObject,
  { fields }: { fields: readonly string[] },
): FieldError[] {
  if (!isSet(old, 'immutable')) return []
  const errors = isSet(object, 'immutable') ? [] : [fieldError.forbidden(FieldPath.of('immutable'), immutableComplaint)]
  for (const field of fields) {
    if (!sameMap(valueIn(object, field), valueIn(old, field)))
      errors.push(fieldError.forbidden(FieldPath.of(field), immutableComplaint))
  }
  return errors
}

/** An absent map equals an empty one. */
function sameMap(a: unknown, b: unknown): boolean {
  return deepEqual(a ?? {}, b ?? {})
}

const dataPath = FieldPath.of('data')
const binaryPath = FieldPath.of('binaryData')
/** The path of an error of the whole object, as kube-apiserver prints it. */
const wholePath = FieldPath.of('[]')

export const configMapStrategy: StrategyHooks = {
  validate: validateConfigMap,
  validateUpdate: (object, old) => validateImmutable(object, old, { fields: ['data', 'binaryData'] }),
}

function validateConfigMap(object: UnstructuredObject): FieldError[] {
  const [data, binary] = [objectIn(object, 'data'), objectIn(object, 'binaryData')]
  const errors = [
    ...validateDataKeys(Object.keys(data), dataPath),
    ...validateDataKeys(Object.keys(binary), binaryPath),
  ]
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    if (Object.hasOwn(binary, key))
      errors.push(fieldError.invalid(dataPath.key(key), key, 'duplicate of key present in binaryData'))
    if (typeof value === 'string') bytes += utf8Length(value)
  }
  for (const [key, value] of Object.entries(binary)) {
    if (typeof value !== 'string') continue
    bytes += base64Bytes(value)
    if (!isBase64(value)) errors.push(fieldError.invalid(binaryPath.key(key), '<omitted>', 'must be base64'))
  }
  if (bytes > dataBytesMax) errors.push(fieldError.tooLong(wholePath, dataBytesMax))
  return errors
}
