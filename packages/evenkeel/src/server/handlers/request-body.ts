/**
 * Request bodies: bounded while they are read, parsed by content type, and decoded into an object of the kind.
 *
 * Unknown and duplicate fields become warnings or an error, as the field validation of the request says.
 */
import {
  badRequest,
  cannotBeHandledError,
  decodeObject,
  isBadRequest,
  isJsonObject,
  pruneCustomObject,
  requestEntityTooLarge,
  strictDecodingError,
  strictDecodingMessages,
  unsupportedMediaType,
  type ApiError,
  type JsonObject,
  type JsonObjectDraft,
  type JsonValue,
  type StrictFindings,
} from '#api'
import { ByteBuffer } from '#base'
import type { ObjectDraft, Resource } from '@evenkeel/builtins'
import {
  checkValues,
  decodeProtobuf,
  findKeys,
  formatOfBody,
  loadCbor,
  mediaTypes,
  readJson,
  readYaml,
  type MediaFormat,
  type WireRequest,
} from '#wire'
import { completeTypeMeta } from '../registry/strategy.ts'
import type { RequestContext, RequestInfo } from '../request-context.ts'
import type { FieldValidation } from './write-options.ts'

/** The largest accepted body. */
const bodyBytesMax = 3 * 1024 * 1024

/** A parsed body: its value, and its duplicate keys. */
interface ParsedBody {
  readonly value: JsonValue
  readonly duplicates: readonly string[]
  /** The JSON text, when it has duplicate keys. */
  readonly text?: string
  /** CBOR has its own texts about unknown fields. */
  readonly isCbor?: boolean
  /** More strict decoding errors: those of the patch that made this object. */
  readonly mistakes?: readonly string[]
}

/**
 * The bytes of a body.
 *
 * @throws {ApiError} `RequestEntityTooLarge`
 */
export async function readBody({ body, headers }: WireRequest): Promise<Uint8Array> {
  if (body === undefined) return new Uint8Array()
  const expected = Number(headers['content-length'] ?? 0)
  if (expected > bodyBytesMax) throw tooLarge()
  if (body instanceof Uint8Array) {
    if (body.byteLength > bodyBytesMax) throw tooLarge()
    return body
  }
  const whole = new ByteBuffer({ expected })
  for await (const piece of body) {
    if (whole.size + piece.byteLength > bodyBytesMax) throw tooLarge()
    whole.append(piece)
  }
  return whole.bytes
}

/**
 * The format of a request's body.
 *
 * @throws {ApiError} `UnsupportedMediaType`, naming the accepted ones.
 */
export function bodyFormat(
  { request: { headers }, formats }: Pick<RequestInfo, 'request' | 'formats'>,
  { custom = false }: { custom?: boolean | undefined } = {},
): MediaFormat {
  const format = formatOfBody(headers['content-type'])
  if (format === undefined || !formats.includes(format) || (custom && format === 'protobuf'))
    throw unsupportedMediaType(formats.map((name) => mediaTypes[name]))
  return format
}

/**
 * The value of a body with an object of a kind.
 *
 * @throws {ApiError} `BadRequest`, with the beginning of the body, when it has none.
 */
export async function parseObject(
  bytes: Uint8Array,
  format: MediaFormat,
  { kind, request }: ParseOptions,
): Promise<ParsedBody> {
  let read: ParsedBody
  try {
    read = await parseBody(bytes, format, request)
  } catch (error) {
    if (!isBadRequest(error)) throw error
    if (format === 'cbor') throw await cborError(error, { bytes, kind })
    throw unrecognized(
      format === 'json' ? `couldn't get version/kind; json parse error: ${error.message}` : error.message,
      { bytes, kind },
    )
  }
  if (format === 'cbor') return withCborType(read, { bytes, kind })
  if (!isJsonObject(read.value))
    throw unrecognized(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${jsonType(read.value)} into Go value of type struct`,
      { bytes, kind },
    )
  return read
}

function unrecognized(why: string, { bytes, kind }: { bytes: Uint8Array; kind: string }): ApiError {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${summaryOf(bytes)})`)
}

