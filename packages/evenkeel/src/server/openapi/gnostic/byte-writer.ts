/**
 * Protocol buffer fields into a growing buffer.
 *
 * A nested message is written first and moved by the few bytes that its length takes: its length is known only then.
 */
export class ByteWriter {
  #buffer = Buffer.alloc(1 << 16)
  #length = 0

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  string(tag: number, text: string): void {
    const length = Buffer.byteLength(text)
    this.#varint((tag << 3) | 2)
    this.#varint(length)
    this.#reserve(length)
    this.#length += this.#buffer.write(text, this.#length)
  }

  /** Any integer that a schema's limit may be; negative ones take ten bytes. */
  integer(tag: number, value: number): void {
    this.#varint(tag << 3)
    if (value >= 0 && Number.isSafeInteger(value)) return this.#varint(value)
    let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)))
    while (rest > 0x7fn) {
      this.#byte(Number(rest & 0x7fn) | 0x80)
      rest >>= 7n
    }
    this.#byte(Number(rest))
  }

  double(tag: number, value: number): void {
    this.#varint((tag << 3) | 1)
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  /** A message whose fields `write` writes. */
  message(tag: number, write: () => void): void {
    this.#varint((tag << 3) | 2)
    const start = this.#length
    write()
    const length = this.#length - start
    const size = varintSize(length)
    this.#reserve(size)
    this.#buffer.copyWithin(start + size, start, this.#length)
    this.#length = start
    this.#varint(length)
    this.#length += length
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#byte((rest % 128) | 0x80)
      rest = Math.floor(rest / 128)
    }
    this.#byte(rest)
  }

  #byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.length) return
    const larger = Buffer.alloc(Math.max(this.#buffer.length * 2, this.#length + size))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

function varintSize(value: number): number {
  let size = 1
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) size++
  return size
}
