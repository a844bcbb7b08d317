/**
 * Bytes by hand: what tests put together without the writer under test.
 */

/** A field whose value has a length: texts and messages. */
export function field(number: number, ...parts: (Uint8Array | string | number[])[]): Uint8Array {
  const body = bytes(...parts)
  return bytes(varint(number * 8 + 2), varint(body.length), body)
}

/** A field whose value is a number. */
export function number(fieldNumber: number, value: number | bigint): Uint8Array {
  return bytes(varint(fieldNumber * 8), varint(value))
}

export function varint(value: number | bigint): Uint8Array {
  const result: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest >= 128n; rest >>= 7n) result.push(Number(rest & 127n) | 128)
  return Uint8Array.of(...result, Number(rest))
}

export function bytes(...parts: (Uint8Array | string | number[])[]): Uint8Array {
  return new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Uint8Array.from(part)))),
  )
}

/** A whole body. */
export function body(apiVersion: string, kind: string, ...fields: Uint8Array[]): Uint8Array {
  return bytes('k8s\0', field(1, field(1, apiVersion), field(2, kind)), field(2, ...fields), field(3), field(4))
}
