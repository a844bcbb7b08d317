/**
 * The little that must be known of a watch event to keep it, found in its bytes without parsing it.
 *
 *   {"type":"ADDED","object":{"apiVersion":…,"kind":…,"metadata":{…,"managedFields":[…],"name":…,…},"spec":…}}
 *                            └ object begins          └ metadata    └ cut out                                 ┘
 *
 * All known servers write exactly this, without spaces, and metadata before what is long. Whatever looks different is
 * not guessed at: the answer is undefined, and the line is parsed in full. Invariant: a line is read no further than the
 * end of its metadata, so the cost does not depend on how long the object is.
 */

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** Where things are in the bytes: each a beginning and an end. */
export interface ScannedLine {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  objectStart: number
  objectEnd: number
  nameStart: number
  nameEnd: number
  namespaceStart: number
  namespaceEnd: number
  versionStart: number
  versionEnd: number
  /** What to cut out of the object, with one comma; equal when there is nothing. */
  cutStart: number
  cutEnd: number
}

const prefixes = (['ADDED', 'MODIFIED', 'DELETED'] as const).map((type) => ({ type, bytes: Buffer.from(`{"type":"${type}","object":`) }))
/** By the first letter of the type. */
const prefixOf = new Map(prefixes.map((prefix) => [prefix.bytes[9], prefix]))

/** Reads the line from `start` to `end`; the answer is used again for the next line. */
export function scanLine(bytes: Uint8Array, start: number, end: number): ScannedLine | undefined {
  const prefix = prefixOf.get(bytes[start + 9])
  if (!prefix || !startsWith(bytes, start, prefix.bytes) || bytes[end - 1] !== closeBrace || bytes[end - 2] !== closeBrace) return undefined
  line.type = prefix.type
  line.objectStart = start + prefix.bytes.length
  line.objectEnd = end - 1
  line.nameStart = line.namespaceStart = line.versionStart = line.cutStart = 0
  line.nameEnd = line.namespaceEnd = line.versionEnd = line.cutEnd = 0
  const metadata = findKey(bytes, line.objectStart, line.objectEnd)
  if (metadata < 0 || scanMetadata(bytes, metadata, line.objectEnd) < 0) return undefined
  return line.nameEnd > line.nameStart && line.versionEnd > line.versionStart ? line : undefined
}

const line: ScannedLine = {
  type: 'ADDED', objectStart: 0, objectEnd: 0, nameStart: 0, nameEnd: 0, namespaceStart: 0, namespaceEnd: 0, versionStart: 0, versionEnd: 0, cutStart: 0, cutEnd: 0,
}

const metadataKey = Buffer.from('metadata')
const nameKey = Buffer.from('name')
const namespaceKey = Buffer.from('namespace')
const versionKey = Buffer.from('resourceVersion')
const managedKey = Buffer.from('managedFields')

/** Where the value of `metadata` begins; below 0 when it is not found the expected way. */
function findKey(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== openBrace) return -1
  for (let at = start + 1; at < end;) {
    const keyEnd = skipString(bytes, at, end)
    if (keyEnd < 0 || bytes[keyEnd] !== colon) return -1
    if (isText(bytes, at, { end: keyEnd, text: metadataKey })) return keyEnd + 1
    at = skipValue(bytes, keyEnd + 1, end)
    if (at < 0 || bytes[at] !== comma) return -1
    at++
  }
  return -1
}

/** Notes what is in metadata; gives where it ends, below 0 when it is not as expected. */
function scanMetadata(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== openBrace) return -1
  for (let at = start + 1; at < end;) {
    const keyStart = at
    const keyEnd = skipString(bytes, keyStart, end)
    if (keyEnd < 0 || bytes[keyEnd] !== colon) return -1
    at = skipValue(bytes, keyEnd + 1, end)
    if (at < 0 || !noteField(bytes, keyStart, { keyEnd, valueEnd: at, isFirst: keyStart === start + 1 })) return -1
    if (bytes[at] === closeBrace) return at + 1
    if (bytes[at] !== comma) return -1
    at++
  }
  return -1
}

/** False when a name is written in a way that has to be decoded. */
function noteField(bytes: Uint8Array, keyStart: number, { keyEnd, valueEnd, isFirst }: { keyEnd: number, valueEnd: number, isFirst: boolean }): boolean {
  // Most fields have other lengths: the quotes count.
  switch (keyEnd - keyStart) {
    case 6:
      if (!isText(bytes, keyStart, { end: keyEnd, text: nameKey })) return true
      line.nameStart = keyEnd + 2
      line.nameEnd = valueEnd - 1
      return isPlain(bytes, keyEnd + 1, valueEnd)
    case 11:
      if (!isText(bytes, keyStart, { end: keyEnd, text: namespaceKey })) return true
      line.namespaceStart = keyEnd + 2
      line.namespaceEnd = valueEnd - 1
      return isPlain(bytes, keyEnd + 1, valueEnd)
    case 15:
      if (!isText(bytes, keyStart, { end: keyEnd, text: managedKey })) return true
      line.cutStart = isFirst ? keyStart : keyStart - 1
      line.cutEnd = isFirst && bytes[valueEnd] === comma ? valueEnd + 1 : valueEnd
      return true
    case 17:
      if (!isText(bytes, keyStart, { end: keyEnd, text: versionKey })) return true
      line.versionStart = keyEnd + 2
      line.versionEnd = valueEnd - 1
      return isPlain(bytes, keyEnd + 1, valueEnd)
    default:
      return true
  }
}

/** Whether the key between quotes is this text. */
function isText(bytes: Uint8Array, start: number, { end, text }: { end: number, text: Uint8Array }): boolean {
  return end - start === text.length + 2 && startsWith(bytes, start + 1, text)
}

function startsWith(bytes: Uint8Array, start: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) if (bytes[start + index] !== text[index]) return false
  return true
}

/** Whether a value is a string without escapes. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== quote) return false
  for (let at = start + 1; at < end - 1; at++) if (bytes[at] === backslash) return false
  return true
}

/** The place after a string; below 0 when there is none. */
function skipString(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== quote) return -1
  for (let at = start + 1; at < end; at++) {
    const byte = bytes[at]
    if (byte === quote) return at + 1
    if (byte === backslash) at++
  }
  return -1
}

/** The place after a value; below 0 when it does not end. */
function skipValue(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]
  if (first === quote) return skipString(bytes, start, end)
  if (first === openBrace || first === openBracket) return skipNested(bytes, start, end)
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte === comma || byte === closeBrace || byte === closeBracket) return at > start ? at : -1
  }
  return -1
}

function skipNested(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at = skipString(bytes, at, end) - 1
      if (at < 0) return -1
    } else if (byte === openBrace || byte === openBracket) {
      depth++
    } else if (byte === closeBrace || byte === closeBracket) {
      if (--depth === 0) return at + 1
    }
  }
  return -1
}
