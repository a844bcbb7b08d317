/**
 * How gRPC cuts a stream of bytes into messages: a flag, four bytes of length, the message.
 *
 * Invariant: however the bytes were cut on their way, the same messages come out, each once,
 * in order; a message is copied at most once.
 */
import { ProtobufError } from './protobuf.ts'

const prefixBytes = 5

/** Nothing that etcd sends comes near; what claims to be longer is not gRPC. */
const messageBytesMax = 2 ** 30

export class GrpcFrameReader {
  #held: Uint8Array[] = []
  #size = 0
  #needed = prefixBytes

  /** Takes what arrived and gives the messages that are now whole. */
  push(chunk: Uint8Array): Uint8Array[] {
    this.#held.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return []

    const bytes = this.#held.length === 1 ? chunk : Buffer.concat(this.#held)
    const messages: Uint8Array[] = []
    let at = 0
    for (let size = frameBytes(bytes, at); at + size <= bytes.length; size = frameBytes(bytes, at)) {
      messages.push(bytes.subarray(at + prefixBytes, at + size))
      at += size
    }
    this.#needed = frameBytes(bytes, at)
    this.#size = bytes.length - at
    this.#held = this.#size === 0 ? [] : [bytes.subarray(at)]
    return messages
  }
}

/** How many bytes the frame at this place has with its prefix, or at least has as far as can be seen. */
function frameBytes(bytes: Uint8Array, at: number): number {
  if (bytes.length - at < prefixBytes) return prefixBytes
  if (bytes[at] !== 0) throw new ProtobufError('a compressed message, which was not asked for')
  const size = new DataView(bytes.buffer, bytes.byteOffset + at + 1, 4).getUint32(0)
  if (size > messageBytesMax) throw new ProtobufError(`a message of ${size} bytes`)
  return prefixBytes + size
}
