/**
 * Writes the wire format from the end to the beginning: when the length of a message is due, the message is there.
 *
 * Invariants: what was written lies at the end of the buffer, which grows at its front; a finished result is a copy, so
 * one buffer can be used again and again.
 */

export class Writer {
  #buffer: Buffer
  /** Everything from here to the end is written. */
  #position: number
  /** How many messages are open around what is written next; kept by whoever opens them. */
  depth = 0

  constructor(capacity = 4096) {
    this.#buffer = Buffer.allocUnsafe(capacity)
    this.#position = capacity
  }

  /** How many bytes are written. */
  get length(): number {
    return this.#buffer.length - this.#position
  }

  get capacity(): number {
    return this.#buffer.length
  }

  finish(): Uint8Array {
    return new Uint8Array(this.#buffer.subarray(this.#position))
  }

  /** Forgets what was written. */
  reset(): void {
    this.#position = this.#buffer.length
    this.depth = 0
  }

  tag(number: number, wireType: number): void {
    this.varint(number * 8 + wireType)
  }

  /** A safe integer; a negative one takes ten bytes, as a 64-bit number does. */
  varint(value: number): void {
    if (value >= 0 && value < 0x80) {
      this.#reserve(1)
      this.#buffer[--this.#position] = value
      return
    }
    this.#reserve(10)
    if (value >= 0 && value < 0x4000) {
      this.#buffer[--this.#position] = value >>> 7
      this.#buffer[--this.#position] = (value & 0x7f) | 0x80
      return
    }
    const bytes = value < 0 ? negativeBytes(value) : positiveBytes(value)
    for (let index = bytes.length - 1; index >= 0; index--) this.#buffer[--this.#position] = bytes[index] ?? 0
  }

  double(value: number): void {
    this.#reserve(8)
    this.#position -= 8
    this.#buffer.writeDoubleLE(value, this.#position)
  }

  /** A text with its length before it. */
  text(value: string): void {
    const length = this.#shortAscii(value) ? value.length : this.#utf8(value)
    this.varint(length)
  }

  /** Bytes without a length. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#position -= bytes.length
    this.#buffer.set(bytes, this.#position)
  }

  #utf8(value: string): number {
    const length = Buffer.byteLength(value)
    this.#reserve(length)
    this.#position -= length
    this.#buffer.write(value, this.#position, 'utf8')
    return length
  }

  /** Most texts are a few letters long, and a loop is faster than a call into the engine. */
  #shortAscii(value: string): boolean {
    const { length } = value
    if (length > 40) return false
    this.#reserve(length)
    const start = this.#position - length
    for (let index = 0; index < length; index++) {
      const unit = value.charCodeAt(index)
      if (unit >= 0x80) return false
      this.#buffer[start + index] = unit
    }
    this.#position = start
    return true
  }

  #reserve(bytes: number): void {
    if (this.#position >= bytes) return
    const { length } = this
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, length + bytes))
    this.#buffer.copy(larger, larger.length - length, this.#position)
    this.#position = larger.length - length
    this.#buffer = larger
  }
}

function positiveBytes(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return bytes
}

function negativeBytes(value: number): number[] {
  let rest = BigInt.asUintN(64, BigInt(value))
  const bytes: number[] = []
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return bytes
}
