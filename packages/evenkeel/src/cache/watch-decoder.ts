/**
 * Decodes whole lines of a watch into events, and keeps objects as bytes where they need not be parsed yet. The objects
 * of a streamed list cause no event: they are put where the whole list is gathered.
 *
 * The scanner finds the little that must be known of an event in its bytes, without parsing it:
 *
 *   {"type":"ADDED","object":{"apiVersion":…,"kind":…,"metadata":{…,"managedFields":[…],"name":…,…},"spec":…}}
 *                            └ object starts          └ metadata    └ cut out                                 ┘
 *
 * All known servers write exactly this, without spaces, and metadata before the long parts. Any other line is parsed in
 * full. Objects of one kind start alike, so the bytes before the metadata are compared with those of the object before,
 * and scanned only when they differ.
 *
 * Invariants: the same items as from parsing every line; a line that cannot be decoded throws and is never skipped; a
 * line is scanned no further than the end of its metadata, so the cost does not depend on the size of the object.
 */
import { isAscii } from 'node:buffer'
import { fromStatus, isJsonObject, JsonScanner, type KubeObject, asKubeObject } from '#api'
import { ByteLiteral, plainStringEnd } from '#base'
import { invalidWatchLine, parseWatchLine } from '#client'
import { Item, type Items } from './items.ts'
import type { StreamEvent } from './list-watch.ts'
import type { KindDecoder } from './transform.ts'

const newline = 0x0a

interface WatchDecoderOptions<T extends KubeObject> {
  readonly decoder: KindDecoder<T>
  /** Where the objects of a streamed list go until it is complete. @default nowhere: each causes an event */
  readonly gather?: Items<T> | undefined
}

export class WatchDecoder<T extends KubeObject> {
  readonly #decoder: KindDecoder<T>
  readonly #scanner = new LineScanner()
  #gather: Items<T> | undefined
  #namespace = ''
  /** Whether an object came with managed fields that are not kept: most servers send them with every object. */
  #isCutting = false

  constructor({ decoder, gather }: WatchDecoderOptions<T>) {
    this.#decoder = decoder
    this.#gather = gather
  }

  /** Decodes lines with a newline between them; what is kept of the bytes is a copy. */
  read(bytes: Buffer): StreamEvent<T>[] {
    const arrivals: StreamEvent<T>[] = []
    for (let start = 0; start < bytes.length;) {
      // Where a part of every object is cut out, each is kept by itself.
      if (!this.#gather || !this.#decoder.isWhole || this.#isCutting) {
        this.#readLines(bytes, { start, end: bytes.length }, arrivals)
        break
      }
      const lines = this.#gather.copyLines(bytes, start)
      this.#readLines(lines.block, lines, arrivals)
      start = lines.next
    }
    return arrivals
  }

