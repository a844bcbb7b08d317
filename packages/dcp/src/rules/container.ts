/**
 * What a Container, a program in one and a volume have to be, and what may not change.
 */
import { posix } from 'node:path'
import { fieldError, type FieldError, type FieldPath } from 'evenkeel/server'
import { fixedFields, fixedLifetime, fixedLists, latches, type SpecChange } from './changes.ts'
import { certificateErrors, probeErrors, terminalErrors } from './executable.ts'
import { isSame, itemsOf, numberOf, recordsOf, textOf, valuesOf, type Values } from './field-values.ts'
import { effectiveMode, monitorErrors } from './modes.ts'

export function containerErrors(spec: Values, path: FieldPath): FieldError[] {
  return [
    ...imageErrors(spec, path),
    ...buildErrors(valuesOf(spec, 'build'), path.child('build')),
    ...labelErrors(spec, path),
    ...nameErrors(spec, path),
    ...monitorErrors(spec, path),
    ...probeErrors(spec, path),
    ...recordsOf(spec, 'createFiles').flatMap((files, index) =>
      filesErrors(files, path.child('createFiles').index(index)),
    ),
    ...recordsOf(spec, 'imageLayers').flatMap((layer, index) =>
      layerErrors(layer, path.child('imageLayers').index(index)),
    ),
    ...containerCertificateErrors(valuesOf(spec, 'pemCertificates'), path.child('pemCertificates')),
    ...terminalErrors(valuesOf(spec, 'terminal'), path.child('terminal')),
  ]
}

function imageErrors(spec: Values, path: FieldPath): FieldError[] {
  const image = textOf(spec, 'image')
  const isMade = ['session', 'persistent'].includes(effectiveMode(spec))
  return [
    ...(isMade && image === '' && !valuesOf(spec, 'build')
      ? [fieldError.required(path.child('image'), 'name an image, or say how to build one')]
      : []),
    ...(/\s/.test(image) ? [fieldError.invalid(path.child('image'), image, 'may not contain white space')] : []),
  ]
}

function buildErrors(build: Values | undefined, path: FieldPath): FieldError[] {
  if (!build) return []
  const secrets = recordsOf(build, 'secrets').flatMap((secret, index) => {
    const at = path.child('secrets').index(index)
    return [
      ...(textOf(secret, 'id') === ''
        ? [fieldError.required(at.child('id'), 'the build asks for it by this name')]
        : []),
      ...(textOf(secret, 'type') !== 'env' && textOf(secret, 'source') === ''
        ? [fieldError.required(at.child('source'), 'the file with the secret')]
        : []),
    ]
  })
  return [
    ...(textOf(build, 'context') === '' ? [fieldError.required(path.child('context'), 'the folder to build')] : []),
    ...secrets,
    ...labelErrors(build, path),
  ]
}

function labelErrors(values: Values, path: FieldPath): FieldError[] {
  return recordsOf(values, 'labels').flatMap((label, index) =>
    ['key', 'value'].flatMap((name) =>
      textOf(label, name) === ''
        ? [fieldError.required(path.child('labels').index(index).child(name), 'may not be empty')]
        : [],
    ),
  )
}

const containerName = /^[a-zA-Z0-9][a-zA-Z0-9_.-]+$/

/** A container that is not this session's own is found by its name. */
function nameErrors(spec: Values, path: FieldPath): FieldError[] {
  const name = textOf(spec, 'containerName')
  const isOwn = effectiveMode(spec) === 'session'
  return [
    ...(name !== '' && !containerName.test(name)
      ? [fieldError.invalid(path.child('containerName'), name, `must match ${containerName.source}`)]
      : []),
    ...(!isOwn && name === ''
      ? [
          fieldError.required(
            path.child('containerName'),
            `mode ${effectiveMode(spec)} finds the container by its name`,
          ),
        ]
      : []),
    ...(!isOwn && valuesOf(spec, 'terminal')
      ? [fieldError.forbidden(path.child('terminal'), 'only mode session has a terminal')]
      : []),
  ]
}

/** Bits of a mode beyond the permissions would say what sort of file it is. */
const permissionBits = 0o777

function filesErrors(files: Values, path: FieldPath): FieldError[] {
  const destination = textOf(files, 'destination')
  const entries = recordsOf(files, 'entries')
  return [
    ...(destination !== '' && !posix.isAbsolute(destination)
      ? [fieldError.invalid(path.child('destination'), destination, 'must be an absolute path')]
      : []),
    ...modeErrors(files, 'umask', path),
    ...idErrors(files, ['defaultOwner', 'defaultGroup'], path),
    ...(entries.length === 0 ? [fieldError.required(path.child('entries'), 'at least one file or folder')] : []),
    ...entries.flatMap((entry, index) => entryErrors(entry, path.child('entries').index(index))),
  ]
}

function entryErrors(entry: Values, path: FieldPath): FieldError[] {
  const name = textOf(entry, 'name')
  const type = textOf(entry, 'type') || 'file'
  return [
    ...(name === '' ? [fieldError.required(path.child('name'), 'may not be empty')] : []),
    ...(name.includes('/')
      ? [fieldError.invalid(path.child('name'), name, 'is one name: nest entries for a path')]
      : []),
    ...idErrors(entry, ['owner', 'group'], path),
    ...modeErrors(entry, 'mode', path),
    ...(type === 'directory' ? folderErrors(entry, path) : contentErrors(entry, path)),
  ]
}

