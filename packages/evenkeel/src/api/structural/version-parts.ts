/**
 * Rules about what a version offers beside its schema: subresources, columns, selectable fields.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import type { FieldPath } from '../error/field-path.ts'
import type { JsonObject } from '../json.ts'
import { utf8Length } from '../text.ts'
import { objectIn, optionalObjectIn, textIn } from './reading.ts'
import { followReference } from './schema/field-reference.ts'
import type { JsonSchemaProps } from './schema/properties.ts'

/** Paths of the scale subresource lead into spec and status. */
export function checkSubresources(subresources: JsonObject, path: FieldPath): FieldError[] {
  const scale = optionalObjectIn(subresources, 'scale')
  if (scale === undefined) return []
  const selector = textIn(scale, 'labelSelectorPath')
  return [
    ...checkScalePath(scale, 'specReplicasPath', { path, under: ['.spec'] }),
    ...checkScalePath(scale, 'statusReplicasPath', { path, under: ['.status'] }),
    ...(selector === '' ? [] : checkScalePath(scale, 'labelSelectorPath', { path, under: ['.spec', '.status'] })),
  ]
}

/** Columns of tables; that their paths can be read is left to whoever prints, as upstream does. */
export function checkColumn(column: JsonObject, path: FieldPath): FieldError[] {
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
export function checkSelectableFields(
  fields: readonly JsonObject[],
  schema: JsonSchemaProps,
  path: FieldPath,
): FieldError[] {
  const seen = new Set<string>()
  const errors = fields.flatMap((field, index) => {
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

/** What clients of a deprecated version are told: one printable line. */
export function checkDeprecation(version: JsonObject, path: FieldPath): FieldError[] {
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
export function hasStatus(version: JsonObject): boolean {
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
