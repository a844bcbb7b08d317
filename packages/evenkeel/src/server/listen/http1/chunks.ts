/**
 * Pieces of a streamed response as chunks. A thousand watchers are sent the same piece: its frame is made once.
 */

const frames = new WeakMap<Uint8Array, Buffer>()
/** Larger ones are parts of lists, which nobody shares; remembering would only hold memory. */
const sharedBytesMax = 65_536

export const lastChunk = Buffer.from('0\r\n\r\n')

/** The piece with its size before and a line end after it; the same buffer for the same piece. */
export function chunkOf(piece: Uint8Array): Buffer {
  const known = frames.get(piece)
  if (known) return known
  const frame = frameOf(piece)
  if (piece.length <= sharedBytesMax) frames.set(piece, frame)
  return frame
}

function frameOf(piece: Uint8Array): Buffer {
  const size = `${piece.length.toString(16)}\r\n`
  const frame = Buffer.allocUnsafe(size.length + piece.length + 2)
  frame.write(size, 0, 'latin1')
  frame.set(piece, size.length)
  frame.write('\r\n', size.length + piece.length, 'latin1')
  return frame
}
