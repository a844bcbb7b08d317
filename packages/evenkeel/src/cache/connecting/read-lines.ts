/**
 * Whole lines of a watch as arrivals: kept as text where nobody has to look inside yet. Objects of a list are not told
 * one by one: they are put where the whole list is gathered.
 *
 * Invariants: the same items as from parsing every line; what cannot be read throws and is never skipped.
 */
import { isAscii } from 'node:buffer'
import { fromStatus, isJsonObject } from '#api'
import type { KubeObject } from '#api'
import { invalidWatchLine, parseWatchLine } from '#client'
import type { StreamEvent } from '../list-watch.ts'
import type { KindDecoder } from '../storing/form.ts'
import { Item } from '../storing/item.ts'
import type { Items } from '../storing/items.ts'
import { LineScanner } from './scan.ts'
import type { ScannedLine } from './scan.ts'

const newline = 0x0a

interface WatchDecoderOptions<T extends KubeObject> {
  readonly decoder: KindDecoder<T>
  /** Where the objects of a list go, until the list is complete. @default nowhere: all are told */
  readonly gather?: Items<T> | undefined
}

export class WatchDecoder<T extends KubeObject> {
  readonly #decoder: KindDecoder<T>
  readonly #scanner = new LineScanner()
  #gather: Items<T> | undefined
  #namespace = ''
  /** Whether an object came with managed fields that are not kept: most servers send them with every one. */
  #isCutting = false

  constructor({ decoder: form, gather }: WatchDecoderOptions<T>) {
    this.#decoder = form
    this.#gather = gather
  }

  /** Reads lines with a newline between them; what is kept of the bytes is a copy. */
  read(bytes: Buffer): StreamEvent<T>[] {
    const arrivals: StreamEvent<T>[] = []
    for (let start = 0; start < bytes.length;) {
      // Where a part of every object is left out, each is kept by itself.
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
    // Texts of one byte for each character take half the memory; where no text is made nobody has to know.
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
      gather.putListed(bytes, scanned, { namespace: this.#namespace, form: this.#decoder })
    )
  }

  #decodeLine(arrival: StreamEvent<T> | undefined, arrivals: StreamEvent<T>[]): void {
    if (!arrival) return
    if (!this.#gather) {
      arrivals.push(arrival)
    } else if (arrival.type === 'BOOKMARK') {
      arrivals.push(arrival)
      // What comes after the list are changes.
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

/** Objects of one namespace share its name: the same text is not made a hundred thousand times. */
function sameText(bytes: Buffer, { namespaceStart, namespaceEnd }: ScannedLine, last: string): string {
  const length = namespaceEnd - namespaceStart
  if (length === last.length) {
    let index = 0
    while (index < length && bytes[namespaceStart + index] === last.charCodeAt(index)) index++
    if (index === length) return last
  }
  return bytes.toString('utf8', namespaceStart, namespaceEnd)
}

/** A line that has to be looked into. @throws what the server says went wrong, and when it says nothing that can be read. */
function parseLine<T extends KubeObject>(line: string, form: KindDecoder<T>): StreamEvent<T> | undefined {
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
  return { type, item: form.itemOf(object as unknown as KubeObject) }
}
