/**
 * Responses: the format, the shape and the compression of an answer.
 *
 * In the common case, JSON in the stored version, the stored bytes are sent; everything else is parsed, transformed
 * and encoded. Errors are a `Status` in the format that the client accepts. Large answers are compressed with the
 * fastest level of gzip, off the main thread, for clients that accept it, as Go clients do by default.
 */
import { promisify } from 'node:util'
import {
  ApiError,
  badRequest,
  isApiError,
  toStatus,
  type JsonObject,
  type Status,
  type UnstructuredObject,
  stringifyJson,
} from '#api'
import { onAbort, type Clock } from '#base'
import type { Resource } from '@evenkeel/builtins'
import {
  encodeCbor,
  encodeProtobuf,
  mediaTypes,
  negotiate,
  writeYaml,
  type MediaChoice,
  type MediaFormat,
  type MediaShape,
  type MediaOffer,
  type Query,
  type WireHeaders,
  type WireRequest,
  type WireResponse,
} from '#wire'
import { makeTable, metadataOnly, type IncludeObject, type MetaVersion } from './handlers/table.ts'
import type { RequestContext, RequestInfo } from './request-context.ts'
import { isCurrent, prepareConversions, toServed } from './storage/codec.ts'
import type { StoredObject } from './storage/stored-object.ts'

/** The kinds of responses for negotiation: single objects, lists, or other documents. */
type ResponseKind = 'object' | 'list' | 'document'

interface Offers {
  readonly documents: MediaOffer
  readonly builtin: MediaOffer
  readonly custom: MediaOffer
}

/** By the formats of a server: an offer is not made again for each request. */
const offers = new WeakMap<readonly MediaFormat[], Offers>()

function offersOf(formats: readonly MediaFormat[]): Offers {
  const known = offers.get(formats)
  if (known) return known
  const documents = { formats }
  const accepts: MediaOffer['accepts'] = (shape, format) =>
    isMetaShape(shape) && !(shape.kind === 'Table' && isBinary(format))
  const builtin = { ...documents, accepts }
  // Custom objects have no protobuf form, but their metadata has.
  const made: Offers = { documents, builtin, custom: { ...builtin, onlyShaped: ['protobuf'] } }
  offers.set(formats, made)
  return made
}

/**
 * The negotiated form of a response.
 *
 * @throws {ApiError} `NotAcceptable`, when the client accepts none of the available ones.
 */
export function negotiateResponse(
  { request, query, formats }: RequestInfo,
  resource: Resource,
  { answer = 'object' }: { answer?: ResponseKind } = {},
): MediaChoice {
  const { documents, builtin, custom } = offersOf(formats)
  const offer = answer === 'document' ? documents : resource.custom ? custom : builtin
  const choice = negotiate(request.headers['accept'], offer)
  refuseMismatch(choice.shape?.kind, answer)
  if (choice.shape?.kind === 'Table') includeObjectOf(query)
  return wantsPretty(choice, { request, query }) ? { ...choice, pretty: true } : choice
}

function refuseMismatch(shape: string | undefined, answer: ResponseKind): void {
  const isList = answer === 'list'
  if ((shape !== 'PartialObjectMetadata' || !isList) && (shape !== 'PartialObjectMetadataList' || isList)) return
  throw new ApiError(
    'NotAcceptable',
    `you requested ${shape}, but the requested object is ${isList ? 'a list' : 'not a list'}`,
  )
}

interface ObjectResponse {
  readonly status?: number
  readonly resource: Resource
  readonly choice: MediaChoice
  readonly clock: Clock
}

/** A response with one stored object. */
export function replyStored(
  context: RequestContext,
  stored: StoredObject,
  { status = 200, resource, choice, clock }: ObjectResponse,
): WireResponse | Promise<WireResponse> {
  if (choice.format === 'json' && choice.shape === undefined && !choice.pretty && isCurrent(stored, resource)) {
    return { status, headers: headersOf(context, 'json'), body: stored.bytes }
  }
  const reply = (): WireResponse =>
    replyObject(context, toServed(stored, resource), { status, resource, choice, clock })
  return prepareConversions([stored], resource)?.then(reply) ?? reply()
}

/** A response with one object in its served version. */
export function replyObject(
  context: RequestContext,
  object: UnstructuredObject,
  { status = 200, resource, choice, clock }: ObjectResponse,
): WireResponse {
  const shaped = transformObject(object, { resource, choice, clock, query: context.query })
  return { status, headers: headersOf(context, choice.format), body: encode(shaped, choice) }
}

/** A response with a document: a list, a Status, a review. */
export function replyDocument(
  context: Pick<RequestInfo, 'warnings'>,
  document: JsonObject,
  { status = 200, choice }: { status?: number; choice: MediaChoice },
): WireResponse {
  return { status, headers: headersOf(context, choice.format), body: encode(document, choice) }
}

/** The response to any error. The caller logs unexpected errors; the client gets a Status. */
export function replyError(
  error: unknown,
  info: Pick<RequestInfo, 'warnings' | 'request' | 'formats'> | undefined,
): WireResponse {
  const status = toStatus(error)
  const retryAfter =
    isApiError(error) && error.retryAfterMs ? { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) } : {}
  const choice = errorMediaChoice(info, status.code)
  const body = encode(status, choice)
  const headers = info === undefined ? { 'content-type': mediaTypes[choice.format] } : headersOf(info, choice.format)
  return { status: status.code ?? 500, headers: { ...headers, ...retryAfter }, body }
}

/** A response in plain text, as Go's `http.Error` writes it. */
export function replyText(status: number, text: string, { newline = true }: { newline?: boolean } = {}): WireResponse {
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, private',
    },
    body: Buffer.from(newline ? `${text}\n` : text),
  }
}

