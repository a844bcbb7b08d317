/**
 * Secrets: `stringData` is merged into `data`, and the well-known types require certain keys.
 *
 * Messages never contain values.
 */
import {
  fieldError,
  FieldPath,
  isJsonObject,
  objectIn,
  setOwn,
  textIn,
  type FieldError,
  type JsonObject,
  type UnstructuredObject,
} from 'evenkeel/unstable/builtins'
import { ensureDraft, setDefaultText } from '../defaulting.ts'
import type { StrategyHooks } from '../strategy-flags.ts'
import { requireSame } from '../validation.ts'
import { base64Bytes, dataBytesMax, isBase64, validateDataKeys, validateImmutable } from './config-map.ts'

const dataPath = FieldPath.of('data')
const accountNameKey = 'kubernetes.io/service-account.name'

export const secretStrategy: StrategyHooks = {
  selectableFields: { type: (object) => textIn(object, 'type') },
  default(object) {
    setDefaultText(object, 'type', 'Opaque')
    const texts = object['stringData']
    if (texts === undefined) return
    delete object['stringData']
    if (!isJsonObject(texts) || Object.keys(texts).length === 0) return
    const data = ensureDraft(object, 'data')
    for (const [key, text] of Object.entries(texts)) {
      if (typeof text === 'string') setOwn(data, key, Buffer.from(text, 'utf8').toString('base64'))
    }
  },
  validate: (object) => [...validateData(objectIn(object, 'data')), ...validateByType(object)],
  validateUpdate: (object, old) => [
    ...requireSame(textIn(object, 'type'), textIn(old, 'type'), FieldPath.of('type')),
    ...validateImmutable(object, old, { fields: ['data'] }),
  ],
}

function validateData(data: JsonObject): FieldError[] {
  const errors = validateDataKeys(Object.keys(data), dataPath)
  let bytes = 0
  for (const [key, value] of Object.entries(data)) {
    if (typeof value !== 'string') continue
    bytes += base64Bytes(value)
    if (!isBase64(value)) errors.push(fieldError.invalid(dataPath.key(key), redacted, 'must be base64'))
  }
  if (bytes > dataBytesMax) errors.push(fieldError.tooLong(dataPath, dataBytesMax))
  return errors
}

const redacted = '<secret contents redacted>'

function validateByType(object: UnstructuredObject): FieldError[] {
  const data = objectIn(object, 'data')
  switch (textIn(object, 'type')) {
    case 'kubernetes.io/service-account-token':
      return object.metadata.annotations?.[accountNameKey]
        ? []
        : [fieldError.required(FieldPath.of('metadata', 'annotations').key(accountNameKey))]
    case 'kubernetes.io/dockercfg':
      return validateJson(data, '.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return validateJson(data, '.dockerconfigjson')
    case 'kubernetes.io/basic-auth':
      return Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')
        ? []
        : requireKeys(data, ['username', 'password'])
    case 'kubernetes.io/ssh-auth':
      return textIn(data, 'ssh-privatekey') === '' ? [fieldError.required(dataPath.key('ssh-privatekey'))] : []
    case 'kubernetes.io/tls':
      return requireKeys(data, ['tls.crt', 'tls.key'])
    default:
      return []
  }
}

function requireKeys(data: JsonObject, keys: readonly string[]): FieldError[] {
  return keys.filter((key) => !Object.hasOwn(data, key)).map((key) => fieldError.required(dataPath.key(key)))
}

/** Only the text after `invalid character` differs from the message of Go. */
function validateJson(data: JsonObject, key: string): FieldError[] {
  if (!Object.hasOwn(data, key)) return [fieldError.required(dataPath.key(key))]
  const text = Buffer.from(textIn(data, key), 'base64').toString('utf8')
  const complaint = jsonComplaint(text)
  return complaint === undefined ? [] : [fieldError.invalid(dataPath.key(key), redacted, complaint)]
}

function jsonComplaint(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (value === null || isJsonObject(value)) return undefined
    const type = Array.isArray(value) ? 'array' : typeof value
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`
  } catch {
    return text.trim() === '' ? 'unexpected end of JSON input' : 'invalid character in JSON input'
  }
}
