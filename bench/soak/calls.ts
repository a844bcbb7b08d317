/**
 * Requests over TLS on persistent connections, as clients make them.
 */
import { Agent, request as httpsRequest } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { Ready } from './server-process.ts'

export interface Answer {
  readonly status: number
  readonly json: Loose
}

/** Loosely typed JSON. */
export interface Loose {
  readonly [key: string]: Loose
}

interface CallOptions {
  readonly body?: unknown
  readonly type?: string
}

export class Caller {
  readonly #server: Ready
  readonly #token: string
  readonly #agent: Agent

  constructor(server: Ready, { token = server.token, sockets }: { token?: string; sockets: number }) {
    this.#server = server
    this.#token = token
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets })
  }

  async call(method: string, path: string, { body, type = 'application/json' }: CallOptions = {}): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const response = await this.#send(method, path, { ...(text !== undefined && { text, type }) })
    const pieces: Buffer[] = []
    for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece)
    const answer = Buffer.concat(pieces).toString()
    return { status: response.statusCode ?? 0, json: answer.startsWith('{') ? (JSON.parse(answer) as Loose) : {} }
  }

  /** Like {@link call}, for requests that must succeed. */
  async must(method: string, path: string, options: CallOptions = {}): Promise<Loose> {
    const { status, json } = await this.call(method, path, options)
    if (status >= 300) throw new Error(`${method} ${path} returned ${status}: ${JSON.stringify(json)}`)
    return json
  }

  /** The response as a stream. */
  stream(path: string, signal: AbortSignal): Promise<IncomingMessage> {
    return this.#send('GET', path, { signal })
  }

  close(): void {
    this.#agent.destroy()
  }

  #send(
    method: string,
    path: string,
    { text, type, signal }: { text?: string; type?: string; signal?: AbortSignal } = {},
  ): Promise<IncomingMessage> {
    const { url, caPem } = this.#server
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(text !== undefined && { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
    }
    return new Promise((resolve, reject) => {
      const sent = httpsRequest(
        new URL(path, url),
        { method, agent: this.#agent, ca: caPem, headers, ...(signal && { signal }) },
        resolve,
      )
      sent.on('error', reject)
      sent.end(text)
    })
  }
}
