/**
 * Whether a CustomResourceDefinition is right: names, versions, schemas, conversion, and what may change of it.
 *
 * Paths and sentences are those of apiextensions-apiserver 1.36. The definition is taken to have its defaults. Nothing
 * here asks anybody: what needs a pattern engine or an expression language comes in as a check.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { FieldPath } from '../error/field-path.ts'
import type { JsonObject } from '../json.ts'
import { checkDnsSubdomain } from '../names.ts'
import { checkApproval } from './approval.ts'
import { checkConversion } from './conversion.ts'
import type { ClientConfigCheck } from './conversion.ts'
import { checkCrdNames } from './definition-names.ts'
import { isSet, objectIn, objectsIn, textIn, textsIn } from './reading.ts'
import type { SchemaChecks } from './schema/schema-of-version.ts'
import { checkVersions } from './versions.ts'

interface CrdChecks extends SchemaChecks {
  /**
   * Checks where a conversion webhook is.
   *
   * @default it may be anywhere
   */
  readonly checkClientConfig?: ClientConfigCheck
}

export interface ValidateCrdOptions extends CrdChecks {
  /** The stored definition, for an update. */
  readonly old?: JsonObject
}

/** Everything that is wrong with a definition, and with what an update makes of the old one. */
export function validateCrd(definition: JsonObject, { old, ...checks }: ValidateCrdOptions = {}): FieldError[] {
  const [spec, status] = [objectIn(definition, 'spec'), objectIn(definition, 'status')]
  return [
    ...(old === undefined ? checkObjectName(definition, spec) : []),
    ...checkSpec(spec, { ...checks, oldSpec: old && objectIn(old, 'spec') }),
    ...(old === undefined ? [] : validateCrdUpdate(definition, old)),
    ...validateCrdStatus(definition),
    ...checkStoredVersions(spec, status),
    ...checkApproval(definition, old),
    ...checkPreserving(spec, old),
  ]
}

/** What an update may not change: names always, scope and kind as soon as objects may exist. */
export function validateCrdUpdate(definition: JsonObject, old: JsonObject): FieldError[] {
  const [spec, oldSpec] = [objectIn(definition, 'spec'), objectIn(old, 'spec')]
  const [names, oldNames] = [objectIn(spec, 'names'), objectIn(oldSpec, 'names')]
  const path = FieldPath.of('spec')
  return [
    ...(isEstablished(old)
      ? [
          ...requireSame(textIn(spec, 'scope'), textIn(oldSpec, 'scope'), path.child('scope')),
          ...requireSame(textIn(names, 'kind'), textIn(oldNames, 'kind'), path.child('names', 'kind')),
        ]
      : []),
    ...requireSame(textIn(spec, 'group'), textIn(oldSpec, 'group'), path.child('group')),
    ...requireSame(textIn(names, 'plural'), textIn(oldNames, 'plural'), path.child('names', 'plural')),
  ]
}

/** What is wrong with the status of a definition: all that a write to the status is judged by. */
export function validateCrdStatus(definition: JsonObject): FieldError[] {
  return checkCrdNames(
    objectIn(objectIn(definition, 'status'), 'acceptedNames'),
    FieldPath.of('status', 'acceptedNames'),
  )
}

function checkObjectName(definition: JsonObject, spec: JsonObject): FieldError[] {
  const name = textIn(objectIn(definition, 'metadata'), 'name')
  if (name === `${textIn(objectIn(spec, 'names'), 'plural')}.${textIn(spec, 'group')}`) return []
  return [fieldError.invalid(FieldPath.of('metadata', 'name'), name, 'must be spec.names.plural+"."+spec.group')]
}

function checkSpec(spec: JsonObject, checks: CrdChecks & { readonly oldSpec: JsonObject | undefined }): FieldError[] {
  const path = FieldPath.of('spec')
  const [names, scope] = [objectIn(spec, 'names'), textIn(spec, 'scope')]
  const errors = checkGroup(textIn(spec, 'group'), path.child('group'))
  if (scope === '') errors.push(fieldError.required(path.child('scope')))
  else if (!['Cluster', 'Namespaced'].includes(scope))
    errors.push(fieldError.notSupported(path.child('scope'), scope, ['Cluster', 'Namespaced']))
  errors.push(...checkVersions(spec, checks))
  for (const name of ['plural', 'singular', 'kind', 'listKind']) {
    if (textIn(names, name) === '') errors.push(fieldError.required(path.child('names', name)))
  }
  return [
    ...errors,
    ...checkCrdNames(names, path.child('names')),
    ...checkConversion(spec, path.child('conversion'), checks.checkClientConfig ?? (() => [])),
  ]
}

function checkGroup(group: string, path: FieldPath): FieldError[] {
  if (group === '') return [fieldError.required(path)]
  const complaints = checkDnsSubdomain(group)
  if (complaints.length > 0) return [fieldError.invalid(path, group, complaints.join(','))]
  return group.includes('.') ? [] : [fieldError.invalid(path, group, 'should be a domain with at least one dot')]
}

/** Versions that objects may be stored in must stay, until somebody has rewritten those objects and says so. */
function checkStoredVersions(spec: JsonObject, status: JsonObject): FieldError[] {
  const path = FieldPath.of('status', 'storedVersions')
  const [stored, versions] = [textsIn(status, 'storedVersions'), objectsIn(spec, 'versions')]
  if (stored.length === 0) return [fieldError.invalid(path, null, 'must have at least one stored version')]
  const missing = versions.filter((version) => isSet(version, 'storage') && !stored.includes(textIn(version, 'name')))
  const known = new Set(versions.map((version) => textIn(version, 'name')))
  return [
    ...missing.map((version) =>
      fieldError.invalid(path, stored, `must have the storage version ${textIn(version, 'name')}`),
    ),
    ...stored.flatMap((name, index) =>
      known.has(name) || stored.lastIndexOf(name) > index
        ? []
        : [fieldError.invalid(path.index(index), name, stillStored(name))],
    ),
  ]
}

function stillStored(name: string): string {
  return (
    `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ` +
    `ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
  )
}

function checkPreserving(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  if (
    !isSet(spec, 'preserveUnknownFields') ||
    (old !== undefined && isSet(objectIn(old, 'spec'), 'preserveUnknownFields'))
  )
    return []
  const detail =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [fieldError.invalid(FieldPath.of('spec', 'preserveUnknownFields'), true, detail)]
}

function isEstablished(definition: JsonObject): boolean {
  const conditions = objectsIn(objectIn(definition, 'status'), 'conditions')
  return conditions.some(
    (condition) => textIn(condition, 'type') === 'Established' && textIn(condition, 'status') === 'True',
  )
}

function requireSame(value: string, old: string, path: FieldPath): FieldError[] {
  return value === old ? [] : [fieldError.invalid(path, value, 'field is immutable')]
}
