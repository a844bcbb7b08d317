/**
 * A request as the server sees it, and its life: when the client goes before it has its answer, the signal aborts.
 *
 * The signal is made when somebody asks for it; most requests are answered before anybody does, and on Node 20 it costs
 * more than reading the whole request.
 */
import type { WirePeer, WireHeaders, WireRequest } from '#wire'

interface RequestParts {
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined
  readonly peer: WirePeer
  readonly borrowsChunks?: true | undefined
}

export class RequestLifetime {
  #controller: AbortController | undefined
  #isOver = false

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isOver) this.#controller.abort(clientGone())
    }
    return this.#controller.signal
  }

  /** The client is gone. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#controller?.abort(clientGone())
  }
}

export function makeRequest(parts: RequestParts, life: RequestLifetime): WireRequest {
  return new IncomingRequest(parts, life)
}

/** A class, because a getter that belongs to one object alone makes that object slow and its memory long-lived. */
class IncomingRequest implements WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: WireRequest['headers']
  readonly body?: NonNullable<WireRequest['body']>
  readonly peer: NonNullable<WireRequest['peer']>
  readonly borrowsChunks: true | undefined
  readonly #life: RequestLifetime

  constructor({ method, target, headers, body, peer, borrowsChunks }: RequestParts, life: RequestLifetime) {
    this.method = method
    this.target = target
    this.headers = headers
    if (body !== undefined) this.body = body
    this.peer = peer
    this.borrowsChunks = body === undefined ? borrowsChunks : undefined
    this.#life = life
  }

  get signal(): AbortSignal {
    return this.#life.signal
  }
}

function clientGone(): Error {
  return new Error('the client went away before it had its answer')
}
