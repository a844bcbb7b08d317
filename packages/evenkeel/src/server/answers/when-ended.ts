/**
 * Notices the end of a streamed answer: by itself, because its reader left, or because the client went.
 */
import { onAbort } from '#base'
import type { WireRequest, WireResponse } from '#wire'

/** The same response; `ended` is called once, when nothing more will be sent. */
export function onResponseEnd(response: WireResponse, request: WireRequest, ended: () => void): WireResponse {
  const { body } = response
  if (body === undefined || !(Symbol.asyncIterator in body) || request.method === 'HEAD') {
    ended()
    return response
  }
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    stop()
    ended()
  }
  let stop = (): void => {}
  stop = onAbort(request.signal, end)
  return { ...response, body: { [Symbol.asyncIterator]: () => untilEnd(body, end) } }
}

async function* untilEnd(body: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array, void> {
  try {
    yield* body
  } finally {
    end()
  }
}
