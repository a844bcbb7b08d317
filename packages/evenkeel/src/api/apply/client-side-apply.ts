/**
 * The migration between client-side apply (`kubectl apply` with its last-applied annotation) and server-side apply.
 *
 * When the manager `kubectl` applies, it owns the fields that the annotation names and the object still has, so the
 * migration to server-side apply causes no conflicts. The annotation is kept up to date, so the migration back works as
 * well.
 *
 * Fields that a tool owns by Update become fields that it owns by Apply. Otherwise fields that the tool drops from its
 * configuration would stay in the object, owned by its Update entry.
 */
import {
  getOwn,
  isJsonObject,
  utf8Length,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  parseJson,
} from '@evenkeel/cel/primitives'
import { annotationBytesMax } from '../metadata.ts'
import type { ManagedFieldsEntry } from '../object.ts'
import { compare } from './compare.ts'
import { metadataOf } from './field-manager.ts'
import { FieldSet } from './field-set.ts'
import { decodeFields, encodeFields } from './fields-v1.ts'
import { encodeValue } from './path-element.ts'
import { toFieldSet } from './typed-fields.ts'
import { TypedError, validateTyped } from './typed-value.ts'
import type { TypedObject } from './updater.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The only manager the annotation belongs to. */
export const lastAppliedManager = 'kubectl'

/** Whether the object has the annotation. If so, it is kept up to date. */
export function hasLastApplied(object: JsonObject): boolean {
  return Boolean(annotationsOf(object)[annotation])
}

/** The fields that the annotation names and the object still has; undefined without a usable annotation. */
export function fieldsOfLastApplied(live: TypedObject): FieldSet | undefined {
  const config = parseConfig(annotationsOf(live.object)[annotation])
  if (!config || config['apiVersion'] !== live.apiVersion) return undefined
  try {
    validateTyped(live.object, live.type)
    validateTyped(config, live.type)
    const { added, modified, removed } = compare(config, live.object, live.type)
    return toFieldSet(config, live.type).difference(modified).difference(added).difference(removed)
  } catch (error) {
    if (error instanceof TypedError) return undefined
    throw error
  }
}

/** The object with the applied configuration in its annotation, if it has the annotation at all. */
export function syncLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(object)
  if (!annotations[annotation]) return object
  const text = `${sortedJson(withoutAnnotation(config))}\n`
  if (annotations[annotation] === text) return object
  const updated: JsonObjectDraft = { ...annotations, [annotation]: text }
  if (sizeOf(updated) > annotationBytesMax) delete updated[annotation]
  return { ...object, metadata: { ...metadataOf(object), annotations: updated } }
}

function annotationsOf(object: JsonObject): JsonObject {
  const annotations = getOwn(metadataOf(object), 'annotations')
  return isJsonObject(annotations) ? annotations : {}
}

function parseConfig(text: JsonValue | undefined): JsonObject | undefined {
  if (typeof text !== 'string' || text === '') return undefined
  try {
    const config: unknown = parseJson(text)
    return isJsonObject(config) && typeof config['kind'] === 'string' && config['kind'] !== '' ? config : undefined
  } catch {
    return undefined
  }
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const metadata = metadataOf(config)
  if (!isJsonObject(getOwn(metadata, 'annotations'))) return config
  const { [annotation]: _, ...annotations } = annotationsOf(config)
  return { ...config, metadata: { ...metadata, annotations } }
}

function sizeOf(annotations: JsonObject): number {
  let bytes = 0
  for (const [key, value] of Object.entries(annotations))
    bytes += utf8Length(key) + (typeof value === 'string' ? utf8Length(value) : 0)
  return bytes
}

/** The JSON of Go's encoder, which also escapes HTML in keys: kubectl compares and shows the text. */
function sortedJson(value: JsonObject): string {
  return encodeValue(value).replace(
    /[<>&\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

// Managed fields: from Update entries to Apply entries.

interface UpgradeOptions {
  /**
   * Only entries of this subresource.
   *
   * @default ''
   */
  readonly subresource?: string
}

/** Managed fields in which `from`, an Update manager so far, applies as `to`; the same list when nothing changes. */
export function upgradeManagers(
  entries: readonly ManagedFieldsEntry[],
  { from, to }: { from: string; to: string },
  { subresource = '' }: UpgradeOptions = {},
): readonly ManagedFieldsEntry[] {
  const isFormer = (entry: ManagedFieldsEntry): boolean =>
    entry.manager === from && entry.operation === 'Update' && (entry.subresource ?? '') === subresource
  const former = entries.filter(isFormer)
  const [first] = former
  if (!first) return entries
  const existing = entries.find(
    (entry) => entry.manager === to && entry.operation === 'Apply' && (entry.subresource ?? '') === subresource,
  )
  const kept = existing ?? first
  const set = former
    .filter(({ apiVersion }) => apiVersion === kept.apiVersion)
    .reduce(
      (union, { fieldsV1 }) => union.union(fieldsV1 ? decodeFields(fieldsV1) : new FieldSet()),
      kept.fieldsV1 ? decodeFields(kept.fieldsV1) : new FieldSet(),
    )
  const upgraded: ManagedFieldsEntry = { ...kept, manager: to, operation: 'Apply', fieldsV1: encodeFields(set) }
  return entries
    .map((entry) => (entry === kept ? upgraded : entry))
    .filter((entry) => entry === upgraded || !isFormer(entry))
}