/** The beginning of a body: as text when it looks like JSON. */
function summaryOf(bytes: Uint8Array): string {
  if (bytes.byteLength === 0) return '<empty>'
  const start = Buffer.from(bytes.subarray(0, 30)).toString(bytes[0] === 0x7b ? 'utf8' : 'hex')
  return bytes.byteLength > 30 ? `${start} ...` : start
}

/** A document in CBOR: null is an empty object, and its type must be texts. */
async function withCborType(
  read: ParsedBody,
  { bytes, kind }: { bytes: Uint8Array; kind: string },
): Promise<ParsedBody> {
  const value = read.value ?? {}
  const isTyped =
    isJsonObject(value) && ['apiVersion', 'kind'].every((name) => ['string', 'undefined'].includes(typeof value[name]))
  if (!isTyped) throw await cborError(badRequest('the document has no type'), { bytes, kind })
  return { ...read, value }
}

/** What upstream says about a document that it cannot read: its kind, if the top level can be read. */
async function cborError(error: ApiError, { bytes, kind }: { bytes: Uint8Array; kind: string }): Promise<ApiError> {
  const { readCborType } = await loadCbor()
  try {
    const type = readCborType(bytes)
    return cannotBeHandledError(type.kind || kind, versionOf(type.apiVersion), error.message)
  } catch (failure) {
    const why = isBadRequest(failure) ? failure.message : error.message
    return unrecognized(`unable to determine group/version/kind: ${why}`, { bytes, kind })
  }
}

function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}

/** No object of a cluster has a tenth of it; one with so many takes half a second. */
export const documentValuesMax = 100_000

/** Reads bytes of any format. */
async function parseBody(bytes: Uint8Array, format: MediaFormat, request: WireRequest): Promise<ParsedBody> {
  if (format === 'json') {
    const read = readJson(bytes, { valuesMax: documentValuesMax })
    return read.duplicates.length === 0 ? read : { ...read, text: Buffer.from(bytes).toString() }
  }
  if (format === 'protobuf') {
    const value = decodeProtobuf(bytes)
    // A value takes two bytes or more.
    if (bytes.byteLength > 2 * documentValuesMax) checkValues(value, documentValuesMax)
    return { value, duplicates: [] }
  }
  if (format === 'cbor') {
    const { readCbor } = await loadCbor()
    return { value: readCbor(bytes, { valuesMax: documentValuesMax }), duplicates: [], isCbor: true }
  }
  return readYaml(bytes, { inThread: isRemote(request), valuesMax: documentValuesMax })
}

/** Whether a request came from a socket: only then work may be done in a thread. */
export function isRemote({ peer }: WireRequest): boolean {
  return peer !== undefined
}

interface ParseOptions {
  readonly kind: string
  readonly request: WireRequest
}

export interface ShapeOptions {
  readonly fieldValidation: FieldValidation
  readonly warnings: RequestContext['warnings']
}

/**
 * Decodes a value as an object of a kind: drops unknown fields, checks types, completes its type.
 *
 * @throws {ApiError} `BadRequest`, when it is not such an object, or has errors and `fieldValidation` is `Strict`.
 */
export function shapeObject(
  body: ParsedBody,
  resource: Resource,
  { fieldValidation, warnings }: ShapeOptions,
): ObjectDraft {
  const { value, duplicates, mistakes = [] } = body
  if (!isJsonObject(value))
    throw cannotBeHandledError(
      resource.kind,
      resource.version,
      `json: cannot unmarshal ${jsonType(value)} into Go value of type ${resource.version}.${resource.kind}`,
    )
  const given = value
  checkType(given, resource)
  completeTypeMeta(given, resource)
  const { object, unknown, mistake } = resource.custom
    ? pruneCustomObject(given, resource.schema.root)
    : decodeObject(given, resource.schema)
  if (mistake !== undefined)
    throw cannotBeHandledError(resource.kind, resource.version, body.isCbor ? inCbor(mistake, resource) : mistake)
  const draft = object as ObjectDraft
  checkFinalizers(draft)
  if (!resource.custom) keepResetFields(draft, given)
  if (fieldValidation === 'Ignore' || unknown.length + duplicates.length + mistakes.length === 0) return draft
  const sentences = body.isCbor
    ? unknownInCbor(given, unknown, resource)
    : [...mistakes, ...strictDecodingMessages(resource.custom ? { unknown, duplicates } : inOrder(body, unknown))]
  if (fieldValidation === 'Strict' && sentences.length > 0)
    throw strictDecodingError(resource.kind, resource.version, sentences)
  for (const sentence of sentences) warnings.add(sentence)
  return draft
}

