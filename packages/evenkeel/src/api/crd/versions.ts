/**
 * Validates the versions of a CRD: their names, that exactly one is stored, and what each offers besides its schema
 * (subresources, columns, selectable fields), and the names of the resource.
 *
 * Like kube-apiserver, fields that all versions have in common are moved to the top level first. It shows only in the paths
 * of errors: a CRD with one version gets `spec.validation.openAPIV3Schema`, never `spec.versions[0].schema`. Tools know
 * those paths.
 */
import { pushAll, checkDns1035Label, deepEqual, utf8Length, type JsonObject } from '@evenkeel/cel/primitives'
import { errorsOfEach, fieldError, FieldPath, type FieldError } from '../errors/field-error.ts'
import { isSet, objectIn, objectsIn, optionalObjectIn, textIn, textsIn } from '../fields.ts'
import { followReference, readJsonSchemaProps, type JsonSchemaProps } from './json-schema-props.ts'
import { findForeignKeyword } from './structural.ts'
import { checkVersionSchema, type SchemaChecks } from './version-schema.ts'

interface VersionChecks extends SchemaChecks {
  /** The spec of the stored CRD, for an update. */
  readonly oldSpec?: JsonObject | undefined
}

/** The errors of the versions in the spec of a CRD. */
export function checkVersions(spec: JsonObject, checks: VersionChecks): FieldError[] {
  const versions = objectsIn(spec, 'versions')
  const path = FieldPath.of('spec', 'versions')
  const names = versions.map((version) => textIn(version, 'name'))
  const errors = errorsOfEach(versions, (version, index) => [
    ...refuseLabel(textIn(version, 'name'), path.index(index).child('name')),
    ...checkDeprecation(version, path.index(index)),
  ])
  if (new Set(names).size < names.length)
    errors.push(fieldError.invalid(path, versions, 'must contain unique version names'))
  if (versions.filter((version) => isSet(version, 'storage')).length !== 1) {
    errors.push(fieldError.invalid(path, versions, 'must have exactly one version marked as storage version'))
  }
  // Upstream keeps the first name a second time, from days when there was one version.
  if (names[0] !== undefined && names[0] !== '') pushAll(errors, refuseLabel(names[0], FieldPath.of('spec', 'version')))
  return [...errors, ...checkSchemas(spec, checks), ...checkOffers(spec)]
}

function checkSchemas(spec: JsonObject, { oldSpec, ...checks }: VersionChecks): FieldError[] {
  const errors: FieldError[] = []
  const path = FieldPath.of('spec', 'versions')
  const versions = objectsIn(spec, 'versions')
  for (const [index, version] of versions.entries()) {
    if (schemaOf(version) === undefined)
      errors.push(fieldError.required(path.index(index).child('schema', 'openAPIV3Schema')))
  }
  let hasDefaults = false
  for (const { version, path: at, lifted } of liftVersions(spec, 'schema')) {
    const schema = schemaOf(version)
    if (schema === undefined) continue
    const first = versions.find((other) => other['name'] === version['name']) ?? version
    const isUnchanged = oldSpec !== undefined && isUnchangedIn(oldSpec, version)
    const place = {
      path: at.child('openAPIV3Schema'),
      hasStatus: lifted ? versions.some(hasStatus) : hasStatus(first),
      isUnchanged,
      checks,
    }
    const checked = checkVersionSchema(schema, place)
    hasDefaults ||= checked.hasDefaults
    pushAll(errors, checked.errors)
  }
  if (hasDefaults && isSet(spec, 'preserveUnknownFields')) {
    errors.push(
      fieldError.invalid(
        FieldPath.of('spec', 'preserveUnknownFields'),
        true,
        'must be false in order to use defaults in the schema',
      ),
    )
  }
  return errors
}

/** Whether a stored CRD has the same schema for the version of that name. */
function isUnchangedIn(oldSpec: JsonObject, { name, schema }: JsonObject): boolean {
  const before = objectsIn(oldSpec, 'versions').find((version) => version['name'] === name)
  return before !== undefined && deepEqual(before['schema'] ?? null, schema ?? null)
}

function checkOffers(spec: JsonObject): FieldError[] {
  return [
    ...errorsOfEach(liftVersions(spec, 'subresources'), ({ version, path }) =>
      checkSubresources(objectIn(version, 'subresources'), path),
    ),
    ...errorsOfEach(liftVersions(spec, 'additionalPrinterColumns'), ({ version, path }) => {
      return errorsOfEach(objectsIn(version, 'additionalPrinterColumns'), (column, index) =>
        checkColumn(column, path.index(index)),
      )
    }),
    ...errorsOfEach(liftVersions(spec, 'selectableFields'), ({ version, path, lifted }) =>
      checkSelectable(spec, version, { path, lifted }),
    ),
  ]
}

