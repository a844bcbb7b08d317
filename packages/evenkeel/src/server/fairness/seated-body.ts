/**
 * A streamed answer that keeps its seat until its last piece was taken.
 *
 * The seat is given back when the stream ends, fails, is left, or its client goes without having read a piece.
 */
import { onAbort } from '#base'
import type { WireRequest, WireResponse } from '#wire'
import type { Seat } from './gate.ts'

/** The response; the seat is given back when there is nothing more to do for it. */
export function keepSeat(response: WireResponse, seat: Seat, request: WireRequest): WireResponse {
  const { body } = response
  if (body === undefined || !(Symbol.asyncIterator in body)) {
    seat.leave()
    return response
  }
  return { ...response, body: seated(body, seat, request) }
}

function seated(body: AsyncIterable<Uint8Array>, seat: Seat, request: WireRequest): AsyncIterable<Uint8Array> {
  const stop = onAbort(request.signal, () => { seat.leave() })
  const end = (): void => {
    stop()
    seat.leave()
  }
  return { [Symbol.asyncIterator]: () => pieces(body, end) }
}

async function* pieces(body: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } finally {
    end()
  }
}