/** An object has a few of them. Each is a field of its manager: a hundred thousand take a second. */
const finalizersMax = 10_000

/** Options of a connection are decoded as objects too, and have no metadata. @throws {ApiError} `RequestEntityTooLarge` */
function checkFinalizers({ metadata }: Partial<ObjectDraft>): void {
  const finalizers = metadata?.['finalizers']
  if (Array.isArray(finalizers) && finalizers.length > finalizersMax)
    throw requestEntityTooLarge(`metadata.finalizers has more than ${finalizersMax} items`)
}

const cborTypes: Readonly<Record<string, string>> = { string: 'byte string', bool: 'primitives', object: 'map' }

/** A mistake of the JSON decoder in the words of the CBOR decoder. */
function inCbor(mistake: string, { version }: Resource): string {
  return mistake
    .replace(/^json: cannot unmarshal (\w+)/, (_, type: string) => `cbor: cannot unmarshal ${cborTypes[type] ?? type}`)
    .replace('Go struct field ', `Go struct field ${version}.`)
}

/** The CBOR decoder reports one unknown field of a built-in kind, the outermost, by its place in its map. */
function unknownInCbor(given: JsonObject, unknown: readonly string[], { custom }: Resource): string[] {
  if (custom || unknown.length === 0) return []
  const index = indexOfUnknown(given, new Set(unknown), '')
  return [`cbor: found unknown field at map element index ${index ?? 0}`]
}

function indexOfUnknown(value: JsonValue, unknown: ReadonlySet<string>, path: string): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return firstOf(value, (item, at) => indexOfUnknown(item, unknown, `${path}[${at}]`))
  const keys = Object.keys(value)
  const prefix = path === '' ? '' : `${path}.`
  const index = keys.findIndex((key) => unknown.has(prefix + key))
  if (index >= 0) return index
  return firstOf(keys, (key) => indexOfUnknown((value as JsonObject)[key] ?? null, unknown, prefix + key))
}

function firstOf<T>(items: readonly T[], find: (item: T, at: number) => number | undefined): number | undefined {
  for (const [at, item] of items.entries()) {
    const found = find(item, at)
    if (found !== undefined) return found
  }
  return undefined
}

/** Go's decoder reports the fields of built-in kinds in the order of the text; duplicates of custom ones come first. */
function inOrder({ duplicates, text }: ParsedBody, unknown: readonly string[]): StrictFindings {
  if (text === undefined || unknown.length === 0 || duplicates.length === 0) return { unknown, duplicates }
  return { unknown, duplicates, order: findKeys(text, unknown).map(({ path }) => path) }
}

/** An empty list of managers resets the tracking. Custom resources need `[{}]` for that, as upstream. */
function keepResetFields(draft: ObjectDraft, given: JsonObjectDraft): void {
  const entries = isJsonObject(given['metadata']) ? given['metadata']['managedFields'] : undefined
  if (Array.isArray(entries) && entries.length === 0) draft.metadata['managedFields'] = []
}

/** A body with options; undefined when it is empty. */
export async function readOptionsBody(
  context: Pick<RequestInfo, 'request' | 'formats'>,
): Promise<JsonObject | undefined> {
  const bytes = await readBody(context.request)
  if (bytes.byteLength === 0) return undefined
  const { value } = await parseBody(bytes, bodyFormat(context), context.request)
  if (!isJsonObject(value)) throw badRequest('the body must hold one object')
  return value
}

function checkType(draft: JsonObjectDraft, { custom }: Resource): void {
  if (!custom) return
  if (!draft['apiVersion']) throw badRequest('the object has no apiVersion')
  if (!draft['kind']) throw badRequest('the object has no kind')
}

/** The type of a value in Go. */
export function jsonType(value: JsonValue): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'bool'
  return Array.isArray(value) ? 'array' : typeof value
}

function tooLarge(): Error {
  return requestEntityTooLarge(`limit is ${bodyBytesMax}`)
}
