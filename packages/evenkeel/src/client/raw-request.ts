/**
 * Requests to any path: health, version, metrics, logs.
 */
import { parseJson } from '#api'
import type { JsonObject, JsonValue } from '#api'
import type { WireHeaders } from '#wire'
import type { ClientCore } from './core.ts'
import type { CallOptions } from './request-options.ts'
import { textOf } from './rest-client.ts'

export interface RawRequest {
  /** Path and query: `/readyz?verbose`. */
  readonly path: string
  /** @default 'GET' */
  readonly method?: string
  readonly body?: JsonValue | Uint8Array
  /** Names in lower case. */
  readonly headers?: WireHeaders
}

export interface RawResponse {
  readonly status: number
  readonly headers: WireHeaders
  readonly body: Uint8Array
  text(): string
  /** @throws {SyntaxError} when it is no JSON. */
  json(): JsonObject
}

/** @throws {ApiError} when the server refuses, {RangeError} for a path without a slash. */
export async function sendRaw(
  core: ClientCore,
  { path, method = 'GET', body, headers = {} }: RawRequest,
  { signal, timeoutMs }: CallOptions,
): Promise<RawResponse> {
  if (!path.startsWith('/')) throw new RangeError(`path must begin with a slash, got ${JSON.stringify(path)}`)
  const { accept = 'application/json, */*', 'content-type': contentType, ...rest } = headers
  const answer = await core.rest.request({
    method,
    target: path,
    accept,
    body,
    contentType,
    headers: rest,
    signal,
    timeoutMs,
  })
  return { ...answer, text: () => textOf(answer.body), json: () => parseJson(textOf(answer.body)) as JsonObject }
}
