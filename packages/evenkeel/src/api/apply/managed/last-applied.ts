/**
 * `kubectl apply` before there was server-side apply: the last configuration, kept in an annotation.
 *
 * When the manager `kubectl` applies, what the annotation says and the object still has is taken to be kubectl's own, so
 * moving to server-side apply brings no conflicts; and the annotation is kept up to date, so moving back works as well.
 */
import { annotationBytesMax } from '../../metadata.ts'
import { getOwn, isJsonObject } from '../../json.ts'
import type { JsonObject, JsonObjectDraft, JsonValue } from '../../json.ts'
import { utf8Length } from '../../text.ts'
import type { FieldSet } from '../paths/field-set.ts'
import { encodeValue } from '../paths/values.ts'
import type { TypedObject } from '../merge/managers.ts'
import { compare } from '../typed/compare.ts'
import { TypedError } from '../typed/mistakes.ts'
import { toFieldSet } from '../typed/to-field-set.ts'
import { validateTyped } from '../typed/validate.ts'
import { metadataOf } from './request.ts'

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** The only manager the annotation belongs to. */
export const lastAppliedManager = 'kubectl'

/** Whether the annotation is there: it is then kept up to date. */
export function hasLastApplied(object: JsonObject): boolean {
  return Boolean(annotationsOf(object)[annotation])
}

/** What the annotation says and the object still has; undefined when there is no annotation one could use. */
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

/** The object with the annotation saying what was applied, if it has the annotation at all. */
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
    const config: unknown = JSON.parse(text)
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

/** As Go's encoder writes it, which also minds HTML in keys: the text is compared and shown by kubectl. */
function sortedJson(value: JsonObject): string {
  return encodeValue(value).replace(
    /[<>&\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
