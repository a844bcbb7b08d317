/**
 * The frames in which the Engine API sends stdout and stderr over one connection, and lines of JSON over another one.
 *
 * Worked example of a frame: 8 bytes of head, then the bytes of one stream.
 *
 *   02 00 00 00  00 00 00 05  'o' 'o' 'p' 's' '\n'
 *   └ stderr     └ 5 bytes, big endian
 *
 * A container with a terminal has one stream and no frames. Invariant: memory is bounded by one piece of the connection; a frame
 * that is cut by the end of the connection yields what has come of it.
 */
import type { LogPiece } from './container-runtime.ts'

const headBytes = 8
const stderrStream = 2
const lineBytesMax = 1_048_576

/** The pieces of both streams, in the order in which they were sent. */
export async function* readFrames(source: AsyncIterable<Uint8Array>): AsyncGenerator<LogPiece> {
  const head = new Uint8Array(headBytes)
  let [headLength, left] = [0, 0]
  for await (let piece of source) {
    while (piece.length > 0) {
      const wanted = left > 0 ? left : headBytes - headLength
      const part = piece.subarray(0, wanted)
      piece = piece.subarray(wanted)
      if (left > 0) yield { stream: head[0] === stderrStream ? 'stderr' : 'stdout', bytes: part }
      else head.set(part, headLength)
      if (left > 0) {
        left -= part.length
        continue
      }
      headLength += part.length
      left = lengthIn(head, headLength)
      if (headLength === headBytes) headLength = 0
    }
  }
}

/** What a head says about the bytes that follow; 0 while it is not complete. */
function lengthIn(head: Uint8Array, headLength: number): number {
  return headLength < headBytes ? 0 : new DataView(head.buffer).getUint32(4)
}

/** Everything as stdout: what a terminal sends. */
export async function* withoutFrames(source: AsyncIterable<Uint8Array>): AsyncGenerator<LogPiece> {
  for await (const bytes of source) yield { stream: 'stdout', bytes }
}

/** One value per line. A line that is no JSON, or longer than a mebibyte, is skipped. */
export async function* readJsonLines(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of source) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > lineBytesMax) rest = ''
    for (const line of lines) yield* parseLine(line)
  }
  yield* parseLine(rest)
}

function* parseLine(line: string): Generator<Readonly<Record<string, unknown>>> {
  if (line.trim() === '') return
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) yield value as Record<string, unknown>
  } catch {
    // Runtimes mix sentences into their lines of JSON.
  }
}
