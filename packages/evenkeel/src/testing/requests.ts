/**
 * HTTP requests and responses in the words of the trace: verb, resource and name; simulated error responses; and parsed
 * bodies.
 *
 * Schedules of one exploration differ little: most bodies of one were parsed in another. So parsed JSON is cached by its
 * text.
 *
 * Invariant: parsed values are shared and frozen.
 */
import { deepFreeze, type JsonObject, type JsonValue, parseJson, stringifyJson } from '#api'
import { parseResourcePath, type WireRequest, type WireResponse } from '#wire'

/** Which resource a request is for, and what it does. */
export interface RequestInfo {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** It changes an object that matters: not a review, a lease of an election, or an Event. */
  readonly isWrite: boolean
  /** A get or a list. */
  readonly isRead: boolean
  readonly isWatch: boolean
  readonly isDryRun: boolean
}

const uncountedResources: ReadonlySet<string> = new Set([
  'leases',
  'events',
  'selfsubjectaccessreviews',
  'subjectaccessreviews',
  'tokenreviews',
  'selfsubjectreviews',
  'selfsubjectrulesreviews',
])

export function readRequestInfo({ method, target }: WireRequest): RequestInfo {
  const at = target.indexOf('?')
  const [path, query] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
  const parsed = parseResourcePath(path)
  if (parsed === undefined)
    return {
      verb: method.toLowerCase(),
      group: '',
      resource: path,
      subresource: '',
      namespace: '',
      name: '',
      isWrite: false,
      isRead: false,
      isWatch: false,
      isDryRun: false,
    }
  const { group, resource, subresource, namespace, name } = parsed
  const isWatch = method === 'GET' && name === '' && /(?:^|&)watch=(?:1|true)/.test(query)
  const verb = verbOf(method, { name, isWatch })
  const changes = method !== 'GET' && method !== 'HEAD'
  const isDryRun = query.includes('dryRun=')
  const counts = !uncountedResources.has(resource)
  return {
    verb,
    group,
    resource,
    subresource,
    namespace,
    name,
    isWrite: changes && counts && !isDryRun,
    isRead: !changes && !isWatch && counts,
    isWatch,
    isDryRun,
  }
}

/** `patch configmaps/status default/a` */
export function describeRequest({ verb, resource, subresource, namespace, name }: RequestInfo): string {
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = [namespace, name].filter((part) => part !== '').join('/')
  return where === '' ? `${verb} ${what}` : `${verb} ${what} ${where}`
}

function verbOf(method: string, { name, isWatch }: { name: string; isWatch: boolean }): string {
  switch (method) {
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete'
    default:
      return isWatch ? 'watch' : name === '' ? 'list' : 'get'
  }
}

/** A simulated error response. */
export interface ErrorResponse {
  readonly status: number
  readonly reason: string
  readonly retryAfterSeconds?: number
  readonly message?: string
  /** The machine-readable cause: `NamespaceTerminating`. */
  readonly cause?: string
}

export function errorResponse({
  status,
  reason,
  retryAfterSeconds,
  message = `simulated: ${reason}`,
  cause,
}: ErrorResponse): WireResponse {
  const details: JsonObject = {
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(cause !== undefined && { causes: [{ reason: cause, message }] }),
  }
  const document: JsonObject = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code: status,
    ...(Object.keys(details).length > 0 && { details }),
  }
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    },
    body: Buffer.from(stringifyJson(document)),
  }
}

/** A watch response whose only event is 410 Expired. */
export function expiredWatchResponse(): WireResponse {
  const object = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'too old resource version',
    reason: 'Expired',
    code: 410,
  }
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(`${stringifyJson({ type: 'ERROR', object })}\n`),
  }
}

/** The error of Node for a connection that the peer closed. */
export function connectionReset(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

/** The body of a request, shared and frozen; undefined when it has none or it is not JSON. */
export function bodyOf({ body }: WireRequest): JsonValue | undefined {
  if (!(body instanceof Uint8Array)) return undefined
  try {
    return parseCachedBytes(body)
  } catch {
    return undefined
  }
}

const known = new Map<string, JsonValue>()
const [knownMax, textMax] = [2000, 16_384]

/** @throws {SyntaxError} when the text is not JSON. */
export function parseCached(text: string): JsonValue {
  const found = known.get(text)
  if (found !== undefined) return found
  const value = deepFreeze(parseJson(text) as JsonValue)
  if (known.size >= knownMax) known.clear()
  if (text.length <= textMax) known.set(text, value)
  return value
}

export function parseCachedBytes(bytes: Uint8Array): JsonValue {
  return parseCached(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
}
