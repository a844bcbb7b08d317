/**
 * A request of which something was replaced, or that is shown to the code of others. Its signal is that of the first one as Node has
 * them, made when somebody asks for it.
 *
 * A class, because an object with a getter of its own has a shape of its own: one for every request, kept until the collector of
 * garbage goes through everything.
 */
import { nativeSignal } from '#base'
import type { WireHeaders, WirePeer, WireRequest } from '#wire'

export class ChangedRequest implements WireRequest {
  readonly method: string
  readonly target: string
  readonly headers: WireHeaders
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly peer?: WirePeer
  readonly #given: WireRequest

  constructor(
    given: WireRequest,
    { headers = given.headers, body = given.body }: Partial<Pick<WireRequest, 'headers' | 'body'>> = {},
  ) {
    this.method = given.method
    this.target = given.target
    this.headers = headers
    if (body !== undefined) this.body = body
    if (given.peer !== undefined) this.peer = given.peer
    this.#given = given
  }

  get signal(): AbortSignal {
    return nativeSignal(this.#given.signal)
  }
}
