/**
 * Rules about the versions of a definition: their names, that one is stored, and what each of them offers.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { FieldPath } from '../error/field-path.ts'
import { deepEqual } from '../json.ts'
import type { JsonObject } from '../json.ts'
import { refuseLabel } from './definition-names.ts'
import { isLifted, liftVersions } from './lifted.ts'
import { isSet, objectIn, objectsIn, optionalObjectIn, textIn } from './reading.ts'
import { readJsonSchemaProps } from './schema/properties.ts'
import { checkVersionSchema } from './schema/schema-of-version.ts'
import type { SchemaChecks } from './schema/schema-of-version.ts'
import { findForeignKeyword } from './schema/structural.ts'
import { checkColumn, checkDeprecation, checkSelectableFields, checkSubresources, hasStatus } from './version-parts.ts'

interface VersionChecks extends SchemaChecks {
  /** The spec of the stored definition, for an update. */
  readonly oldSpec?: JsonObject | undefined
}

/** Everything that is wrong with the versions in the spec of a definition. */
export function checkVersions(spec: JsonObject, checks: VersionChecks): FieldError[] {
  const versions = objectsIn(spec, 'versions')
  const path = FieldPath.of('spec', 'versions')
  const names = versions.map((version) => textIn(version, 'name'))
  const errors = versions.flatMap((version, index) => [
    ...refuseLabel(textIn(version, 'name'), path.index(index).child('name')),
    ...checkDeprecation(version, path.index(index)),
  ])
  if (new Set(names).size < names.length)
    errors.push(fieldError.invalid(path, versions, 'must contain unique version names'))
  if (versions.filter((version) => isSet(version, 'storage')).length !== 1) {
    errors.push(fieldError.invalid(path, versions, 'must have exactly one version marked as storage version'))
  }
  // Upstream keeps the first name a second time, from days when there was one version.
  if (names[0] !== undefined && names[0] !== '') errors.push(...refuseLabel(names[0], FieldPath.of('spec', 'version')))
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
    errors.push(...checked.errors)
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

/** Whether a stored definition has the same schema for the version of that name. */
function isUnchangedIn(oldSpec: JsonObject, { name, schema }: JsonObject): boolean {
  const before = objectsIn(oldSpec, 'versions').find((version) => version['name'] === name)
  return before !== undefined && deepEqual(before['schema'] ?? null, schema ?? null)
}

function checkOffers(spec: JsonObject): FieldError[] {
  return [
    ...liftVersions(spec, 'subresources').flatMap(({ version, path }) =>
      checkSubresources(objectIn(version, 'subresources'), path),
    ),
    ...liftVersions(spec, 'additionalPrinterColumns').flatMap(({ version, path }) => {
      return objectsIn(version, 'additionalPrinterColumns').flatMap((column, index) =>
        checkColumn(column, path.index(index)),
      )
    }),
    ...liftVersions(spec, 'selectableFields').flatMap(({ version, path, lifted }) =>
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
