/**
 * HTTP/2 frames as bytes: what a client library would never send.
 */

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  continuation: 9,
  unknown: 0xfa,
} as const

export const endStream = 1
export const endHeaders = 4

export interface FrameOptions {
  readonly flags?: number
  readonly stream?: number
}

/** One frame: nine bytes of head, and the payload. */
export function frame(
  type: keyof typeof frameTypes,
  payload: Uint8Array,
  { flags = 0, stream = 0 }: FrameOptions = {},
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.byteLength, 0, 3)
  head[3] = frameTypes[type]
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The preface of a client with its settings. */
export function preface(settings: readonly (readonly [id: number, value: number])[] = []): Buffer {
  const payload = Buffer.alloc(settings.length * 6)
  settings.forEach(([id, value], index) => {
    payload.writeUInt16BE(id, index * 6)
    payload.writeUInt32BE(value, index * 6 + 2)
  })
  return Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame('settings', payload)])
}

/** Header fields as HPACK literals that are not indexed. */
export function headerBlock(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), hpackText(name), hpackText(value)]))
}

/** A field that enters the dynamic table, so that one byte repeats it. */
export function indexedField(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0x40]), hpackText(name), hpackText(value)])
}

function hpackText(text: string): Buffer {
  const bytes: number[] = []
  let left = text.length
  if (left < 127) bytes.push(left)
  else {
    bytes.push(127)
    for (left -= 127; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128)
    bytes.push(left)
  }
  return Buffer.concat([Buffer.from(bytes), Buffer.from(text)])
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