/** A success Status without an object, as after a deletion. */
export function successStatus(details: Status['details']): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...(details && { details }) }
}

/** Headers of every response about resources. */
export function headersOf(
  { warnings }: Pick<RequestInfo, 'warnings'>,
  format: MediaFormat,
  { stream = false }: { stream?: boolean } = {},
): WireHeaders {
  const warning = warnings.header()
  const type = stream ? streamTypes[format] : mediaTypes[format]
  return { 'content-type': type, 'cache-control': 'no-cache, private', ...(warning !== undefined && { warning }) }
}

/** The media types of watches. YAML has none. */
const streamTypes: Readonly<Record<MediaFormat, string>> = {
  ...mediaTypes,
  protobuf: `${mediaTypes.protobuf};stream=watch`,
  cbor: 'application/cbor-seq',
}

/** Tables are texts for people: binary formats have none. */
function isBinary(format: MediaFormat): boolean {
  return format === 'protobuf' || format === 'cbor'
}

/** A value in the chosen format. */
export function encode(value: JsonObject, { format, pretty }: MediaChoice): Uint8Array {
  if (format === 'json') return Buffer.from(pretty ? `${stringifyJson(value, 2)}\n` : stringifyJson(value))
  if (format === 'protobuf') return encodeProtobuf(value)
  if (format === 'cbor') return encodeCbor(value)
  return Buffer.from(writeYaml(value))
}

/** Which part of its object each table row has. */
export function includeObjectOf(query: Query): IncludeObject {
  const value = query.get('includeObject') ?? ''
  if (value === '') return 'Metadata'
  if (value !== 'None' && value !== 'Object' && value !== 'Metadata')
    throw badRequest(
      `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
    )
  return value
}

const metaShapes: ReadonlySet<string> = new Set(['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'])

function isMetaShape({ kind, group, version }: MediaShape): boolean {
  return group === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1') && metaShapes.has(kind)
}

function transformObject(
  object: UnstructuredObject,
  { resource, choice, clock, query }: ObjectResponse & { query: Query },
): JsonObject {
  if (choice.shape === undefined) return object
  const version = choice.shape.version as MetaVersion
  if (choice.shape.kind !== 'Table') return metadataOnly(object, { version })
  const table = makeTable({
    columns: resource.columns,
    objects: [object],
    includeObject: includeObjectOf(query),
    nowMs: clock.now(),
    version,
    listMeta: { resourceVersion: object.metadata.resourceVersion ?? '' },
  })
  return table
}

// When no format of the client is known, or only in a shape that is not, the response is JSON.
function errorMediaChoice(
  info: Pick<RequestInfo, 'request' | 'formats'> | undefined,
  code: number | undefined,
): MediaChoice {
  if (info === undefined) return { format: 'json' }
  const isRefused = code === 406
  // Where CBOR is refused, it is not the format of the refusal either.
  const formats = isRefused ? info.formats.filter((format) => format !== 'cbor') : info.formats
  try {
    return { format: negotiate(info.request.headers['accept'], { formats, accepts: () => !isRefused }).format }
  } catch {
    return { format: 'json' }
  }
}

const prettyAgents = /^(?:curl|wget|mozilla)\b/i

function wantsPretty(
  { pretty, format }: MediaChoice,
  { request, query }: Pick<RequestInfo, 'request' | 'query'>,
): boolean {
  if (format !== 'json') return false
  const asked = query.get('pretty')
  if (asked !== null) return asked !== '0' && asked.toLowerCase() !== 'false'
  return pretty === true || prettyAgents.test(request.headers['user-agent'] ?? '')
}

/** As upstream has it. */
export const gzipSizeMin = 128 * 1024
const gzipLevel = 1

/** The headers of a gzip response. */
export const gzipHeaders = { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } as const

/** The same response, compressed if it is large and the client accepts that. */
export async function compress(response: WireResponse, acceptEncoding = ''): Promise<WireResponse> {
  const { body } = response
  if (body === undefined || !acceptsGzip(acceptEncoding) || response.headers['content-encoding'] !== undefined)
    return response
  const headers = { ...response.headers, ...gzipHeaders }
  if (!(body instanceof Uint8Array)) return { ...response, headers, body: gzipPieces(body) }
  if (body.byteLength < gzipSizeMin) return response
  const { gzip } = await import('node:zlib')
  return { ...response, headers, body: await promisify(gzip)(body, { level: gzipLevel }) }
}

/** Whether a client accepts gzip. */
export function acceptsGzip(header: string): boolean {
  return header.split(',').some((one) => /^\s*gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(one))
}

async function* gzipPieces(body: readonly Uint8Array[] | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  // Loaded for the first large response: a server starts without it.
  const [{ createGzip }, { pipeline }, { Readable }] = await Promise.all([
    import('node:zlib'),
    import('node:stream/promises'),
    import('node:stream'),
  ])
  const packed = createGzip({ level: gzipLevel })
  const fed = pipeline(Readable.from(body), packed)
  try {
    for await (const piece of packed as AsyncIterable<Uint8Array>) yield piece
    await fed
  } finally {
    packed.destroy()
    fed.catch(() => undefined)
  }
}

/** The same response; `ended` is called once, when nothing more will be sent. */
export function onResponseEnd(response: WireResponse, request: WireRequest, ended: () => void): WireResponse {
  const { body } = response
  if (body === undefined || !(Symbol.asyncIterator in body) || request.method === 'HEAD') {
    ended()
    return response
  }
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    stop()
    ended()
  }
  let stop = (): void => {}
  stop = onAbort(request.signal, end)
  return { ...response, body: { [Symbol.asyncIterator]: () => untilEnd(body, end) } }
}

async function* untilEnd(body: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } finally {
    end()
  }
}
