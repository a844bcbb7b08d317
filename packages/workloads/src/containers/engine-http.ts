/**
 * HTTP over a Unix socket, as the Engine API of Docker and Podman speaks it: one connection per request, bodies as streams, and
 * connections that are taken over (`Upgrade: tcp`) for programs in containers.
 *
 * Invariants: a request that gets no answer in its time fails; an aborted signal closes the connection; the body of an answer that
 * is not read is closed; a socket that cannot be reached is a RuntimeError `Unavailable`.
 */
import { request as requestHttp, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { onAbort, type Clock } from 'evenkeel/unstable/base'
import { RuntimeError } from './container-runtime.ts'

interface EngineHttpOptions {
  readonly socketPath: string
  readonly clock: Clock
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Query
  readonly body?: object
  /** Instead of `body`: bytes of a type. */
  readonly content?: { readonly type: string; readonly bytes: AsyncIterable<Uint8Array> }
  readonly headers?: Readonly<Record<string, string>>
  /** How long to wait for the head of the answer; 0: as long as it takes. @default 60_000 */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface EngineAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: IncomingMessage
}

const answerMs = 60_000
/** How much of an error's body is read. */
const errorBytesMax = 65_536

export class EngineHttp {
  readonly #options: EngineHttpOptions

  constructor(options: EngineHttpOptions) {
    this.#options = options
  }

  get socketPath(): string {
    return this.#options.socketPath
  }

  /** Sends a request. Resolves with the head of the answer, whatever its status. */
  send(asked: EngineRequest): Promise<EngineAnswer> {
    return new Promise((resolve, reject) => {
      const request = this.#open(asked)
      const settle = this.#guard(request, asked, reject)
      request.once('response', (body) => {
        settle()
        onAbort(asked.signal, () => body.destroy())
        resolve({ status: body.statusCode ?? 0, headers: body.headers, body })
      })
      sendBody(request, asked)
    })
  }

  /** The answer as JSON; undefined for one without a body. @throws what `failure` makes of the status and the message */
  async json<T>(asked: EngineRequest, failure: EngineFailure = defaultFailure): Promise<T> {
    const answer = await this.send(asked)
    const text = await textOf(answer.body)
    if (answer.status >= 400) throw failure(answer.status, messageOf(text))
    return (text.trim() === '' ? undefined : JSON.parse(text)) as T
  }

  /** The answer as a stream of bytes. */
  async stream(asked: EngineRequest, failure: EngineFailure = defaultFailure): Promise<EngineAnswer> {
    const answer = await this.send({ ...asked, timeoutMs: asked.timeoutMs ?? 0 })
    if (answer.status >= 400) throw failure(answer.status, messageOf(await textOf(answer.body)))
    return answer
  }

  /** Takes the connection over: bytes in both directions from now on. */
  upgrade(asked: EngineRequest): Promise<{ readonly socket: Socket; readonly first: Uint8Array }> {
    return new Promise((resolve, reject) => {
      const request = this.#open({ ...asked, headers: { ...asked.headers, connection: 'Upgrade', upgrade: 'tcp' } })
      const settle = this.#guard(request, asked, reject)
      request.once('upgrade', (_, socket: Socket, first: Uint8Array) => {
        settle()
        resolve({ socket, first })
      })
      request.once('response', (body) => {
        settle()
        void textOf(body).then((text) => {
          reject(defaultFailure(body.statusCode ?? 0, messageOf(text)))
        }, reject)
      })
      sendBody(request, asked)
    })
  }

  #open({ method, path, query = {}, body, content, headers }: EngineRequest) {
    const search = new URLSearchParams()
    for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
    return requestHttp({
      socketPath: this.#options.socketPath,
      agent: false,
      method,
      path: search.size > 0 ? `${path}?${search.toString()}` : path,
      headers: {
        host: 'localhost',
        'user-agent': 'evenkeel',
        ...(body && { 'content-type': 'application/json' }),
        ...(content && { 'content-type': content.type }),
        ...headers,
      },
    })
  }

  /** Fails the request when it is aborted, late, or not possible. Returns what to call when it was answered. */
  #guard(
    request: ReturnType<typeof requestHttp>,
    { path, timeoutMs = answerMs, signal }: EngineRequest,
    reject: (error: Error) => void,
  ): () => void {
    const { clock, socketPath } = this.#options
    const fail = (error: Error): void => {
      settle()
      reject(error)
      request.destroy()
    }
    const cancel =
      timeoutMs === 0
        ? () => undefined
        : clock.after(timeoutMs, () => {
            fail(new RuntimeError('Unavailable', `${socketPath}: no answer to ${path} within ${timeoutMs / 1000} s`))
          })
    const stopListening = onAbort(signal, () => {
      fail(new RuntimeError('Failed', `${path} was aborted`, { cause: signal?.reason }))
    })
    const settle = (): void => {
      cancel()
      stopListening()
    }
    request.on('error', (error: Error & { readonly code?: string }) => {
      fail(new RuntimeError('Unavailable', `${socketPath}: ${explain(error)}`, { cause: error }))
    })
    return settle
  }
}

/** Makes an error of a status that says failure. */
export type EngineFailure = (status: number, message: string) => Error

const codes: Readonly<Record<number, RuntimeError['code']>> = { 404: 'NotFound', 409: 'Conflict' }

const defaultFailure: EngineFailure = (status, message) => new RuntimeError(codes[status] ?? 'Failed', message)

function explain({ code, message }: Error & { readonly code?: string }): string {
  if (code === 'ENOENT') return 'the socket does not exist. Start the container runtime'
  if (code === 'ECONNREFUSED') return 'nothing listens on the socket. Start the container runtime'
  if (code === 'EACCES' || code === 'EPERM')
    return 'this user may not use the socket. Add it to the group of the socket'
  return message
}

function sendBody(request: ReturnType<typeof requestHttp>, { body, content }: EngineRequest): void {
  if (!content) {
    request.end(body ? JSON.stringify(body) : undefined)
    return
  }
  const source = Readable.from(content.bytes, { objectMode: false })
  source.once('error', (error) => request.destroy(error))
  source.pipe(request)
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const piece of body) text += decoder.decode(piece, { stream: true })
  return text
}

/** The sentence in the body of an error. */
function messageOf(text: string): string {
  try {
    const { message, cause } = JSON.parse(text) as { readonly message?: string; readonly cause?: string }
    return message ?? cause ?? text.slice(0, errorBytesMax)
  } catch {
    return text.slice(0, errorBytesMax).trim()
  }
}
