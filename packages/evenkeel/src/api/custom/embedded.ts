/**
 * Objects inside custom objects: each needs an apiVersion and a kind, and its metadata is held to the rules of all
 * metadata, except that a name may be missing and may be anything that fits into a URL.
 */
import { fieldError } from '../error/field-error.ts'
import type { FieldError } from '../error/field-error.ts'
import { FieldPath } from '../error/field-path.ts'
import { validateFinalizers } from '../finalizers.ts'
import type { JsonArray, JsonObject, JsonValue } from '../json.ts'
import { validateAnnotations, validateLabels } from '../metadata.ts'
import { checkDns1035Label, checkDnsLabel, checkPathSegmentName } from '../names.ts'
import type { ObjectMeta } from '../object.ts'
import { validateOwnerReferences } from '../owners.ts'
import { sortKeys } from './canonical.ts'
import { coerceObjectMeta } from './metadata.ts'
import type { CompiledSchema } from './plan.ts'

type OptionalPath = FieldPath | undefined

/** What is wrong with the embedded resources in a value. */
export function validateEmbeddedResources(value: JsonValue, plan: CompiledSchema, path: OptionalPath): FieldError[] {
  if (!plan.hasEmbedded || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    const { items } = plan
    return items
      ? (value as JsonArray).flatMap((item, index) => validateEmbeddedResources(item, items, path?.index(index)))
      : []
  }
  const object = value as JsonObject
  return [
    ...(plan.embedded ? validateResource(object, path) : []),
    ...Object.keys(object).flatMap((key) => {
      const child = object[key]
      if (child === undefined) return []
      const place = plan.properties?.get(key)
      if (place) return validateEmbeddedResources(child, place, childOf(path, key))
      return plan.additional
        ? validateEmbeddedResources(child, plan.additional, path?.key(key) ?? FieldPath.of(`[${key}]`))
        : []
    }),
  ]
}

function validateResource(object: JsonObject, path: OptionalPath): FieldError[] {
  const { apiVersion, kind, metadata } = object
  return [
    ...validateText(apiVersion, childOf(path, 'apiVersion'), apiVersionMistake),
    ...validateText(kind, childOf(path, 'kind'), kindMistake),
    ...(metadata === undefined ? [] : validateMetadata(metadata, childOf(path, 'metadata'))),
  ]
}

function validateText(
  value: JsonValue | undefined,
  path: FieldPath,
  mistakeOf: (text: string) => string | undefined,
): FieldError[] {
  if (value === undefined) return [fieldError.required(path)]
  if (typeof value !== 'string') return [fieldError.invalid(path, sortKeys(value), 'must be a string')]
  const mistake = value === '' ? 'must not be empty' : mistakeOf(value)
  return mistake === undefined ? [] : [fieldError.invalid(path, value, mistake)]
}

function apiVersionMistake(apiVersion: string): string | undefined {
  return apiVersion.split('/').length > 2 ? `unexpected GroupVersion string: ${apiVersion}` : undefined
}

function kindMistake(kind: string): string | undefined {
  const complaints = checkDns1035Label(kind.toLowerCase())
  return complaints.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${complaints.join()}`
}

function validateMetadata(value: JsonValue, path: FieldPath): FieldError[] {
  const { object, mistake } = coerceObjectMeta(value)
  if (mistake !== undefined) return [fieldError.invalid(path, sortKeys(value), mistake)]
  const {
    name = '',
    generateName = '',
    namespace = '',
    generation = 0,
    labels = {},
    annotations = {},
    ownerReferences = [],
    finalizers = [],
  } = object as ObjectMeta
  const invalid =
    (field: string, text: string) =>
    (complaint: string): FieldError =>
      fieldError.invalid(path.child(field), text, complaint)
  return [
    ...checkPathSegmentName(generateName, { prefix: true }).map(invalid('generateName', generateName)),
    ...checkPathSegmentName(name).map(invalid('name', name)),
    ...(namespace === '' ? [] : checkDnsLabel(namespace).map(invalid('namespace', namespace))),
    ...(generation < 0
      ? [fieldError.invalid(path.child('generation'), generation, 'must be greater than or equal to 0')]
      : []),
    ...validateLabels(labels, path.child('labels')),
    ...validateAnnotations(annotations, path.child('annotations')),
    ...validateOwnerReferences(ownerReferences, path.child('ownerReferences')),
    ...validateFinalizers(finalizers, path.child('finalizers')),
  ]
}

function childOf(path: OptionalPath, key: string): FieldPath {
  return path?.child(key) ?? FieldPath.of(key)
}
