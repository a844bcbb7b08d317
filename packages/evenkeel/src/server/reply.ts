/**
 * Room 13: in which form does the answer go out?
 *
 * Before: the walk has the result. After: `listen` writes it. The common case, JSON in the form it is kept in, sends
 * the stored bytes; everything else parses, reshapes and encodes. Errors take this way too: a `Status` in the format
 * the client reads.
 */
import { ApiError, badRequest, isApiError, toStatus } from '#api'
import type { JsonObject, Status, UnstructuredObject } from '#api'
import { encodeProtobuf, mediaTypes, negotiate, writeYaml } from '#wire'
import type { MediaChoice, MediaFormat, MediaShape, Query, WireHeaders, WireResponse } from '#wire'
import type { RequestContext, ServerContext, RequestInfo } from './call.ts'
import { isCurrent, prepareConversions, toServed } from './convert.ts'
import type { Resource } from './resources/resource.ts'
import type { StoredObject } from './storage/bytes.ts'
import { makeTable, metadataOnly } from './tables/index.ts'
import type { IncludeObject, MetaVersion } from './tables/index.ts'

/** What answers about objects of a resource can look like: single objects, lists, or neither. */
type ResponseKind = 'object' | 'list' | 'document'

/**
 * The form of an answer, as the client wants it.
 *
 * @throws {ApiError} `NotAcceptable`, when it wants one that there is not.
 */
export function negotiateResponse(
  { request, query }: RequestInfo,
  resource: Resource,
  { answer = 'object' }: { answer?: ResponseKind } = {},
): MediaChoice {
  const choice = negotiate(request.headers['accept'], {
    formats: resource.custom ? ['json', 'yaml'] : ['json', 'yaml', 'protobuf'],
    accepts: (shape, format) =>
      answer !== 'document' && isMetaShape(shape) && !(shape.kind === 'Table' && format === 'protobuf'),
  })
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
  readonly server: Pick<ServerContext, 'clock'>
}

/** An answer that is one stored object. */
export function replyStored(
  call: RequestContext,
  stored: StoredObject,
  { status = 200, resource, choice, server }: ObjectResponse,
): WireResponse | Promise<WireResponse> {
  if (choice.format === 'json' && choice.shape === undefined && !choice.pretty && isCurrent(stored, resource)) {
    return { status, headers: headersOf(call, 'json'), body: stored.bytes }
  }
  const reply = (): WireResponse => replyObject(call, toServed(stored, resource), { status, resource, choice, server })
  return prepareConversions([stored], resource)?.then(reply) ?? reply()
}

/** An answer that is one object in the form it is served in. */
export function replyObject(
  call: RequestContext,
  object: UnstructuredObject,
  { status = 200, resource, choice, server }: ObjectResponse,
): WireResponse {
  const shaped = transformObject(object, { resource, choice, server, query: call.query })
  return { status, headers: headersOf(call, choice.format), body: encode(shaped, choice) }
}

/** An answer that is a plain document: a list, a Status, a review. */
export function replyDocument(
  call: Pick<RequestInfo, 'warnings'>,
  document: JsonObject,
  { status = 200, choice }: { status?: number; choice: MediaChoice },
): WireResponse {
  return { status, headers: headersOf(call, choice.format), body: encode(document, choice) }
}

/** The answer to whatever was thrown. Unexpected errors are logged by the caller; the client sees a Status. */
export function replyError(error: unknown, info: Pick<RequestInfo, 'warnings' | 'request'> | undefined): WireResponse {
  const status = toStatus(error)
  const retryAfter =
    isApiError(error) && error.retryAfterMs ? { 'retry-after': String(Math.ceil(error.retryAfterMs / 1000)) } : {}
  const choice = errorMediaChoice(info?.request.headers['accept'], status.code)
  const body = encode(status as unknown as JsonObject, choice)
  const headers = info === undefined ? { 'content-type': mediaTypes[choice.format] } : headersOf(info, choice.format)
  return { status: status.code ?? 500, headers: { ...headers, ...retryAfter }, body }
}

/** A success without an object to show: what was deleted. */
export function successStatus(details: Status['details']): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...(details && { details }) }
}

/** Headers of every answer about resources. */
export function headersOf(
  { warnings }: Pick<RequestInfo, 'warnings'>,
  format: MediaFormat,
  { stream = false }: { stream?: boolean } = {},
): WireHeaders {
  const warning = warnings.header()
  const type = stream && format === 'protobuf' ? `${mediaTypes[format]};stream=watch` : mediaTypes[format]
  return { 'content-type': type, 'cache-control': 'no-cache, private', ...(warning !== undefined && { warning }) }
}

/** A value in the chosen format. */
export function encode(value: JsonObject, { format, pretty }: MediaChoice): Uint8Array {
  if (format === 'json') return Buffer.from(pretty ? `${JSON.stringify(value, undefined, 2)}\n` : JSON.stringify(value))
  if (format === 'protobuf') return encodeProtobuf(value)
  return Buffer.from(writeYaml(value))
}

/** Which rows of a table carry what of their object. */
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
  { resource, choice, server, query }: ObjectResponse & { query: Query },
): JsonObject {
  if (choice.shape === undefined) return object as unknown as JsonObject
  const version = choice.shape.version as MetaVersion
  if (choice.shape.kind !== 'Table') return metadataOnly(object, { version }) as unknown as JsonObject
  const table = makeTable({
    columns: resource.columns,
    objects: [object],
    includeObject: includeObjectOf(query),
    nowMs: server.clock.now(),
    version,
    listMeta: { resourceVersion: object.metadata.resourceVersion ?? '' },
  })
  return table as unknown as JsonObject
}

// When the form itself was the problem, JSON is what everybody reads.
function errorMediaChoice(accept: string | undefined, code: number | undefined): MediaChoice {
  if (code === 406) return { format: 'json' }
  try {
    return { format: negotiate(accept, { formats: ['json', 'yaml', 'protobuf'], accepts: () => true }).format }
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
