/**
 * Just enough handwritten protobuf to encode and decode one ConfigMap in its envelope.
 *
 *   "k8s\0"  Unknown { 1: TypeMeta { 1: apiVersion, 2: kind }, 2: the object }
 *   ConfigMap { 1: ObjectMeta { 1: name, 3: namespace, 11: labels }, 2: data }
 */

const magic = Buffer.from('k8s\0')

/** A ConfigMap as a client sends it. */
export function encodeConfigMap(name: string, data: Readonly<Record<string, string>>): Uint8Array {
  const entries = Object.entries(data).map(([key, value]) => field(2, field(1, key), field(2, value)))
  const object = Buffer.concat([field(1, field(1, name)), ...entries])
  return Buffer.concat([magic, field(1, field(1, 'v1'), field(2, 'ConfigMap')), field(2, object)])
}

interface Enveloped {
  readonly apiVersion: string
  readonly kind: string
  readonly raw: Uint8Array
}

/** The content of an envelope; throws for anything else. */
export function openEnvelope(bytes: Uint8Array): Enveloped {
  const buffer = Buffer.from(bytes)
  if (!buffer.subarray(0, 4).equals(magic)) throw new Error(`no envelope: ${buffer.subarray(0, 16).toString('hex')}`)
  const unknown = fieldsOf(buffer.subarray(4))
  const type = fieldsOf(first(unknown, 1))
  return { apiVersion: first(type, 1).toString(), kind: first(type, 2).toString(), raw: first(unknown, 2) }
}

/** Name and data of an encoded ConfigMap. */
export function decodeConfigMap(raw: Uint8Array): { name: string; data: Record<string, string> } {
  const object = fieldsOf(Buffer.from(raw))
  const entries = object.filter(({ number }) => number === 2).map(({ value }) => fieldsOf(value))
  return {
    name: first(fieldsOf(first(object, 1)), 1).toString(),
    data: Object.fromEntries(entries.map((entry) => [first(entry, 1).toString(), first(entry, 2).toString()])),
  }
}

interface Field {
  readonly number: number
  readonly value: Buffer
}

/** A length-delimited field; all values here are shorter than 16 KiB. */
function field(number: number, ...parts: readonly (Buffer | string)[]): Buffer {
  const value = Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  return Buffer.concat([
    Buffer.from([
      (number << 3) | 2,
      ...(value.length < 128 ? [value.length] : [(value.length & 127) | 128, value.length >> 7]),
    ]),
    value,
  ])
}

/** The length-delimited fields; numbers are skipped. */
function fieldsOf(buffer: Buffer): Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = (): number => {
    for (let result = 0, factor = 1; ; factor *= 128) {
      const byte = buffer[at++]
      if (byte === undefined) throw new Error('the protobuf ends in the middle')
      result += (byte & 127) * factor
      if (byte < 128) return result
    }
  }
  while (at < buffer.length) {
    const tag = varint()
    if ((tag & 7) === 0) varint()
    else if ((tag & 7) === 2) {
      const length = varint()
      fields.push({ number: tag >> 3, value: buffer.subarray(at, (at += length)) })
    } else throw new Error(`a field of wire type ${tag & 7} was not expected`)
  }
  return fields
}

function first(fields: readonly Field[], number: number): Buffer {
  return fields.find((one) => one.number === number)?.value ?? Buffer.alloc(0)
}
