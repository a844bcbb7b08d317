/**
 * What came back from a conversion, held against what was sent.
 *
 * Sentences are those of apiextensions-apiserver, because authors of webhooks look them up.
 */
import { FieldPath, formatFieldErrors, getOwn, isJsonObject, validateAnnotations, validateLabels } from '#api'
import type { FieldError, JsonObject, JsonObjectDraft, JsonValue } from '#api'
import { conversionError, formatType } from './conversion.ts'

interface ConversionCheckOptions {
  /** Who converted, as messages name it: `conversion webhook`. */
  readonly converter: string
  /** The wanted `group/version`. */
  readonly apiVersion: string
}

/**
 * The converted objects, with the metadata of those that were sent.
 *
 * @throws {ApiError} 500, naming the object that is not as it should be.
 */
export function checkConverted(
  sent: readonly JsonObject[],
  converted: readonly JsonValue[],
  options: ConversionCheckOptions,
): JsonObject[] {
  const [first = {}] = sent
  const subject = `${options.converter} for ${formatType(first)}`
  if (converted.length !== sent.length)
    throw conversionError(`${subject} returned ${converted.length} objects, expected ${sent.length}`)
  return sent.map((original, index) => {
    const mistake = findMistake(original, converted[index], {
      apiVersion: options.apiVersion,
      where: sent.length === 1 ? undefined : index,
    })
    if (mistake !== undefined)
      throw conversionError(mistake.isBare ? mistake.text : `${subject} returned ${mistake.text}`)
    return restoreMetadata(original, converted[index] as JsonObject)
  })
}

interface ConversionMistake {
  readonly text: string
  /** Said without naming who converted. */
  readonly isBare?: boolean
}

function findMistake(
  original: JsonObject,
  converted: JsonValue | undefined,
  { apiVersion, where }: { apiVersion: string; where: number | undefined },
): ConversionMistake | undefined {
  if (!isJsonObject(converted))
    return { text: `a converted object must be an object, got ${JSON.stringify(converted ?? null)}`, isBare: true }
  const received = textOf(converted, 'apiVersion')
  const [at, object] =
    where === undefined
      ? ['invalid object at index 0', 'invalid object']
      : [`invalid converted object at index ${where}`, `invalid converted object at index ${where}`]
  if (textOf(converted, 'kind') === '')
    return { text: `Object 'Kind' is missing in '${JSON.stringify(converted)}'`, isBare: true }
  if (received !== apiVersion)
    return { text: `${at}: invalid groupVersion (expected ${apiVersion}, received ${received})` }
  if (converted['kind'] !== original['kind'])
    return { text: `${at}: invalid kind (expected ${String(original['kind'])}, received ${String(converted['kind'])})` }
  const [before, after] = [metadataOf(original), metadataOf(converted)]
  for (const [field, label] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const [expected, got] = [textOf(before, field), textOf(after, field)]
    if (expected !== got) return { text: `${object}: must have the same ${label}: ${expected} != ${got}` }
  }
  const mistake = metadataMistake(before, converted['metadata'])
  return mistake === undefined
    ? undefined
    : { text: `invalid metadata${where === undefined ? '' : ` in object at index ${where}`}: ${mistake}` }
}

function metadataMistake(before: JsonObject, metadata: JsonValue | undefined): string | undefined {
  if (metadata === undefined) return 'missing metadata in converted object'
  if (!isJsonObject(metadata)) return `invalid metadata of type ${goType(metadata)} in converted object`
  return mapMistake(before, metadata, 'labels') ?? mapMistake(before, metadata, 'annotations')
}

function mapMistake(before: JsonObject, after: JsonObject, field: 'labels' | 'annotations'): string | undefined {
  const map = after[field] ?? undefined
  if (map === undefined) return undefined
  if (!isJsonObject(map)) return `invalid metadata.${field} of type ${goType(map)} in converted object`
  const old = isJsonObject(before[field]) ? before[field] : {}
  for (const [key, value] of Object.entries(map)) {
    if (typeof value !== 'string')
      return `metadata.${field}[${key}] must be a string, but is ${goType(value ?? null)} in converted object`
  }
  // What was there before is not judged again: it may be older than the rule.
  const isSame =
    Object.keys(map).length === Object.keys(old).length &&
    Object.entries(map).every(([key, value]) => getOwn(old, key) === value)
  const errors = isSame ? [] : validateMap(map as Record<string, string>, field)
  return errors.length === 0 ? undefined : formatFieldErrors(errors)
}

function validateMap(map: Readonly<Record<string, string>>, field: 'labels' | 'annotations'): FieldError[] {
  return field === 'labels'
    ? validateLabels(map, FieldPath.of('metadata', 'labels'))
    : validateAnnotations(map, FieldPath.of('metadata', 'annotation'))
}

/** Only labels and annotations are the converter's to change. */
function restoreMetadata(original: JsonObject, converted: JsonObject): JsonObject {
  const after = metadataOf(converted)
  const metadata: JsonObjectDraft = { ...metadataOf(original) }
  for (const field of ['labels', 'annotations']) {
    if (isJsonObject(after[field])) metadata[field] = after[field]
    else delete metadata[field]
  }
  return { ...converted, metadata }
}

function metadataOf({ metadata }: JsonObject): JsonObject {
  return isJsonObject(metadata) ? metadata : {}
}

function textOf(object: JsonObject, field: string): string {
  const value = object[field]
  return typeof value === 'string' ? value : ''
}

function goType(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}
