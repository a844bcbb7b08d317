/**
 * DER encoding, the canonical encoding of ASN.1 that signatures cover, as far as X.509 needs it.
 *
 * Invariant: lengths are the shortest possible and numbers have no redundant leading byte, so strict parsers accept it.
 */

const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** An element: tag, length, content. */
function element(tag: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.of(tag, ...lengthOf(content.length)), content])
}

export function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return element(tags.sequence, Buffer.concat(parts))
}

/** A set with one element, which needs no sorting. */
export function setOf(only: Uint8Array): Uint8Array {
  return element(tags.set, only)
}

/** A non-negative integer, from its big-endian bytes. */
export function unsigned(bytes: Uint8Array): Uint8Array {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const content = bytes.subarray(start)
  return element(tags.integer, (content[0] ?? 0) >= 0x80 ? Buffer.concat([Uint8Array.of(0), content]) : content)
}

export function truth(): Uint8Array {
  return element(tags.boolean, Uint8Array.of(0xff))
}

/** Bits in whole bytes: keys and signatures. */
export function bitString(bytes: Uint8Array): Uint8Array {
  return element(tags.bitString, Buffer.concat([Uint8Array.of(0), bytes]))
}

/** Named bits, such as key usages; bit 0 is the highest. Trailing zero bits are left out, as DER requires. */
export function namedBits(...numbers: readonly number[]): Uint8Array {
  const highest = Math.max(...numbers)
  const bytes = new Uint8Array((highest >> 3) + 1)
  for (const number of numbers) bytes[number >> 3] = (bytes[number >> 3] ?? 0) | (0x80 >> (number & 7))
  return element(tags.bitString, Buffer.concat([Uint8Array.of(7 - (highest & 7)), bytes]))
}

export function octetString(bytes: Uint8Array): Uint8Array {
  return element(tags.octetString, bytes)
}

export function utf8(text: string): Uint8Array {
  return element(tags.utf8String, Buffer.from(text))
}

/** From its dotted form: `2.5.29.17`. */
export function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return element(tags.oid, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)))
}

/** A time, from RFC 3339 in whole seconds of UTC: UTCTime with a two-digit year until 2049, GeneralizedTime after that. */
export function time(rfc3339: string): Uint8Array {
  const digits = rfc3339.replace(/[^0-9]/g, '')
  const isShort = digits >= '1950' && digits < '2050'
  return element(isShort ? tags.utcTime : tags.generalizedTime, Buffer.from(`${isShort ? digits.slice(2) : digits}Z`))
}

/** `[number]` around elements that keep their own tags. */
export function explicit(number: number, content: Uint8Array): Uint8Array {
  return element(0xa0 | number, content)
}

/** `[number]` in place of the tag of a primitive. */
export function implicit(number: number, content: Uint8Array): Uint8Array {
  return element(0x80 | number, content)
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let left = length; left > 0; left >>>= 8) bytes.unshift(left & 0xff)
  return [0x80 | bytes.length, ...bytes]
}

function base128(number: number): number[] {
  const digits = [number & 0x7f]
  for (let left = number >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f))
  return digits
}
