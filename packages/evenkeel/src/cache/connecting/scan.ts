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
import { skipString, skipValue } from '#api'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d

/** Where things are in the bytes: each a beginning and an end. */
export interface ScannedLine {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /** Of the object. */
  start: number
  end: number
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

const [added, modified, deleted] = [prefixOf('ADDED'), prefixOf('MODIFIED'), prefixOf('DELETED')]

interface Prefix {
  readonly type: ScannedLine['type']
  readonly bytes: Uint8Array
}

function prefixOf(type: ScannedLine['type']): Prefix {
  return { type, bytes: Buffer.from(`{"type":"${type}","object":`) }
}

/** Reads the line from `start` to `end`; the answer is used again for the next line. */
export function scanLine(bytes: Uint8Array, start: number, end: number): ScannedLine | undefined {
  const letter = bytes[start + 9]
  const prefix = letter === 0x41 ? added : letter === 0x4d ? modified : deleted
  if (!startsWith(bytes, start, prefix.bytes) || bytes[end - 1] !== closeBrace || bytes[end - 2] !== closeBrace) return undefined
  line.type = prefix.type
  line.start = start + prefix.bytes.length
  line.end = end - 1
  line.nameStart = line.namespaceStart = line.versionStart = line.cutStart = 0
  line.nameEnd = line.namespaceEnd = line.versionEnd = line.cutEnd = 0
  const metadata = findMetadata(bytes, line.start, line.end)
  if (metadata < 0 || !scanMetadata(bytes, metadata, line.end)) return undefined
  return line.nameEnd > line.nameStart && line.versionEnd > line.versionStart ? line : undefined
}

const line: ScannedLine = {
  type: 'ADDED', start: 0, end: 0, nameStart: 0, nameEnd: 0, namespaceStart: 0, namespaceEnd: 0, versionStart: 0, versionEnd: 0, cutStart: 0, cutEnd: 0,
}

const metadataKey = Buffer.from('metadata')
const nameKey = Buffer.from('name')
const namespaceKey = Buffer.from('namespace')
const versionKey = Buffer.from('resourceVersion')
const managedKey = Buffer.from('managedFields')

/** Where the value of `metadata` begins; below 0 when it is not found the expected way. */
function findMetadata(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== openBrace) return -1
  for (let at = start + 1; at < end;) {
    const keyEnd = skipString(bytes, at, end)
    if (keyEnd < 0 || bytes[keyEnd] !== colon) return -1
    // Most keys have another length: the quotes count.
    if (keyEnd - at === 10 && startsWith(bytes, at + 1, metadataKey)) return keyEnd + 1
    at = skipValue(bytes, keyEnd + 1, end)
    if (at < 0 || bytes[at] !== comma) return -1
    at++
  }
  return -1
}

/** Notes what is in metadata; false when it is not as expected. */
function scanMetadata(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] !== openBrace) return false
  for (let at = start + 1; at < end;) {
    const keyStart = at
    const keyEnd = skipString(bytes, keyStart, end)
    if (keyEnd < 0 || bytes[keyEnd] !== colon) return false
    at = skipValue(bytes, keyEnd + 1, end)
    if (at < 0) return false
    switch (keyEnd - keyStart) {
      case 6:
        if (!startsWith(bytes, keyStart + 1, nameKey)) break
        if (!isPlain(bytes, keyEnd + 1, at)) return false
        line.nameStart = keyEnd + 2
        line.nameEnd = at - 1
        break
      case 11:
        if (!startsWith(bytes, keyStart + 1, namespaceKey)) break
        if (!isPlain(bytes, keyEnd + 1, at)) return false
        line.namespaceStart = keyEnd + 2
        line.namespaceEnd = at - 1
        break
      case 15:
        if (!startsWith(bytes, keyStart + 1, managedKey)) break
        // One of the commas around it goes as well.
        line.cutStart = bytes[keyStart - 1] === comma ? keyStart - 1 : keyStart
        line.cutEnd = line.cutStart === keyStart && bytes[at] === comma ? at + 1 : at
        break
      case 17:
        if (!startsWith(bytes, keyStart + 1, versionKey)) break
        if (!isPlain(bytes, keyEnd + 1, at)) return false
        line.versionStart = keyEnd + 2
        line.versionEnd = at - 1
        break
    }
    if (bytes[at] === closeBrace || isComplete()) return true
    if (bytes[at] !== comma) return false
    at++
  }
  return false
}

/** Whether all is known that can be: nothing that follows matters. */
function isComplete(): boolean {
  return line.nameEnd > 0 && line.versionEnd > 0 && line.namespaceEnd > 0 && line.cutEnd > 0
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