function checkSelectable(
  spec: JsonObject,
  version: JsonObject,
  { path, lifted }: { path: FieldPath; lifted: boolean },
): FieldError[] {
  const schema = schemaOf(version)
  // Upstream looks for the schema where the fields are: both lifted, or neither. The sentences are its own, too.
  if (lifted !== isLifted(spec, 'schema') || schema === undefined) {
    const detail = lifted
      ? 'may only be set when validations.schema is included'
      : 'may only be set when `version.schema.openAPIV3Schema` is not included'
    return [fieldError.invalid(path, '', detail)]
  }
  const { schema: read, errors } = readJsonSchemaProps(schema, path)
  if (errors.length > 0 || findForeignKeyword(read) !== undefined) return [] // the schema has been complained of
  return checkSelectableFields(objectsIn(version, 'selectableFields'), read, path)
}

function schemaOf(version: JsonObject): JsonObject | undefined {
  return optionalObjectIn(objectIn(version, 'schema'), 'openAPIV3Schema')
}

// Subresources, columns, selectable fields.

/** Paths of the scale subresource lead into spec and status. */
function checkSubresources(subresources: JsonObject, path: FieldPath): FieldError[] {
  const scale = optionalObjectIn(subresources, 'scale')
  if (scale === undefined) return []
  const selector = textIn(scale, 'labelSelectorPath')
  return [
    ...checkScalePath(scale, 'specReplicasPath', { path, under: ['.spec'] }),
    ...checkScalePath(scale, 'statusReplicasPath', { path, under: ['.status'] }),
    ...(selector === '' ? [] : checkScalePath(scale, 'labelSelectorPath', { path, under: ['.spec', '.status'] })),
  ]
}

/** Columns of tables; their paths are not parsed here, as in kube-apiserver. */
function checkColumn(column: JsonObject, path: FieldPath): FieldError[] {
  const [type, format, jsonPath] = [textIn(column, 'type'), textIn(column, 'format'), textIn(column, 'jsonPath')]
  const typeDetail = `must be one of ${columnTypes.join(',')}`
  const errors: FieldError[] = []
  if (textIn(column, 'name') === '') errors.push(fieldError.required(path.child('name')))
  if (type === '') errors.push(fieldError.required(path.child('type'), typeDetail))
  else if (!columnTypes.includes(type)) errors.push(fieldError.invalid(path.child('type'), type, typeDetail))
  if (format !== '' && !columnFormats.includes(format))
    errors.push(fieldError.invalid(path.child('format'), format, `must be one of ${columnFormats.join(',')}`))
  if (jsonPath === '') errors.push(fieldError.required(path.child('JSONPath')))
  return [...errors, ...checkSimplePath(jsonPath, path.child('JSONPath'))]
}

/** Fields that selectors may name: scalars that the schema declares outside metadata. */
function checkSelectableFields(fields: readonly JsonObject[], schema: JsonSchemaProps, path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  const errors = errorsOfEach(fields, (field, index) => {
    const [jsonPath, at] = [textIn(field, 'jsonPath'), path.index(index).child('jsonPath')]
    if (jsonPath === '') return [fieldError.required(at)]
    const found = followReference(jsonPath, schema, { brackets: false })
    if (typeof found === 'string') return [fieldError.invalid(at, jsonPath, `is an invalid path: ${found}`)]
    const own: FieldError[] = []
    if (found.steps[0] === 'metadata')
      own.push(fieldError.invalid(at, jsonPath, 'must not point to fields in metadata'))
    if (!['string', 'boolean', 'integer'].includes(found.schema?.type ?? ''))
      own.push(fieldError.invalid(at, jsonPath, selectableDetail))
    if (seen.has(found.steps.join('.'))) own.push(fieldError.duplicate(at, jsonPath))
    seen.add(found.steps.join('.'))
    return own
  })
  return seen.size > selectableMax ? [...errors, fieldError.tooMany(path, seen.size, selectableMax)] : errors
}

/** The warning for clients of a deprecated version: one printable line. */
function checkDeprecation(version: JsonObject, path: FieldPath): FieldError[] {
  const warning = version['deprecationWarning']
  if (typeof warning !== 'string') return []
  const complaints: string[] = []
  if (version['deprecated'] !== true) complaints.push('can only be set for deprecated versions')
  else {
    if (utf8Length(warning) > 256) complaints.push('must be <= 256 characters long')
    if (warning === '') complaints.push('must not be an empty string')
    const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning)
    if (odd !== null)
      complaints.push(
        `must only contain printable UTF-8 characters; non-printable character found at index ${utf8Length(warning.slice(0, odd.index))}`,
      )
  }
  return complaints.map((complaint) => fieldError.invalid(path.child('deprecationWarning'), warning, complaint))
}

