/**
 * ConfigMaps: keys are file names and stand in one of two maps, never in both.
 */
import { fieldError, FieldPath, utf8Length } from '#api'
import type { FieldError, UnstructuredObject } from '#api'
import type { StrategyHooks } from '../hooks.ts'
import { objectIn } from '../reading.ts'
import { base64Bytes, dataBytesMax, isBase64, validateImmutable, validateDataKeys } from './data-keys.ts'

const dataPath = FieldPath.of('data')
const binaryPath = FieldPath.of('binaryData')
/** The error is about the whole object; this is how a path without a name is printed. */
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
