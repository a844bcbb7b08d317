/**
 * The protobuf wire format, as far as the messages of etcd need it.
 *
 * Invariants: the output is canonical (shortest varints, zero and empty fields omitted unless
 * required), so the bytes equal those of any other encoder; unknown fields are skipped; malformed
 * input throws and is never decoded in part.
 *
 * Example. `new ProtobufWriter().int(1, 300).latin1(2, 'a')` writes
 *
 *   08 ac 02   field 1, type 0 (varint): tag 1 * 8 + 0, then 300 in groups of 7 bits, lowest first
 *   12 01 61   field 2, type 2 (bytes): tag 2 * 8 + 2, length 1, the byte of `a`
 */

/** Space before every message for the gRPC prefix: one flag, four bytes of length. */
const frameBytes = 5

/** The error for a malformed message. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

/** Builds one message, front to back, in one growing buffer. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafeSlow(256)
  #length = frameBytes

  /** A number field; omitted when it is 0, the default. */
  int(field: number, value: number): this {
    return value === 0 ? this : this.intAlways(field, value)
  }

  /** A number field that is written even if it is 0: a member of a `oneof`. */
  intAlways(field: number, value: number): this {
    this.#tag(field, 0)
    this.#varint(value)
    return this
  }

  /** A number field of 64 bits; requests contain no negative numbers. */
  int64(field: number, value: bigint): this {
    if (value === 0n) return this
    this.#tag(field, 0)
    this.#ensure(10)
    let rest = value
    while (rest > 0x7fn) {
      this.#bytes[this.#length++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#bytes[this.#length++] = Number(rest)
    return this
  }

  flag(field: number, value: boolean): this {
    return this.int(field, value ? 1 : 0)
  }

  /** A key, or any other string of characters below 256, one byte each. */
  latin1(field: number, value: string): this {
    if (value === '') return this
    this.#tag(field, 2)
    this.#varint(value.length)
    this.#ensure(value.length)
    this.#length += this.#bytes.write(value, this.#length, 'latin1')
    return this
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, 'utf8'))
  }

  /** A bytes field, given in one or several parts. */
  bytes(field: number, ...parts: readonly Uint8Array[]): this {
    const size = parts.reduce((sum, { length }) => sum + length, 0)
    if (size === 0) return this
    this.#tag(field, 2)
    this.#varint(size)
    this.#ensure(size)
    for (const part of parts) {
      this.#bytes.set(part, this.#length)
      this.#length += part.length
    }
    return this
  }

  /** An embedded message: `write` fills it, then its length is inserted before it. */
  message(field: number, write: (writer: this) => void): this {
    this.#tag(field, 2)
    this.#ensure(1)
    const start = ++this.#length
    write(this)
    const size = this.#length - start
    const more = varintBytes(size) - 1
    if (more > 0) {
      this.#ensure(more)
      this.#bytes.copyWithin(start + more, start, this.#length)
    }
    this.#length = start - 1
    this.#varint(size)
    this.#length += size
    return this
  }

  /** The message with the gRPC prefix. */
  frame(): Buffer {
    this.#bytes[0] = 0
    this.#bytes.writeUInt32BE(this.#length - frameBytes, 1)
    return this.#bytes.subarray(0, this.#length)
  }

  #tag(field: number, type: number): void {
    this.#varint(field * 8 + type)
  }

  #varint(value: number): void {
    this.#ensure(10)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  #ensure(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + bytes + 64))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

/**
 * Iterates over the fields of a message:
 *
 *   while (reader.next()) switch (reader.field) { case 3: revision = reader.int(); break; default: reader.skip() }
 */
export class ProtobufReader {
  readonly #bytes: Buffer
  readonly #end: number
  #at: number
  #type = 0
  #low = 0
  #middle = 0
  #high = 0
  /** The number of the current field. */
  field = 0

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#at = start
    this.#end = end
  }

  /** Advances to the next field; false at the end. */
  next(): boolean {
    if (this.#at === this.#end) return false
    const tag = this.int()
    this.field = Math.floor(tag / 8)
    this.#type = tag % 8
    if (this.field < 1) throw new ProtobufError(`malformed message: invalid field number ${this.field}`)
    return true
  }

  /** A number; beyond 2^53 it loses precision. */
  int(): number {
    const first = this.#bytes[this.#at]
    if (first !== undefined && first < 0x80 && this.#at < this.#end) {
      this.#at++
      return first
    }
    this.#varint()
    if (this.#high < 0x80) return this.#low + this.#middle * 2 ** 28 + this.#high * 2 ** 56
    return -(0xfffffff - this.#low + (0xfffffff - this.#middle) * 2 ** 28 + (0xff - this.#high) * 2 ** 56) - 1
  }

  /** A number of 64 bits. */
  int64(): bigint {
    this.#varint()
    return BigInt.asIntN(64, BigInt(this.#low) | (BigInt(this.#middle) << 28n) | (BigInt(this.#high) << 56n))
  }

  flag(): boolean {
    return this.int() !== 0
  }

  latin1(): string {
    const end = this.#until()
    const text = this.#bytes.toString('latin1', this.#at, end)
    this.#at = end
    return text
  }

  text(): string {
    const end = this.#until()
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end
    return text
  }

  /** A view into the message, not a copy. */
  bytes(): Uint8Array {
    const end = this.#until()
    const view = this.#bytes.subarray(this.#at, end)
    this.#at = end
    return view
  }

  /** The embedded message of this field. */
  message(): ProtobufReader {
    const end = this.#until()
    const inner = new ProtobufReader(this.#bytes, this.#at, end)
    this.#at = end
    return inner
  }

  /** Skips an unknown field. */
  skip(): void {
    if (this.#type === 0) this.#varint()
    else if (this.#type === 1) this.#step(8)
    else if (this.#type === 2) this.#at = this.#until()
    else if (this.#type === 5) this.#step(4)
    else throw new ProtobufError(`malformed message: invalid wire type ${this.#type}`)
  }

  #step(bytes: number): void {
    if (this.#at + bytes > this.#end) throw new ProtobufError('malformed message: unexpected end')
    this.#at += bytes
  }

  #until(): number {
    const size = this.int()
    const end = this.#at + size
    if (!(size >= 0 && end <= this.#end)) throw new ProtobufError('malformed message: unexpected end')
    return end
  }

  /** Reads up to 64 bits into three parts of 28, 28 and 8 bits, because a JavaScript number cannot represent them. */
  #varint(): void {
    this.#low = this.#middle = this.#high = 0
    for (let index = 0; index < 10; index++) {
      if (this.#at >= this.#end) throw new ProtobufError('malformed message: unexpected end')
      const byte = this.#bytes[this.#at++] ?? 0
      if (index < 4) this.#low |= (byte & 0x7f) << (7 * index)
      else if (index < 8) this.#middle |= (byte & 0x7f) << (7 * (index - 4))
      else this.#high = (this.#high | ((byte & 0x7f) << (7 * (index - 8)))) & 0xff
      if (byte < 0x80) return
    }
    throw new ProtobufError('malformed message: a varint is longer than 64 bits')
  }
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}
