/**
 * Conversion of custom objects between versions that differ in more than `apiVersion`.
 *
 * The converter is a function of the embedding program, else the webhook of the CRD, else none. A webhook gets all
 * objects in one call, or in a few when they are very large. Results are checked in the same way for all converters:
 * as many objects as were sent, in their order, each in the wanted version, with only labels and annotations of the
 * metadata changed. The error texts are those of apiextensions-apiserver, because authors of webhooks search for
 * them.
 */
import {
  pushAll,
  ApiError,
  deepCopy,
  FieldPath,
  formatFieldErrors,
  getOwn,
  isApiError,
  isJsonObject,
  jsonSize,
  validateAnnotations,
  validateLabels,
  type FieldError,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type UnstructuredObject,
  parseJson,
  stringifyJson,
} from '#api'
import { deadline, onAbort, randomUuid, type Clock, type Random } from '#base'
import { WebhookClient, type WebhookOptions } from '../webhooks/client.ts'
import { makeConversionReview, readConversionResponse } from '../webhooks/conversion-review.ts'
import { reviewVersion } from '../webhooks/review.ts'
import type { ConversionWebhookConfig, CustomResourceDefinition } from './crd.ts'

/** Objects in a version of their kind (`group/version`), in the same order. Never changes what it is given. */
export type Conversion = (objects: readonly JsonObject[], apiVersion: string) => Promise<JsonObject[]>

/** `demo.example.com/v1, Kind=Widget`: the type in error texts. */
function formatType({ apiVersion, kind }: JsonObject): string {
  return `${String(apiVersion)}, Kind=${String(kind)}`
}

/** A failed conversion: an error of the server or the converter, never of the client, so 500 without a reason. */
function conversionError(message: string, { cause }: { cause?: unknown } = {}): ApiError {
  return new ApiError('Unknown', message, { cause })
}

/** The conversion options of the server. */
export interface ConversionOptions {
  /** By the name of the CRD. */
  readonly conversions: Readonly<Record<string, ConvertObject>>
  readonly webhooks: WebhookOptions
}

interface ConversionContext extends ConversionOptions {
  readonly clock: Clock
  readonly random: Random
  readonly retired: AbortSignal
}

/** The converter of a CRD; undefined when its versions differ in their name only. */
export function conversionFor(
  { metadata: { name = '' }, spec }: CustomResourceDefinition,
  { conversions, ...context }: ConversionContext,
): Conversion | undefined {
  const given = Object.hasOwn(conversions, name) ? conversions[name] : undefined
  if (given !== undefined) return functionConversion(given)
  const { strategy, webhook } = spec.conversion ?? {}
  return strategy === 'Webhook' && webhook !== undefined ? webhookConversion(webhook, context) : undefined
}

/**
 * Converts an object to another version of its kind (`v2`). The object is a copy: it may be changed and returned.
 * `apiVersion` need not be set, and of the metadata only changes of labels and annotations count.
 */
export type ConvertObject = (
  object: UnstructuredObject,
  version: string,
) => UnstructuredObject | Promise<UnstructuredObject>

const functionConverter = 'conversion function'

