/**
 * A list made of stored bytes, without looking into any of them.
 *
 * Built-in kinds leave `apiVersion` and `kind` out of list items: their bytes begin with exactly those, so an item is
 * an opening brace and the rest. Small lists are one buffer; large ones come in pieces, with a turn for everybody else
 * between two pieces.
 */
import { nextTurn } from '#base'
import type { ListMeta } from '#api'
import type { Entry } from '#store'
import type { ServerContext } from '../call.ts'
import { servedType } from '../convert.ts'
import type { Resource } from '../resources/resource.ts'
import { typeLength } from '../storage/bytes.ts'

/** A piece is written to the socket at once. */
const pieceBytes = 256 * 1024
/** Lists up to this size are sent in one, with their length. */
export const wholeBytes = 1024 * 1024

interface ListItems {
  readonly entries: readonly Entry[]
  readonly metadata: ListMeta
}

/** A list whose text is known and not yet written. */
export interface ListText {
  readonly entries: readonly Entry[]
  /** Everything before the first item. */
  readonly head: Uint8Array
  /** How many bytes at the beginning of every entry give way to a brace; none when entries are items as they are. */
  readonly skipped: number
  /** Of the whole text. */
  readonly size: number
}

export const listEnd: Uint8Array = Buffer.from(']}')

/** What the JSON text of a list will be. */
export function listText({ entries, metadata }: ListItems, resource: Resource): ListText {
  const { apiVersion, kind } = servedType(resource)
  const head = Buffer.from(
    `{"kind":"${resource.listKind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(metadata)},"items":[`,
  )
  const skipped = resource.custom ? 0 : typeLength(apiVersion, kind)
  return { entries, head, skipped, size: head.byteLength + itemsLength(entries, skipped) + listEnd.byteLength }
}

/** How long items are in a row, with a comma between two. */
export function itemsLength(entries: readonly Entry[], skipped: number): number {
  const own = skipped > 0 ? 2 - skipped : 1
  return entries.reduce((sum, { value }) => sum + value.byteLength + own, entries.length > 0 ? -1 : 0)
}

/** The JSON text of a list. */
export function joinedList(
  text: ListText,
  { clock }: Pick<ServerContext, 'clock'>,
): Uint8Array | AsyncIterable<Uint8Array> {
  const isWhole = text.size <= wholeBytes
  const pieces = listPieces(text, { pieceMax: isWhole ? text.size : pieceBytes })
  return isWhole ? (pieces.next().value ?? text.head) : yieldBetween(pieces, clock)
}

/** Writes one item, with a comma before it if others precede it, and says where the next one goes. */
export function writeItem(
  target: Uint8Array,
  { value }: Entry,
  { at, skipped, isFirst }: { at: number; skipped: number; isFirst: boolean },
): number {
  let next = at
  if (!isFirst) target[next++] = comma
  if (skipped > 0) target[next++] = brace
  target.set(skipped > 0 ? value.subarray(skipped) : value, next)
  return next + value.byteLength - skipped
}

/** Pieces, with a turn for everybody else after each. */
export async function* yieldBetween(
  pieces: Iterable<Uint8Array>,
  clock: ServerContext['clock'],
): AsyncGenerator<Uint8Array, void> {
  for (const piece of pieces) {
    yield piece
    await nextTurn(clock)
  }
}

function* listPieces(
  { entries, head, skipped }: ListText,
  { pieceMax }: { pieceMax: number },
): Generator<Uint8Array, void> {
  let piece = Buffer.allocUnsafe(Math.max(pieceMax, head.byteLength))
  piece.set(head)
  let used = head.byteLength
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]
    if (entry === undefined) continue
    const needed = entry.value.byteLength - skipped + (skipped > 0 ? 1 : 0) + (index > 0 ? 1 : 0)
    if (used + needed > piece.byteLength) {
      yield piece.subarray(0, used)
      piece = Buffer.allocUnsafe(Math.max(pieceMax, needed))
      used = 0
    }
    used = writeItem(piece, entry, { at: used, skipped, isFirst: index === 0 })
  }
  if (used + listEnd.byteLength <= piece.byteLength) {
    piece.set(listEnd, used)
    yield piece.subarray(0, used + listEnd.byteLength)
    return
  }
  yield piece.subarray(0, used)
  yield listEnd
}

const comma = 0x2c
const brace = 0x7b