/** Whether a version keeps status apart. */
function hasStatus(version: JsonObject): boolean {
  return optionalObjectIn(objectIn(version, 'subresources'), 'status') !== undefined
}

const selectableMax = 8
const selectableDetail =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

function checkScalePath(
  scale: JsonObject,
  key: string,
  { path, under }: { path: FieldPath; under: readonly string[] },
): FieldError[] {
  const [jsonPath, at] = [textIn(scale, key), path.child('scale', key)]
  if (jsonPath === '') return [fieldError.required(at)]
  const errors = checkSimplePath(jsonPath, at)
  if (errors.length > 0 || under.some((prefix) => jsonPath.startsWith(`${prefix}.`))) return errors
  return [
    fieldError.invalid(
      at,
      jsonPath,
      `should be a json path under ${under.length > 1 ? 'either ' : ''}${under.join(' or ')}`,
    ),
  ]
}

function checkSimplePath(jsonPath: string, path: FieldPath): FieldError[] {
  return jsonPath === '' || jsonPath.startsWith('.')
    ? []
    : [fieldError.invalid(path, jsonPath, 'must be a simple json path starting with .')]
}

// Common fields of all versions.

/** Something that versions say, and where: at the version, or above all of them. */
interface LiftedVersion {
  readonly version: JsonObject
  readonly path: FieldPath
  readonly lifted: boolean
}

const specPath = FieldPath.of('spec')

/** The parts to be judged: one when all versions say the same, else one per version; none for versions that say nothing. */
function liftVersions(spec: JsonObject, keyword: keyof typeof liftedNames): LiftedVersion[] {
  const versions = objectsIn(spec, 'versions')
  const [first] = versions
  if (first === undefined) return []
  if (isLifted(spec, keyword))
    return saysSomething(first, keyword)
      ? [{ version: first, path: specPath.child(liftedNames[keyword]), lifted: true }]
      : []
  return versions.flatMap((version, index) => {
    return saysSomething(version, keyword)
      ? [{ version, path: specPath.child('versions').index(index).child(keyword), lifted: false }]
      : []
  })
}

/** Whether all versions say the same. */
function isLifted(spec: JsonObject, keyword: keyof typeof liftedNames): boolean {
  const versions = objectsIn(spec, 'versions')
  return versions.every((version) => deepEqual(version[keyword] ?? null, versions[0]?.[keyword] ?? null))
}

const liftedNames = {
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
} as const

function saysSomething(version: JsonObject, keyword: keyof typeof liftedNames): boolean {
  return optionalObjectIn(version, keyword) !== undefined || objectsIn(version, keyword).length > 0
}

// Names of the resource, in the spec and in the status.

/** Names that are absent are no concern here. */
export function checkCrdNames(names: JsonObject, path: FieldPath): FieldError[] {
  const [kind, listKind] = [textIn(names, 'kind'), textIn(names, 'listKind')]
  const ambiguous = kind !== '' && kind === listKind
  return [
    ...errorsOfEach(['plural', 'singular'], (name) =>
      textIn(names, name) === '' ? [] : refuseLabel(textIn(names, name), path.child(name)),
    ),
    ...errorsOfEach(['kind', 'listKind'], (name) => refuseKind(textIn(names, name), path.child(name))),
    ...errorsOfEach(textsIn(names, 'shortNames'), (name, index) =>
      refuseLabel(name, path.child('shortNames').index(index)),
    ),
    ...(ambiguous
      ? [fieldError.invalid(path.child('listKind'), listKind, 'kind and listKind may not be the same')]
      : []),
    ...errorsOfEach(textsIn(names, 'categories'), (name, index) =>
      refuseLabel(name, path.child('categories').index(index)),
    ),
  ]
}

/** The complaints of a name check as one error. */
function refuseLabel(name: string, path: FieldPath): FieldError[] {
  const complaints = checkDns1035Label(name)
  return complaints.length === 0 ? [] : [fieldError.invalid(path, name, complaints.join(','))]
}

function refuseKind(kind: string, path: FieldPath): FieldError[] {
  const complaints = kind === '' ? [] : checkDns1035Label(kind.toLowerCase())
  return complaints.length === 0
    ? []
    : [fieldError.invalid(path, kind, `may have mixed case, but should otherwise match: ${complaints.join(',')}`)]
}
