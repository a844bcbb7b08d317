/**
 * The metadata of custom objects, and of objects embedded in them: what Go's ObjectMeta makes of it.
 *
 * The schema of a custom resource says next to nothing about metadata. Instead it is read as the struct that built-in
 * kinds have: types are checked, unknown fields are dropped and named, and what is empty is left out.
 */
import { isJsonObject } from '../json.ts'
import type { JsonObject, JsonObjectDraft, JsonValue } from '../json.ts'
import { decodeObject } from '../schema/conform.ts'
import type { DecodedObject } from '../schema/conform.ts'
import type { Schema, SchemaNode } from '../schema/schema.ts'
import { compareText } from '../text.ts'

/** Reads metadata; null is empty metadata. */
export function coerceObjectMeta(value: JsonValue): DecodedObject {
  if (value === null) return { object: {}, unknown: [] }
  // Anything but an object is refused in the words for one.
  const conformed = decodeObject(value as JsonObject, schema)
  if (conformed.mistake === undefined) return { ...conformed, object: leaveOutEmpty(conformed.object) }
  const { mistake = '' } = isJsonObject(value) ? decodeObject(inOrder(value), schema) : conformed
  return { ...conformed, mistake: mistake.replace(/(\.uid of type )string$/, '$1types.UID') }
}

/** Upstream reads metadata in the order of its keys, so that decides which of several mistakes is told. */
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
