/**
 * The wire format of protocol buffers, as much of it as etcd's messages need.
 *
 * Invariants: what is written is canonical (shortest varints, zero and empty fields left out
 * unless asked for), so the bytes equal those of any other encoder; what is read may hold fields
 * we do not know, which are skipped; bytes that are no message throw, they are never half read.
 */

/** Room in front of every message for the prefix that gRPC puts there: one flag, four bytes of length. */
const frameBytes = 5

/** Thrown for bytes that are no message. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError'
}

/** Builds one message, front to back, in one growing buffer. */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafeSlow(256)
  #length = frameBytes

  /** A number field; left out when it is 0, as its reader assumes that. */
  int(field: number, value: number): this {
    return value === 0 ? this : this.intAlways(field, value)
  }

  /** A number field that is written even if it is 0: a member of a `oneof`. */
  intAlways(field: number, value: number): this {
    this.#tag(field, 0)
    this.#varint(value)
    return this
  }

  /** A number field that may need all 64 bits; negative numbers have no place in what we send. */
  int64(field: number, value: bigint): this {
    if (value === 0n) return this
    this.#tag(field, 0)
    this.#room(10)
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

  /** A key, or any other text of characters below 256, a byte each. */
  latin1(field: number, value: string): this {
    if (value === '') return this
    this.#tag(field, 2)
    this.#varint(value.length)
    this.#room(value.length)
    this.#length += this.#bytes.write(value, this.#length, 'latin1')
    return this
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, 'utf8'))
  }

  /** A field of bytes, given in one piece or several. */
  bytes(field: number, ...parts: readonly Uint8Array[]): this {
    const size = parts.reduce((sum, { length }) => sum + length, 0)
    if (size === 0) return this
    this.#tag(field, 2)
    this.#varint(size)
    this.#room(size)
    for (const part of parts) {
      this.#bytes.set(part, this.#length)
      this.#length += part.length
    }
    return this
  }

  /** A message inside this one: `write` fills it, then its length is put in front. */
  message(field: number, write: (writer: this) => void): this {
    this.#tag(field, 2)
    this.#room(1)
    const start = ++this.#length
    write(this)
    const size = this.#length - start
    const more = varintBytes(size) - 1
    if (more > 0) {
      this.#room(more)
      this.#bytes.copyWithin(start + more, start, this.#length)
    }
    this.#length = start - 1
    this.#varint(size)
    this.#length += size
    return this
  }

  /** The message with the prefix of gRPC. */
  frame(): Buffer {
    this.#bytes[0] = 0
    this.#bytes.writeUInt32BE(this.#length - frameBytes, 1)
    return this.#bytes.subarray(0, this.#length)
  }

  #tag(field: number, type: number): void {
    this.#varint(field * 8 + type)
  }

  #varint(value: number): void {
    this.#room(10)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + bytes + 64))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

/**
 * Walks over the fields of a message:
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
  /** The number of the field that the reader stands on. */
  field = 0

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#at = start
    this.#end = end
  }

  /** Steps to the next field; false at the end. */
  next(): boolean {
    if (this.#at === this.#end) return false
    const tag = this.int()
    this.field = Math.floor(tag / 8)
    this.#type = tag % 8
    if (this.field < 1) throw new ProtobufError(`no field has the number ${this.field}`)
    return true
  }

  /** A number; one beyond 2^53 loses its last digits. */
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

  /** A number with all of its 64 bits. */
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

  /** The message inside this field. */
  message(): ProtobufReader {
    const end = this.#until()
    const inner = new ProtobufReader(this.#bytes, this.#at, end)
    this.#at = end
    return inner
  }

  /** Passes over a field that nobody asked for. */
  skip(): void {
    if (this.#type === 0) this.#varint()
    else if (this.#type === 1) this.#step(8)
    else if (this.#type === 2) this.#at = this.#until()
    else if (this.#type === 5) this.#step(4)
    else throw new ProtobufError(`no field has the type ${this.#type}`)
  }

  #step(bytes: number): void {
    if (this.#at + bytes > this.#end) throw new ProtobufError('the message is cut off')
    this.#at += bytes
  }

  #until(): number {
    const size = this.int()
    const end = this.#at + size
    if (!(size >= 0 && end <= this.#end)) throw new ProtobufError('the message is cut off')
    return end
  }

  /** Reads up to 64 bits into three pieces of 28, 28 and 8, because no number of JavaScript holds them. */
  #varint(): void {
    this.#low = this.#middle = this.#high = 0
    for (let index = 0; index < 10; index++) {
      if (this.#at >= this.#end) throw new ProtobufError('the message is cut off')
      const byte = this.#bytes[this.#at++] ?? 0
      if (index < 4) this.#low |= (byte & 0x7f) << (7 * index)
      else if (index < 8) this.#middle |= (byte & 0x7f) << (7 * (index - 4))
      else this.#high = (this.#high | ((byte & 0x7f) << (7 * (index - 8)))) & 0xff
      if (byte < 0x80) return
    }
    throw new ProtobufError('a number is longer than 64 bits')
  }
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}
