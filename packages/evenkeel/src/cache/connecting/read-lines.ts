/**
 * Whole lines of a watch as arrivals: kept as text where nobody has to look inside yet.
 *
 * Invariants: the same items as from parsing every line; what cannot be read throws and is never skipped.
 */
import { isAscii } from 'node:buffer'
import { fromStatus, isJsonObject } from '#api'
import type { KubeObject } from '#api'
import { garbledLine, parseWatchLine } from '#client'
import type { Arrival } from '../list-watch.ts'
import type { Blocks } from '../storing/blocks.ts'
import { Item } from '../storing/item.ts'
import type { KindForm } from '../storing/form.ts'
import { scanLine } from './scan.ts'
import type { ScannedLine } from './scan.ts'

const newline = 0x0a

interface ReadLinesOptions<T extends KubeObject> {
  readonly form: KindForm<T>
  /** Where the objects of a list are kept, which come and go together. @default each for itself */
  readonly blocks?: Blocks | undefined
}

/** Reads lines with a newline between them. The bytes are changed on the way: they must be nobody else's. */
export function readLines<T extends KubeObject>(bytes: Buffer, { form, blocks }: ReadLinesOptions<T>): Arrival<T>[] {
  const encoding = isAscii(bytes) ? 'latin1' : 'utf8'
  const arrivals: Arrival<T>[] = []
  let namespace = ''
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(newline, start)
    const end = found < 0 ? bytes.length : found
    const scanned = form.isWhole ? scanLine(bytes, start, end) : undefined
    if (scanned) {
      namespace = sameText(bytes, scanned, namespace)
      arrivals.push({ type: scanned.type, item: keep(bytes, scanned, { namespace, encoding, form, blocks }) })
    } else if (end > start) {
      const arrival = parse(bytes.toString('utf8', start, end), form)
      if (arrival) arrivals.push(arrival)
    }
    start = end + 1
  }
  return arrivals
}

interface Keeping<T extends KubeObject> {
  readonly namespace: string
  readonly encoding: 'latin1' | 'utf8'
  readonly form: KindForm<T>
  readonly blocks: Blocks | undefined
}

function keep<T extends KubeObject>(bytes: Buffer, scanned: ScannedLine, { namespace, encoding, form, blocks }: Keeping<T>): Item<T> {
  const { objectStart, objectEnd, cutStart, cutEnd } = scanned
  const name = bytes.toString(encoding, scanned.nameStart, scanned.nameEnd)
  const version = bytes.toString('latin1', scanned.versionStart, scanned.versionEnd)
  let start = objectStart
  if (!form.keepManagedFields && cutEnd > cutStart) {
    // What comes before the managed fields moves up to what comes after: one piece, and nothing of them is kept.
    start = objectStart + cutEnd - cutStart
    bytes.copyWithin(start, objectStart, cutStart)
  }
  if (blocks) {
    const kept = blocks.keep(bytes, start, objectEnd)
    return Item.ofBytes<T>({ namespace, name, version, block: kept.block, start: kept.start, end: kept.end }, form)
  }
  return Item.ofText<T>({ namespace, name, version, text: bytes.toString(encoding, start, objectEnd) }, form)
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
function parse<T extends KubeObject>(line: string, form: KindForm<T>): Arrival<T> | undefined {
  if (line.trim() === '') return undefined
  const { type, object } = parseWatchLine(line)
  const { metadata } = object
  if (type === 'ERROR') throw fromStatus(object)
  if (!isJsonObject(metadata)) throw garbledLine(line)
  if (type === 'BOOKMARK') {
    const { annotations, resourceVersion } = metadata
    if (typeof resourceVersion !== 'string') throw garbledLine(line)
    return { type, version: resourceVersion, initialEventsEnd: isJsonObject(annotations) && annotations['k8s.io/initial-events-end'] === 'true' }
  }
  if (type !== 'ADDED' && type !== 'MODIFIED' && type !== 'DELETED') throw garbledLine(line)
  return { type, item: form.itemOf(object as unknown as KubeObject) }
}
