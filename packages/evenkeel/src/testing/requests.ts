/**
 * What a request asks for, in the words of the trace: a verb and a place.
 */
import { deepFreeze, type JsonObject, type JsonValue } from '#api'
import { parseResourcePath, type WireRequest, type WireResponse } from '#wire'

/** A request as stories tell it. */
export interface RequestInfo {
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** It changes something that matters: not a review, a lease of an election, or an Event. */
  readonly isWrite: boolean
  /** It looks at something: a get or a list. */
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
  const place = parseResourcePath(path)
  if (place === undefined)
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
  const { group, resource, subresource, namespace, name } = place
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

/*
 * Answers that no server gave: refusals, and connections that break.
 */

/** What is said instead of doing it. */
export interface ErrorResponse {
  readonly status: number
  readonly reason: string
  readonly retryAfterSeconds?: number
  readonly message?: string
  /** Why, for programs: `NamespaceTerminating`. */
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
    body: Buffer.from(JSON.stringify(document)),
  }
}

/** A watch is told that its version is too old. */
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
    body: Buffer.from(`${JSON.stringify({ type: 'ERROR', object })}\n`),
  }
}

/** As Node has it when the other side hangs up. */
export function connectionReset(): Error {
  return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
}

/*
 * What a request carries, as JSON.
 */

/** The body of a request, shared and frozen; undefined when it has none, or none that is JSON. */
export function bodyOf({ body }: WireRequest): JsonValue | undefined {
  if (!(body instanceof Uint8Array)) return undefined
  try {
    return parseCachedBytes(body)
  } catch {
    return undefined
  }
}

/*
 * JSON that was read before: schedules of one exploration differ in little, and most of what is written, sent and told
 * in one was written in another, letter by letter.
 *
 * Invariant: what is given back is shared and frozen.
 */

const known = new Map<string, JsonValue>()
const [knownMax, textMax] = [2000, 16_384]

/** @throws {SyntaxError} for what is no JSON. */
export function parseCached(text: string): JsonValue {
  const found = known.get(text)
  if (found !== undefined) return found
  const value = deepFreeze(JSON.parse(text) as JsonValue)
  if (known.size >= knownMax) known.clear()
  if (text.length <= textMax) known.set(text, value)
  return value
}

export function parseCachedBytes(bytes: Uint8Array): JsonValue {
  return parseCached(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
}
