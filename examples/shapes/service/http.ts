/**
 * The service over HTTP, and a client for it, as a real controller would use.
 *
 *   GET /shapes   GET /shapes/ID   POST /shapes   PATCH /shapes/ID   DELETE /shapes/ID
 *
 * A POST with `idempotency-key` can be repeated and draws once; DELETE /shapes with the same key cancels it.
 */
import type { IncomingMessage } from 'node:http'
import type { DrawnShape, ShapesApi } from '../kinds.ts'
import { ServiceError } from './shapes-in-memory.ts'
import type { ShapesInMemory } from './shapes-in-memory.ts'

export interface Answer {
  readonly status: number
  readonly body: unknown
}

const bodyMax = 10_000

/** The response to a request below `/shapes`; undefined for other paths. */
export async function answerShapes(service: ShapesInMemory, request: IncomingMessage): Promise<Answer | undefined> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost')
  const match = /^\/shapes(?:\/([a-z0-9]+))?$/.exec(pathname)
  if (!match) return undefined
  try {
    return await serve(service, request, match[1])
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { status: error.status, body: { error: error.message } }
  }
}

async function serve(service: ShapesInMemory, request: IncomingMessage, id: string | undefined): Promise<Answer> {
  if (request.method === 'GET' && id === undefined) return { status: 200, body: service.listShapes() }
  if (request.method === 'POST' && id === undefined)
    return { status: 201, body: service.createShape(shapeOf(await readJson(request)), keyOf(request)) }
  if (request.method === 'DELETE' && id === undefined) return cancel(service, keyOf(request))
  if (id === undefined) return { status: 405, body: { error: 'GET, POST or DELETE' } }
  if (request.method === 'GET') {
    const shape = service.getShape(id)
    return shape ? { status: 200, body: shape } : { status: 404, body: { error: `there is no shape ${id}` } }
  }
  if (request.method === 'PATCH') service.updateShape(id, changeOf(await readJson(request)))
  else if (request.method === 'DELETE') service.deleteShape(id)
  else return { status: 405, body: { error: 'GET, PATCH or DELETE' } }
  return { status: 200, body: {} }
}

function cancel(service: ShapesInMemory, key: string | undefined): Answer {
  if (key === undefined) return { status: 400, body: { error: 'which one? say so in idempotency-key' } }
  service.cancelCreate(key)
  return { status: 200, body: {} }
}

/** @throws {ServiceError} 400 */
function keyOf({ headers }: IncomingMessage): string | undefined {
  const key = headers['idempotency-key']
  if (Array.isArray(key) || (key?.length ?? 0) > 200)
    throw new ServiceError(400, 'an idempotency key is one string of at most 200 characters')
  return key
}

/** @throws {ServiceError} 400 */
export async function readJson(request: AsyncIterable<Uint8Array>): Promise<Record<string, unknown>> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of request) {
    length += piece.byteLength
    if (length > bodyMax) throw new ServiceError(413, 'the body is too large')
    pieces.push(piece)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(pieces).toString() || '{}')
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Reported below.
  }
  throw new ServiceError(400, 'the body must be a JSON object')
}

function shapeOf(body: Record<string, unknown>): Omit<DrawnShape, 'id'> {
  const { name, type, color, labels } = changeOf(body)
  if (name === undefined || type === undefined || color === undefined)
    throw new ServiceError(400, 'a shape has a name, a type and a color')
  return { name, type, color, labels: labels ?? {} }
}

function changeOf({ name, type, color, labels }: Record<string, unknown>): Partial<Omit<DrawnShape, 'id'>> {
  for (const value of [name, type, color])
    if (value !== undefined && (typeof value !== 'string' || value.length > 200))
      throw new ServiceError(400, 'name, type and color are strings')
  const marks =
    typeof labels === 'object' && labels !== null
      ? Object.fromEntries(Object.entries(labels).map(([key, value]) => [key, String(value)]))
      : undefined
  return {
    ...(name !== undefined && { name: String(name) }),
    ...(type !== undefined && { type: String(type) }),
    ...(color !== undefined && { color: String(color) }),
    ...(marks && { labels: marks }),
  }
}

/** A client of the service. Its errors have the `status` of the response. */
export function shapesClient(url: string): ShapesApi {
  const ask = async (
    method: string,
    path: string,
    { body, key }: { body?: unknown; key?: string | undefined } = {},
  ): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) }
    const answer = await fetch(new URL(path, url), {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const value: unknown = await answer.json()
    if (!answer.ok)
      throw new ServiceError(
        answer.status,
        (value as { error?: string }).error ?? `the service answers ${answer.status}`,
      )
    return value
  }
  return {
    listShapes: async () => (await ask('GET', '/shapes')) as DrawnShape[],
    getShape: async (id) =>
      ask('GET', `/shapes/${id}`).catch((error: unknown) => {
        if ((error as { status?: number }).status === 404) return undefined
        throw error
      }) as Promise<DrawnShape | undefined>,
    createShape: async (shape, key) => (await ask('POST', '/shapes', { body: shape, key })) as DrawnShape,
    cancelCreate: async (key) => {
      await ask('DELETE', '/shapes', { key })
    },
    updateShape: async (id, change) => {
      await ask('PATCH', `/shapes/${id}`, { body: change })
    },
    deleteShape: async (id) => {
      await ask('DELETE', `/shapes/${id}`)
    },
  }
}
