/**
 * Volumes of a Pod: unique names, one type each; and mounts, which must name a volume.
 *
 * The volume types of every cluster are validated; others are only counted.
 */
import {
  errorsOfEach,
  pushAll,
  checkDnsLabel,
  fieldError,
  numberIn,
  objectIn,
  objectsIn,
  textIn,
  type FieldError,
  type FieldPath,
  type JsonObject,
} from 'evenkeel/unstable/builtins'
import { allowOneOf, refuse, requireText } from '../validation.ts'

const modeComplaint = 'must be a number between 0 and 0777 (octal), both inclusive'
const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]
/** The required field of each volume type. */
const nameFields: Readonly<Record<string, string>> = {
  configMap: 'name',
  secret: 'secretName',
  persistentVolumeClaim: 'claimName',
}

/** The names of the valid volumes, and the errors of the others. */
export function validateVolumes(
  volumes: readonly JsonObject[],
  path: FieldPath,
): { names: ReadonlySet<string>; errors: FieldError[] } {
  const names = new Set<string>()
  const errors = errorsOfEach(volumes, (volume, index) => {
    const [here, name] = [path.index(index), textIn(volume, 'name')]
    const wrong = validateType(volume, here)
    if (name === '') wrong.push(fieldError.required(here.child('name')))
    else pushAll(wrong, refuse(name, here.child('name'), checkDnsLabel(name)))
    if (names.has(name)) wrong.push(fieldError.duplicate(here.child('name'), name))
    if (wrong.length === 0) names.add(name)
    return wrong
  })
  return { names, errors }
}

export function validateMounts(container: JsonObject, path: FieldPath, volumes: ReadonlySet<string>): FieldError[] {
  const seen = new Set<string>()
  const mounts = errorsOfEach(objectsIn(container, 'volumeMounts'), (mount, index) => {
    const [here, name, mountPath] = [
      path.child('volumeMounts').index(index),
      textIn(mount, 'name'),
      textIn(mount, 'mountPath'),
    ]
    const errors = requireText(name, here.child('name'))
    if (!volumes.has(name)) errors.push(fieldError.notFound(here.child('name'), name))
    pushAll(errors, requireText(mountPath, here.child('mountPath')))
    if (seen.has(mountPath)) errors.push(fieldError.invalid(here.child('mountPath'), mountPath, 'must be unique'))
    seen.add(mountPath)
    return [...errors, ...validateSubPath(mount, path.child('volumeMounts'), here)]
  })
  const devices = errorsOfEach(objectsIn(container, 'volumeDevices'), (device, index) => {
    const [here, name] = [path.child('volumeDevices').index(index), textIn(device, 'name')]
    const missing = volumes.has(name) ? [] : [fieldError.notFound(here.child('name'), name)]
    return [
      ...requireText(name, here.child('name')),
      ...missing,
      ...requireText(textIn(device, 'devicePath'), here.child('devicePath')),
    ]
  })
  return [...mounts, ...devices]
}

function validateSubPath(mount: JsonObject, path: FieldPath, here: FieldPath): FieldError[] {
  const [subPath, expression] = [textIn(mount, 'subPath'), textIn(mount, 'subPathExpr')]
  const errors = validateDescending(subPath, path.child('subPath'))
  if (subPath !== '' && expression !== '') {
    errors.push(
      fieldError.invalid(here.child('subPathExpr'), expression, 'subPathExpr and subPath are mutually exclusive'),
    )
  }
  return [...errors, ...validateDescending(expression, path.child('subPathExpr'))]
}

/** A relative path without `..`. */
function validateDescending(text: string, path: FieldPath): FieldError[] {
  if (text === '') return []
  const errors = text.startsWith('/') ? [fieldError.invalid(path, text, 'must be a relative path')] : []
  return text.split('/').includes('..') ? [...errors, fieldError.invalid(path, text, "must not contain '..'")] : errors
}

function validateType(volume: JsonObject, path: FieldPath): FieldError[] {
  const [type, ...others] = Object.keys(volume).filter((key) => key !== 'name' && volume[key] !== undefined)
  if (type === undefined) return [fieldError.required(path, 'must specify a volume type')]
  return [
    ...validateContent(type, objectIn(volume, type), path.child(type)),
    ...others.map((key) => fieldError.forbidden(path.child(key), 'may not specify more than 1 volume type')),
  ]
}

function validateContent(type: string, source: JsonObject, path: FieldPath): FieldError[] {
  const [nameField, mode] = [nameFields[type], numberIn(source, 'defaultMode') ?? 0]
  const errors = nameField === undefined ? [] : requireText(textIn(source, nameField), path.child(nameField))
  if (mode < 0 || mode > 0o777) errors.push(fieldError.invalid(path.child('defaultMode'), mode, modeComplaint))
  if (type === 'configMap' || type === 'secret') {
    objectsIn(source, 'items').forEach((item, index) =>
      pushAll(errors, validateItem(item, path.child('items').index(index))),
    )
  }
  if (type !== 'hostPath') return errors
  const hostPath = textIn(source, 'path')
  if (hostPath === '') return [...errors, fieldError.required(path.child('path'))]
  if (hostPath.split('/').includes('..'))
    errors.push(fieldError.invalid(path.child('path'), hostPath, "must not contain '..'"))
  return [...errors, ...allowOneOf(source['type'], path.child('type'), hostPathTypes)]
}

function validateItem(item: JsonObject, path: FieldPath): FieldError[] {
  const [target, mode] = [textIn(item, 'path'), numberIn(item, 'mode') ?? 0]
  const errors = [...requireText(textIn(item, 'key'), path.child('key')), ...requireText(target, path.child('path'))]
  pushAll(errors, validateDescending(target, path.child('path')))
  if (target.startsWith('..') && !target.startsWith('../') && target !== '..') {
    errors.push(fieldError.invalid(path.child('path'), target, "must not start with '..'"))
  }
  return mode < 0 || mode > 0o777 ? [...errors, fieldError.invalid(path.child('mode'), mode, modeComplaint)] : errors
}