/** A conversion that calls a function for each object. */
function functionConversion(convert: ConvertObject): Conversion {
  return async (objects, apiVersion) => {
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
    const converted: JsonValue[] = []
    for (const object of objects) {
      try {
        converted.push(checkResult(object, await convert(deepCopy(object) as UnstructuredObject, version), apiVersion))
      } catch (error) {
        throw conversionError(
          `${functionConverter} for ${formatType(object)} failed: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        )
      }
    }
    return checkConverted(objects, converted, { converter: functionConverter, apiVersion })
  }
}

// The result must be JSON: other values (undefined, dates) are an error now and not at the next read.
function checkResult(object: JsonObject, result: unknown, apiVersion: string): JsonValue {
  const plain = result === undefined ? null : (parseJson(stringifyJson(result)) as JsonValue)
  if (!isJsonObject(plain)) return plain
  const isUntouched = plain['apiVersion'] === undefined || plain['apiVersion'] === object['apiVersion']
  return isUntouched ? { ...plain, apiVersion } : plain
}

interface ConversionWebhookContext {
  readonly clock: Clock
  readonly random: Random
  /** Aborts when the webhook is no longer used: its connection is then closed. */
  readonly retired: AbortSignal
  readonly webhooks: WebhookOptions
}

/** How long a webhook may take. */
const timeoutSeconds = 30
const webhookConverter = 'conversion webhook'

/** A converter that calls the webhook of a CRD. */
function webhookConversion(
  { clientConfig, conversionReviewVersions }: ConversionWebhookConfig,
  context: ConversionWebhookContext,
): Conversion {
  const { clock, random, retired, webhooks } = context
  const hook = new WebhookClient(clientConfig, webhooks)
  onAbort(retired, () => {
    hook.close()
  })
  const convert: Conversion = async (objects, apiVersion) => {
    const [first = {}] = objects
    const version = reviewVersion(conversionReviewVersions)
    if (version === undefined) throw conversionError('no supported conversion review versions')
    const question = { version, uid: randomUuid(random), apiVersion }
    const { signal, done } = deadline(clock, timeoutSeconds * 1000)
    try {
      const answer = await hook.call(makeConversionReview(objects, question), { signal, timeoutSeconds })
      return checkConverted(objects, readConversionResponse(answer, question), {
        converter: webhookConverter,
        apiVersion,
      })
    } catch (error) {
      if (isApiError(error) && error.reason === 'Unknown') throw error
      throw conversionError(`${webhookConverter} for ${formatType(first)} failed: ${(error as Error).message}`, {
        cause: error,
      })
    } finally {
      done()
    }
  }
  return async (objects, apiVersion) => {
    const converted: JsonObject[] = []
    for (const batch of batchesOf(objects)) pushAll(converted, await convert(batch, apiVersion))
    return converted
  }
}

/** A batch of this size is always small enough, because the store limits the size of an object. */
const fewObjects = 16

/** Objects in order, in batches that fit into one call. */
export function batchesOf(
  objects: readonly JsonObject[],
  { bytesMax = 16 * 1024 * 1024 }: { bytesMax?: number } = {},
): JsonObject[][] {
  if (objects.length <= fewObjects) return [[...objects]]
  const batches: JsonObject[][] = []
  let bytes = 0
  for (const object of objects) {
    const size = jsonSize(object)
    const last = batches.at(-1)
    if (last === undefined || bytes + size > bytesMax) {
      batches.push([object])
      bytes = size
      continue
    }
    last.push(object)
    bytes += size
  }
  return batches
}

interface ConversionCheckOptions {
  /** The converter in error texts: `conversion webhook`. */
  readonly converter: string
  /** The wanted `group/version`. */
  readonly apiVersion: string
}

/**
 * The converted objects, with the metadata of the originals.
 *
 * @throws {ApiError} 500, naming the invalid object.
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
  /** The error text does not name the converter. */
  readonly isBare?: boolean
}

function findMistake(
  original: JsonObject,
  converted: JsonValue | undefined,
  { apiVersion, where }: { apiVersion: string; where: number | undefined },
): ConversionMistake | undefined {
  if (!isJsonObject(converted))
    return { text: `a converted object must be an object, got ${stringifyJson(converted ?? null)}`, isBare: true }
  const received = textOf(converted, 'apiVersion')
  const [at, object] =
    where === undefined
      ? ['invalid object at index 0', 'invalid object']
      : [`invalid converted object at index ${where}`, `invalid converted object at index ${where}`]
  if (textOf(converted, 'kind') === '')
    return { text: `Object 'Kind' is missing in '${stringifyJson(converted)}'`, isBare: true }
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
  // Unchanged metadata is not validated again: it may be older than the rule.
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

/** A converter may change only labels and annotations. */
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
  if (typeof value === 'bigint') return 'int64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}'
}
