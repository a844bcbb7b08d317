/**
 * A transport whose answers are written down beforehand, and short words for them.
 */
import { SeededRandom, SimulatedClock } from '#base'
import type { Transport, WireRequest, WireResponse } from '#wire'
import { Client } from './client.ts'
import type { ClientOptions } from './core.ts'

export type Reply = WireResponse | Error | ((request: WireRequest) => WireResponse | Promise<WireResponse>)

/** Answers in order; the last one again and again. */
export class FakeServer {
  readonly requests: WireRequest[] = []
  readonly #replies: Reply[]

  constructor(...replies: Reply[]) {
    this.#replies = replies
  }

  /** Methods and targets as they came. */
  get lines(): string[] {
    return this.requests.map(({ method, target }) => `${method} ${decodeURIComponent(target)}`)
  }

  /** The body of a request, as JSON. */
  body(index: number): unknown {
    const { body } = this.requests[index] ?? {}
    return body instanceof Uint8Array ? JSON.parse(Buffer.from(body).toString()) : undefined
  }

  readonly transport: Transport = async (request) => {
    this.requests.push(request)
    const reply = this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0]
    if (reply === undefined) throw new Error('no answer was written down')
    if (reply instanceof Error) throw reply
    return typeof reply === 'function' ? reply(request) : reply
  }
}

export function json(
  value: unknown,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): WireResponse {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  }
}

export function refusal(
  code: number,
  reason: string,
  { headers = {}, ...more }: { headers?: Record<string, string>; message?: string; details?: object } = {},
): WireResponse {
  return json(
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason,
      code,
      message: reason,
      details: { kind: 'configmaps', name: 'a' },
      ...more,
    },
    { status: code, headers },
  )
}

export function configMap(
  name: string,
  more: object = {},
): {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace: string; uid: string; resourceVersion: string; creationTimestamp: string }
} {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: '5',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    ...more,
  }
}

/** A body in pieces, and then, if there is an error, broken off. */
async function* streamed(pieces: Iterable<Uint8Array | string>, error?: Error): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await Promise.resolve()
    yield typeof piece === 'string' ? Buffer.from(piece) : piece
  }
  if (error) throw error
}

export function stream(pieces: Iterable<Uint8Array | string>, error?: Error): WireResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: streamed(pieces, error) }
}

/** A client of a fake server on a simulated clock. */
export function fakeClient(
  server: FakeServer,
  options: Partial<ClientOptions> = {},
): { client: Client; clock: SimulatedClock } {
  const clock = new SimulatedClock()
  return {
    client: new Client({ transport: server.transport, clock, random: new SeededRandom('client'), ...options }),
    clock,
  }
}