function folderErrors(entry: Values, path: FieldPath): FieldError[] {
  return [
    ...['source', 'contents', 'rawContents'].flatMap((name) =>
      textOf(entry, name) === '' ? [] : [fieldError.forbidden(path.child(name), 'a directory has entries only')],
    ),
    ...recordsOf(entry, 'entries').flatMap((inner, index) => entryErrors(inner, path.child('entries').index(index))),
  ]
}

function contentErrors(entry: Values, path: FieldPath): FieldError[] {
  const given = ['source', 'contents', 'rawContents'].filter((name) => textOf(entry, name) !== '')
  return [
    ...(itemsOf(entry, 'entries').length > 0
      ? [fieldError.forbidden(path.child('entries'), 'only a directory has entries')]
      : []),
    ...given.slice(1).map((name) => fieldError.forbidden(path.child(name), `${given[0]} says the content already`)),
  ]
}

function modeErrors(values: Values, name: string, path: FieldPath): FieldError[] {
  const mode = numberOf(values, name)
  return mode !== undefined && (mode & ~permissionBits) !== 0
    ? [fieldError.invalid(path.child(name), mode, 'may have permission bits only')]
    : []
}

function idErrors(values: Values, names: readonly string[], path: FieldPath): FieldError[] {
  return names.flatMap((name) => {
    const id = numberOf(values, name) ?? 0
    return id < 0 ? [fieldError.invalid(path.child(name), id, 'must be 0 or more')] : []
  })
}

function layerErrors(layer: Values, path: FieldPath): FieldError[] {
  const [source, raw, hash] = ['source', 'rawContents', 'sha256'].map((name) => textOf(layer, name))
  return [
    ...(textOf(layer, 'digest') === '' ? [fieldError.required(path.child('digest'), 'may not be empty')] : []),
    ...(source === '' && raw === '' ? [fieldError.required(path, 'needs source or rawContents')] : []),
    ...(source !== '' && raw !== ''
      ? [fieldError.forbidden(path.child('rawContents'), 'source says the content already')]
      : []),
    ...(source !== '' && hash === ''
      ? [fieldError.required(path.child('sha256'), 'a source is checked by its hash')]
      : []),
    ...(source === '' && hash !== '' ? [fieldError.forbidden(path.child('sha256'), 'only a source has a hash')] : []),
    ...(hash !== '' && !/^(?:sha256:)?[\da-f]{64}$/i.test(hash ?? '')
      ? [fieldError.invalid(path.child('sha256'), hash, 'must be 64 hexadecimal digits')]
      : []),
  ]
}

function containerCertificateErrors(certificates: Values | undefined, path: FieldPath): FieldError[] {
  if (!certificates) return []
  const bundles = itemsOf(certificates, 'overwriteBundlePaths').map(String)
  const destination = textOf(certificates, 'destination')
  return [
    ...certificateErrors(certificates, path),
    ...(posix.isAbsolute(destination)
      ? []
      : [fieldError.invalid(path.child('destination'), destination, 'must be an absolute path')]),
    ...bundles.flatMap((bundle, index) =>
      posix.isAbsolute(bundle)
        ? []
        : [fieldError.invalid(path.child('overwriteBundlePaths').index(index), bundle, 'must be an absolute path')],
    ),
  ]
}

export function containerChanges(change: SpecChange): FieldError[] {
  const { old, spec, path } = change
  const builds = [old, spec].map((values) => withoutNames(valuesOf(values, 'build')))
  const networks = [old, spec].map((values) => Array.isArray(values['networks']))
  return [
    ...latches(change),
    ...fixedLifetime(change),
    ...fixedFields(change, ['image', 'containerName', 'labels', 'pullPolicy', 'pemCertificates', 'terminal']),
    ...(isSame(builds[0], builds[1]) &&
    (valuesOf(old, 'build') !== undefined) === (valuesOf(spec, 'build') !== undefined)
      ? []
      : [fieldError.forbidden(path.child('build'), 'build cannot change after creation')]),
    ...(networks[0] === networks[1]
      ? []
      : [fieldError.forbidden(path.child('networks'), 'whether there is a list of networks is decided at creation')]),
    ...fixedLists(change, ['healthProbes', 'createFiles', 'imageLayers']),
  ]
}

/** Tags and labels are names of the result: they do not change what is built. */
function withoutNames(build: Values | undefined): Values | undefined {
  if (!build) return undefined
  const { tags: _, labels: __, ...rest } = build
  return rest
}

export function containerExecErrors(spec: Values, path: FieldPath): FieldError[] {
  return ['command', 'containerName'].flatMap((name) =>
    textOf(spec, name) === '' ? [fieldError.required(path.child(name), 'may not be empty')] : [],
  )
}

export function containerExecChanges(change: SpecChange): FieldError[] {
  return fixedFields(change, ['command', 'containerName', 'args', 'env', 'envFiles', 'workingDirectory'])
}

export function volumeErrors(spec: Values, path: FieldPath): FieldError[] {
  return textOf(spec, 'name').trim() === '' ? [fieldError.required(path.child('name'), 'may not be empty')] : []
}

export function volumeChanges(change: SpecChange): FieldError[] {
  return fixedFields(change, ['name', 'persistent'])
}
