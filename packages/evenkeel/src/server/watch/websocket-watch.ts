/**
 * A watch over a WebSocket: the stream of a watch, with each event as a message of its own.
 *
 *   {"type":"ADDED",…}\n{"type":"MODIFIED",…}\n      two text messages
 *
 * Messages are made once for all watchers of a piece, as the pieces are.
 */
import {
  isWebSocketRequest,
  splitCbor,
  webSocketClosing,
  webSocketFields,
  webSocketMessage,
  WebSocketReader,
} from '#wire'
import type { MediaFormat, WireRequest, WireResponse } from '#wire'

const newline = 10
/** Protobuf events are preceded by their length. */
const lengthBytes = 4

/** The response of a watch; over a WebSocket if the client asked for one. */
export function withWebSocket(response: WireResponse, request: WireRequest, format: MediaFormat): WireResponse {
  if (request.peer === undefined || !isWebSocketRequest(request.headers)) return response
  const reader = new WebSocketReader()
  const made = format === 'json' ? textMessages : binaryMessages
  const split = splitters[format] ?? linesOf
  const type = format === 'json' ? 'text' : 'binary'
  return {
    ...response,
    status: 101,
    headers: { ...response.headers, ...webSocketFields(request.headers) },
    upgrade: {
      protocol: 'websocket',
      encode: (piece) => {
        const known = made.get(piece)
        if (known) return known
        const messages = Buffer.concat(split(piece).map((event) => webSocketMessage(event, type)))
        made.set(piece, messages)
        return messages
      },
      receive: (bytes) => reader.receive(bytes),
      closing: webSocketClosing,
    },
  }
}

const splitters: Partial<Record<MediaFormat, (piece: Uint8Array) => Uint8Array[]>> = {
  protobuf: prefixedOf,
  cbor: splitCbor,
}

const textMessages = new WeakMap<Uint8Array, Uint8Array>()
const binaryMessages = new WeakMap<Uint8Array, Uint8Array>()

/** Events in JSON contain no line break. */
function linesOf(piece: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let start = 0; start < piece.length;) {
    const end = piece.indexOf(newline, start)
    const next = end < 0 ? piece.length : end + 1
    lines.push(piece.subarray(start, next))
    start = next
  }
  return lines
}

function prefixedOf(piece: Uint8Array): Uint8Array[] {
  const view = new DataView(piece.buffer, piece.byteOffset, piece.byteLength)
  const events: Uint8Array[] = []
  for (let at = 0; at < piece.length;) {
    const end = at + lengthBytes + view.getUint32(at)
    events.push(piece.subarray(at + lengthBytes, end))
    at = end
  }
  return events
}
