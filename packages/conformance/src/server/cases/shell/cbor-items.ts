/**
 * CBOR by hand, so that the judge shares no code with the judged: enough to write any body and to read what servers write.
 */

/** Bytes from hexadecimal digits; spaces are ignored. */
export function hex(digits: string): Buffer {
  return Buffer.from(digits.replaceAll(' ', ''), 'hex')
}

/** A byte string of up to 255 bytes. */
export function string(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([
    bytes.length < 24 ? Buffer.from([0x40 | bytes.length]) : Buffer.from([0x58, bytes.length]),
    bytes,
  ])
}

export type Entry = readonly [key: string, value: Buffer]

/** A map of up to 23 entries; several entries may have the same key. */
export function map(...entries: readonly Entry[]): Buffer {
  return Buffer.concat([
    Buffer.from([0xa0 | entries.length]),
    ...entries.flatMap(([key, value]) => [string(key), value]),
  ])
}

/** The values of items in a row: one for a document, several for a sequence. */
export function readItems(bytes: Uint8Array): unknown[] {
  const reader = new ItemReader(Buffer.from(bytes))
  const items: unknown[] = []
  while (reader.at < bytes.length) items.push(reader.value())
  return items
}

class ItemReader {
  at = 0
  readonly #bytes: Buffer

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  value(): unknown {
    const first = this.#bytes.readUInt8(this.at)
    if (first >> 5 === 7) return this.#simple(first)
    const argument = this.#argument()
    switch (first >> 5) {
      case 0:
        return argument
      case 1:
        return -1 - argument
      case 2:
      case 3:
        return this.#text(argument)
      case 4:
        return Array.from({ length: argument }, () => this.value())
      case 5:
        return Object.fromEntries(Array.from({ length: argument }, () => [String(this.value()), this.value()]))
      default:
        return this.#tagged(argument)
    }
  }

  #argument(): number {
    const info = this.#bytes.readUInt8(this.at++) & 31
    if (info < 24) return info
    if (info > 26) throw new Error(`no server writes the head ${info}`)
    const size = 1 << (info - 24)
    this.at += size
    return this.#bytes.readUIntBE(this.at - size, size)
  }

  #text(length: number): string {
    this.at += length
    return this.#bytes.toString('utf8', this.at - length, this.at)
  }

  /** Base64 below the tag 22; the tag of CBOR has no meaning. */
  #tagged(tag: number): unknown {
    if (tag === 55_799) return this.value()
    if (tag !== 22) throw new Error(`no server writes the tag ${tag}`)
    const length = this.#argument()
    this.at += length
    return this.#bytes.toString('base64', this.at - length, this.at)
  }

  #simple(first: number): unknown {
    this.at++
    if (first === 0xf4 || first === 0xf5) return first === 0xf5
    if (first === 0xf6) return null
    if (first !== 0xfb) throw new Error(`the cases have no value ${first}`)
    this.at += 8
    return this.#bytes.readDoubleBE(this.at - 8)
  }
}
