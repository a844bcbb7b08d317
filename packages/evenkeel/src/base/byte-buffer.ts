/**
 * Bytes that arrive in pieces, in one buffer that doubles when it is full.
 *
 * A list of pieces costs 75 to 150 bytes for each of them, whatever its length: three megabytes in pieces of one byte
 * would be 200 MB. Here they are three to six megabytes, and appending costs the length of the piece on average.
 *
 * Invariants: bytes that were handed out are never overwritten. The first piece is kept as it is, without a copy, unless
 * it is a small part of its memory and would keep all of that.
 *
 *   append('ab') append('c') append('d')      [ a b c d ]      4 of 4 used
 *   append('e')                               [ a b c d e _ _ _ ]
 *   drop(2)                                       [ c d e ]
 */
export class ByteBuffer {
  #memory: Buffer = empty
  #start = 0
  #end = 0
  #isOwn = false
  readonly #expected: number

  /** @param options.expected how many bytes are announced: once an eighth has arrived, there is room for all of them */
  constructor({ expected = 0 }: { expected?: number } = {}) {
    this.#expected = expected
  }

  get size(): number {
    return this.#end - this.#start
  }

  /** All bytes, without a copy. */
  get bytes(): Buffer {
    const memory = this.#memory
    // Most requests arrive in one read: a view of all of it would only cost time.
    return this.#start === 0 && this.#end === memory.length ? memory : memory.subarray(this.#start, this.#end)
  }

  append(piece: Uint8Array): void {
    const { length } = piece
    if (length === 0) return
    if (this.size === 0 && 2 * length >= piece.buffer.byteLength) {
      this.#memory = asBuffer(piece)
      this.#start = 0
      this.#end = length
      this.#isOwn = false
      return
    }
    if (!this.#isOwn || this.#memory.length - this.#end < length) this.#grow(length)
    this.#memory.set(piece, this.#end)
    this.#end += length
  }

  /** Removes bytes from the front. */
  drop(count: number): void {
    this.#start = Math.min(this.#end, this.#start + count)
    if (this.#start === this.#end) this.clear()
  }

  /** All bytes; none remain. */
  take(): Buffer {
    const { bytes } = this
    this.clear()
    return bytes
  }

  clear(): void {
    this.#memory = empty
    this.#start = this.#end = 0
    this.#isOwn = false
  }

  #grow(length: number): void {
    const { bytes } = this
    const needed = bytes.length + length
    const announced = 8 * needed >= this.#expected ? this.#expected : 0
    const size = announced >= needed ? announced : Math.max(leastBytes, 2 * bytes.length, needed)
    const larger = Buffer.allocUnsafeSlow(size)
    larger.set(bytes, 0)
    this.#memory = larger
    this.#start = 0
    this.#end = bytes.length
    this.#isOwn = true
  }
}

const empty = Buffer.alloc(0)
const leastBytes = 256

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
