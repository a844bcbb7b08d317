/**
 * Pieces of a streamed response as chunks. A thousand watchers are sent the same piece: its frame is made once. Large
 * pieces can be made with room around them: their frame is written there, and nothing is copied.
 */

const frames = new WeakMap<Uint8Array, Buffer>()
/** Larger ones are parts of lists, which nobody shares; remembering would only hold memory. */
const sharedBytesMax = 65_536
/** Pieces with room before and after them, and the memory they lie in. */
const roomy = new WeakMap<Uint8Array, Buffer>()
/** Eight digits and a line end. */
const roomBefore = 10
const roomAfter = 2

export const lastChunk = Buffer.from('0\r\n\r\n')

/** Memory for a piece that may become a chunk where it lies: new, or the beginning of a piece that nobody uses any more. */
export function allocatePiece(bytes: number, { memory }: { memory?: Buffer } = {}): Buffer {
  const whole = (memory && roomy.get(memory)) || Buffer.allocUnsafeSlow(roomBefore + bytes + roomAfter)
  const piece = whole.subarray(roomBefore, roomBefore + bytes)
  roomy.set(piece, whole)
  return piece
}

/** The piece with its size before and a line end after it; the same buffer for the same piece. */
export function chunkOf(piece: Uint8Array): Buffer {
  const known = frames.get(piece)
  if (known) return known
  const whole = roomy.get(piece)
  if (whole) return frameInPlace(piece, whole)
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

function frameInPlace({ length }: Uint8Array, whole: Buffer): Buffer {
  const size = `${length.toString(16)}\r\n`
  const start = roomBefore - size.length
  whole.write(size, start, 'latin1')
  whole.write('\r\n', roomBefore + length, 'latin1')
  return whole.subarray(start, roomBefore + length + roomAfter)
}