  #readLines(bytes: Buffer, lines: { readonly start: number; readonly end: number }, arrivals: StreamEvent<T>[]): void {
    // One-byte strings take half the memory; where no string is made it does not matter.
    const encoding = !this.#gather && isAscii(bytes.subarray(lines.start, lines.end)) ? 'latin1' : 'utf8'
    for (let start = lines.start; start < lines.end;) {
      const found = bytes.indexOf(newline, start)
      const end = found < 0 ? lines.end : found
      const scanned = this.#decoder.isWhole ? this.#scanner.scan(bytes, start, end) : undefined
      if (scanned) {
        if (this.#decoder.keepManagedFields) scanned.cutStart = scanned.cutEnd = scanned.start
        this.#isCutting ||= scanned.cutEnd > scanned.cutStart
        this.#namespace = sameText(bytes, scanned, this.#namespace)
        if (!this.#gather || !this.#putListed(bytes, scanned, this.#gather))
          this.#decodeLine(this.#eventOf(bytes, scanned, encoding), arrivals)
      } else if (end > start) {
        this.#decodeLine(parseLine(bytes.toString('utf8', start, end), this.#decoder), arrivals)
      }
      start = end + 1
    }
  }

  #putListed(bytes: Buffer, scanned: ScannedLine, gather: Items<T>): boolean {
    return (
      scanned.type !== 'DELETED' &&
      gather.putListed(bytes, scanned, { namespace: this.#namespace, decoder: this.#decoder })
    )
  }

  #decodeLine(arrival: StreamEvent<T> | undefined, arrivals: StreamEvent<T>[]): void {
    if (!arrival) return
    if (!this.#gather) {
      arrivals.push(arrival)
    } else if (arrival.type === 'BOOKMARK') {
      arrivals.push(arrival)
      // After the list come changes.
      if (arrival.initialEventsEnd) this.#gather = undefined
    } else if (arrival.type === 'DELETED') {
      this.#gather.delete(arrival.item.namespace, arrival.item.name)
    } else {
      this.#gather.put(arrival.item)
    }
  }

  #eventOf(bytes: Buffer, scanned: ScannedLine, encoding: 'latin1' | 'utf8'): StreamEvent<T> {
    const { type, start, end, cutStart, cutEnd } = scanned
    const name = bytes.toString(encoding, scanned.nameStart, scanned.nameEnd)
    const version = bytes.toString('latin1', scanned.versionStart, scanned.versionEnd)
    const text =
      cutEnd > cutStart
        ? bytes.toString(encoding, start, cutStart) + bytes.toString(encoding, cutEnd, end)
        : bytes.toString(encoding, start, end)
    return { type, item: Item.ofText<T>({ namespace: this.#namespace, name, version, text }, this.#decoder) }
  }
}

/** Objects of one namespace share its name: the same string is not made a hundred thousand times. */
function sameText(bytes: Buffer, { namespaceStart, namespaceEnd }: ScannedLine, last: string): string {
  const length = namespaceEnd - namespaceStart
  if (length === last.length) {
    let index = 0
    while (index < length && bytes[namespaceStart + index] === last.charCodeAt(index)) index++
    if (index === length) return last
  }
  return bytes.toString('utf8', namespaceStart, namespaceEnd)
}

/** A line that has to be parsed. @throws the error that the server sent, or an error when the line cannot be decoded. */
function parseLine<T extends KubeObject>(line: string, decoder: KindDecoder<T>): StreamEvent<T> | undefined {
  if (line.trim() === '') return undefined
  const { type, object } = parseWatchLine(line)
  const { metadata } = object
  if (type === 'ERROR') throw fromStatus(object)
  if (!isJsonObject(metadata)) throw invalidWatchLine(line)
  if (type === 'BOOKMARK') {
    const { annotations, resourceVersion } = metadata
    if (typeof resourceVersion !== 'string') throw invalidWatchLine(line)
    return {
      type,
      version: resourceVersion,
      initialEventsEnd: isJsonObject(annotations) && annotations['k8s.io/initial-events-end'] === 'true',
    }
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') throw invalidWatchLine(line)
  return { type, item: decoder.itemOf(asKubeObject(object)) }
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d

/** Positions in the bytes: a start and an end for each. */
interface ScannedLine {
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

/** Longer starts are not remembered. */
const prefixBytesMax = 1024
const metadataKey = new ByteLiteral(Buffer.from('"metadata":'))
const [nameLength, namespaceLength, managedLength, versionLength] = [6, 11, 15, 17]
/** The fields of metadata that are needed, by the length of the key with its quotes. */
const keys = Array.from({ length: versionLength + 1 }, (_, length) => {
  const key = ['name', 'namespace', 'managedFields', 'resourceVersion'].find((one) => one.length + 2 === length)
  return key === undefined ? undefined : new ByteLiteral(Buffer.from(key))
})

interface Prefix {
  readonly type: ScannedLine['type']
  readonly text: ByteLiteral
}

const [added, modified, deleted] = [prefixOf('ADDED'), prefixOf('MODIFIED'), prefixOf('DELETED')]

function prefixOf(type: ScannedLine['type']): Prefix {
  return { type, text: new ByteLiteral(Buffer.from(`{"type":"${type}","object":`)) }
}

class LineScanner {
  readonly #line: ScannedLine = {
    type: 'ADDED',
    start: 0,
    end: 0,
    nameStart: 0,
    nameEnd: 0,
    namespaceStart: 0,
    namespaceEnd: 0,
    versionStart: 0,
    versionEnd: 0,
    cutStart: 0,
    cutEnd: 0,
  }
  #scanner = new JsonScanner(new Uint8Array(0))
  /** How the last object started, up to the value of its metadata. */
  #beginning: ByteLiteral = added.text

  /** Scans the line from `start` to `end`; the result object is reused for the next line. */
  scan(bytes: Uint8Array, start: number, end: number): ScannedLine | undefined {
    if (bytes !== this.#scanner.bytes) this.#scanner = new JsonScanner(bytes)
    const letter = bytes[start + 9]
    const prefix = letter === 0x41 ? added : letter === 0x4d ? modified : deleted
    if (
      end - start < prefix.text.length ||
      !prefix.text.isAt(this.#scanner.view, start) ||
      bytes[end - 1] !== closeBrace ||
      bytes[end - 2] !== closeBrace
    )
      return undefined
    const line = this.#line
    line.type = prefix.type
    line.start = start + prefix.text.length
    line.end = end - 1
    line.nameStart = line.namespaceStart = line.versionStart = line.cutStart = 0
    line.nameEnd = line.namespaceEnd = line.versionEnd = line.cutEnd = 0
    const metadata = this.#findMetadata()
    if (metadata < 0 || !this.#scanMetadata(metadata)) return undefined
    return line.nameEnd > line.nameStart && line.versionEnd > line.versionStart ? line : undefined
  }

  /** The start of the value of `metadata`; below 0 when it is not where it is expected. */
  #findMetadata(): number {
    const { start, end } = this.#line
    const beginning = this.#beginning
    if (end - start >= beginning.length && beginning.isAt(this.#scanner.view, start)) return start + beginning.length
    if (this.#scanner.bytes[start] !== openBrace) return -1
    const key = this.#scanner.findMember(start + 1, end, metadataKey)
    if (key < 0) return -1
    const found = key + metadataKey.length
    if (found - start <= prefixBytesMax) this.#beginning = new ByteLiteral(this.#scanner.bytes.subarray(start, found))
    return found
  }

  /** Notes the fields of metadata; false when they are not as expected. */
  #scanMetadata(start: number): boolean {
    const [bytes, view, line] = [this.#scanner.bytes, this.#scanner.view, this.#line]
    if (bytes[start] !== openBrace) return false
    for (let at = start + 1; at < line.end;) {
      const keyStart = at
      const keyEnd = plainStringEnd(view, keyStart, line.end)
      if (keyEnd < 0 || bytes[keyEnd] !== colon) return false
      at =
        bytes[keyEnd + 1] === quote
          ? plainStringEnd(view, keyEnd + 1, line.end)
          : this.#scanner.valueEnd(keyEnd + 1, line.end)
      if (at < 0) return false
      const length = keyEnd - keyStart
      const key = length <= versionLength ? keys[length] : undefined
      if (key?.isAt(view, keyStart + 1) === true && !this.#note(keyStart, keyEnd, at)) return false
      if (bytes[at] === closeBrace || isComplete(line)) return true
      if (bytes[at] !== comma) return false
      at++
    }
    return false
  }

  /** Notes the end of a value; false when it is no plain string. */
  #note(keyStart: number, keyEnd: number, valueEnd: number): boolean {
    const [bytes, line] = [this.#scanner.bytes, this.#line]
    const length = keyEnd - keyStart
    if (length === managedLength) {
      // One of the commas around it is cut out as well.
      line.cutStart = bytes[keyStart - 1] === comma ? keyStart - 1 : keyStart
      line.cutEnd = line.cutStart === keyStart && bytes[valueEnd] === comma ? valueEnd + 1 : valueEnd
      return true
    }
    if (bytes[keyEnd + 1] !== quote) return false
    const start = keyEnd + 2
    const end = valueEnd - 1
    if (length === nameLength) {
      line.nameStart = start
      line.nameEnd = end
    } else if (length === namespaceLength) {
      line.namespaceStart = start
      line.namespaceEnd = end
    } else {
      line.versionStart = start
      line.versionEnd = end
    }
    return true
  }
}

/** Whether everything needed is known: the rest does not matter. */
function isComplete(line: ScannedLine): boolean {
  return line.nameEnd > 0 && line.versionEnd > 0 && line.namespaceEnd > 0 && line.cutEnd > 0
}
