/**
 * The metadata of custom objects and of the resources embedded in them, read as Go's ObjectMeta.
 *
 * The schema of a custom resource declares next to nothing about metadata, so it is decoded as that of a built-in kind:
 * types are checked, unknown fields are dropped and reported, empty fields are left out. An embedded resource needs an
 * apiVersion and a kind; its metadata follows the rules of all metadata, except that the name is optional and may be
 * anything that fits into a URL.
 */
import {
  checkDns1035Label,
  checkDnsLabel,
  checkPathSegmentName,
  compareText,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
} from '@evenkeel/cel/primitives'
import { errorsOfEach, fieldError, FieldPath, type FieldError } from '../errors/field-error.ts'
import { validateFinalizers } from '../finalizers.ts'
import { validateAnnotations, validateLabels } from '../metadata.ts'
import type { ObjectMeta } from '../object.ts'
import { validateOwnerReferences } from '../owners.ts'
import type { CompiledSchema } from './compile.ts'
import { sortKeys } from './correlate.ts'
import { decodeObject, type DecodedObject } from './decode.ts'
import type { Schema, SchemaNode } from './schema.ts'

/** Reads metadata; null is empty metadata. */
export function coerceObjectMeta(value: JsonValue): DecodedObject {
  if (value === null) return { object: {}, unknown: [] }
  // A value that is no object gets the message for one.
  const conformed = decodeObject(value as JsonObject, schema)
  if (conformed.mistake === undefined) return { ...conformed, object: leaveOutEmpty(conformed.object) }
  const { mistake = '' } = isJsonObject(value) ? decodeObject(inOrder(value), schema) : conformed
  return { ...conformed, mistake: mistake.replace(/(\.uid of type )string$/, '$1types.UID') }
}

/** kube-apiserver reads metadata in the order of its keys: that decides which of several errors it reports. */
function inOrder(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).sort(([a], [b]) => compareText(a, b)))
}

const string: SchemaNode = { type: 'string' }
const integer: SchemaNode = { type: 'integer', format: 'int64' }
const time: SchemaNode = { type: 'string', format: 'date-time' }
const texts: SchemaNode = { type: 'object', additionalProperties: string }

const definitions = new Map<string, SchemaNode>([
  [
    'v1.ObjectMeta',
    {
      type: 'object',
      properties: {
        name: string,
        generateName: string,
        namespace: string,
        selfLink: string,
        uid: string,
        resourceVersion: string,
        generation: integer,
        creationTimestamp: time,
        deletionTimestamp: time,
        deletionGracePeriodSeconds: integer,
        labels: texts,
        annotations: texts,
        ownerReferences: { type: 'array', items: { $ref: 'v1.OwnerReference' } },
        finalizers: { type: 'array', items: string },
        managedFields: { type: 'array', items: { $ref: 'v1.ManagedFieldsEntry' } },
      },
    },
  ],
  [
    'v1.OwnerReference',
    {
      type: 'object',
      properties: {
        apiVersion: string,
        kind: string,
        name: string,
        uid: string,
        controller: { type: 'boolean' },
        blockOwnerDeletion: { type: 'boolean' },
      },
    },
  ],
  [
    'v1.ManagedFieldsEntry',
    {
      type: 'object',
      properties: {
        manager: string,
        operation: string,
        apiVersion: string,
        time,
        fieldsType: string,
        fieldsV1: { $ref: 'v1.FieldsV1' },
        subresource: string,
      },
    },
  ],
  ['v1.FieldsV1', { type: 'object' }],
])

const schema: Schema = {
  name: 'v1.ObjectMeta',
  root: { $ref: 'v1.ObjectMeta' },
  definitions: (name) => definitions.get(name),
}

/** Zero values are absent, except behind pointers, where 0 is something said. */
function leaveOutEmpty(metadata: JsonObject): JsonObject {
  let draft: JsonObjectDraft | undefined
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (value === '' || (value === 0 && key === 'generation')) delete (draft ??= { ...metadata })[key]
  }
  const owners = metadata['ownerReferences']
  if (Array.isArray(owners) && owners.some(lacksParts))
    (draft ??= { ...metadata })['ownerReferences'] = owners.map(complete)
  return draft ?? metadata
}

const ownerParts = ['apiVersion', 'kind', 'name', 'uid'] as const

function lacksParts(owner: JsonValue): boolean {
  return isJsonObject(owner) && ownerParts.some((part) => owner[part] === undefined)
}

function complete(owner: JsonValue): JsonValue {
  return isJsonObject(owner) ? { apiVersion: '', kind: '', name: '', uid: '', ...owner } : owner
}

// Embedded resources.

type OptionalPath = FieldPath | undefined

/** What is wrong with the embedded resources in a value. */
export function validateEmbeddedResources(value: JsonValue, plan: CompiledSchema, path: OptionalPath): FieldError[] {
  if (!plan.hasEmbedded || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    const { items } = plan
    return items
      ? errorsOfEach(value as JsonArray, (item, index) => validateEmbeddedResources(item, items, path?.index(index)))
      : []
  }
  const object = value as JsonObject
  return [
    ...(plan.isEmbedded ? validateResource(object, path) : []),
    ...errorsOfEach(Object.keys(object), (key) => {
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
