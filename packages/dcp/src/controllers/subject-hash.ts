/**
 * The name under which OpenSSL looks for a certificate in a folder: eight hexadecimal digits that follow from its subject.
 *
 *   subject      the SEQUENCE of the certificate, a SET for each part:  C=US, O=Example  CN = Root
 *   canonical    each text as UTF-8 in lower case, with one blank between words, and without the SEQUENCE around it
 *   hash         the first four bytes of SHA-1 of that, the last byte first
 */
import { createHash, type X509Certificate } from 'node:crypto'

/** An element of DER: its type, and what is in it. */
interface Element {
  readonly tag: number
  readonly content: Uint8Array
}

const [sequence, set, utf8, version] = [0x30, 0x31, 0x0c, 0xa0]
/** Types of text: their encoding in Node's words. */
const texts: ReadonlyMap<number, BufferEncoding> = new Map([
  [utf8, 'utf8'],
  [0x13, 'latin1'],
  [0x14, 'latin1'],
  [0x16, 'latin1'],
  [0x1a, 'latin1'],
])

export function subjectHash({ raw }: Pick<X509Certificate, 'raw'>): string {
  const [certificate] = elementsOf(raw)
  const [body] = elementsOf(certificate?.content)
  const fields = elementsOf(body?.content).filter(({ tag }) => tag !== version)
  // Serial number, algorithm, issuer, validity, subject.
  const parts = elementsOf(fields[4]?.content).map(({ content }) => encode(set, canonicalPart(content)))
  const digest = createHash('sha1').update(Buffer.concat(parts)).digest()
  return digest.readUInt32LE(0).toString(16).padStart(8, '0')
}

/** The pairs of type and text in one part. */
function canonicalPart(content: Uint8Array): Uint8Array {
  return Buffer.concat(
    elementsOf(content).map((pair) => {
      const [type, value] = elementsOf(pair.content)
      if (!type || !value) throw new RangeError('the subject of the certificate is not as it should be')
      return encode(sequence, Buffer.concat([encode(type.tag, type.content), canonicalText(value)]))
    }),
  )
}

function canonicalText({ tag, content }: Element): Uint8Array {
  const encoding = texts.get(tag)
  if (!encoding) return encode(tag, content)
  const text = Buffer.from(content).toString(encoding)
  const plain = text.replaceAll(/[ \t\n\v\f\r]+/g, ' ').replace(/^ | $/g, '')
  return encode(utf8, Buffer.from(plain.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())))
}

function elementsOf(bytes: Uint8Array = new Uint8Array()): readonly Element[] {
  const elements: Element[] = []
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at] ?? 0
    const first = bytes[at + 1] ?? 0
    const digits = first < 0x80 ? 0 : first & 0x7f
    let length = first
    if (digits > 0) length = bytes.subarray(at + 2, at + 2 + digits).reduce((sum, byte) => sum * 256 + byte, 0)
    const start = at + 2 + digits
    elements.push({ tag, content: bytes.subarray(start, start + length) })
    at = start + length
  }
  return elements
}

function encode(tag: number, content: Uint8Array): Uint8Array {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
