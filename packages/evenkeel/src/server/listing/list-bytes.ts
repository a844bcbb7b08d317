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
import type { Rooms } from '../call.ts'
import { servedType } from '../convert.ts'
import type { Resource } from '../resources/resource.ts'
import { typeLength } from '../storage/bytes.ts'

/** A piece is written to the socket at once. */
const pieceBytes = 256 * 1024
/** Lists up to this size are sent in one, with their length. */
const wholeBytes = 1024 * 1024

interface Items {
  readonly entries: readonly Entry[]
  readonly metadata: ListMeta
}

/** The JSON text of a list. */
export function joinedList(list: Items, resource: Resource, { clock }: Pick<Rooms, 'clock'>): Uint8Array | AsyncIterable<Uint8Array> {
  const { apiVersion, kind } = servedType(resource)
  const head = Buffer.from(`{"kind":"${resource.listKind}","apiVersion":"${apiVersion}","metadata":${JSON.stringify(list.metadata)},"items":[`)
  const skipped = resource.custom ? 0 : typeLength(apiVersion, kind)
  const size = list.entries.reduce((sum, { value }) => sum + value.byteLength + 2 - skipped, head.byteLength + 2)
  const pieces = piecesOf(list.entries, { head, skipped, pieceMax: size <= wholeBytes ? size : pieceBytes })
  if (size <= wholeBytes) return pieces.next().value ?? head
  return unhurried(pieces, clock)
}

async function* unhurried(pieces: Iterable<Uint8Array>, clock: Rooms['clock']): AsyncGenerator<Uint8Array, void> {
  for (const piece of pieces) {
    yield piece
    await nextTurn(clock)
  }
}

interface PieceOptions {
  readonly head: Uint8Array
  readonly skipped: number
  readonly pieceMax: number
}

function* piecesOf(entries: readonly Entry[], { head, skipped, pieceMax }: PieceOptions): Generator<Uint8Array, void> {
  let piece = Buffer.allocUnsafe(Math.max(pieceMax, head.byteLength))
  piece.set(head)
  let used = head.byteLength
  for (let index = 0; index < entries.length; index++) {
    const bytes = entries[index]?.value ?? empty
    const needed = bytes.byteLength - skipped + 2
    if (used + needed > piece.byteLength) {
      yield piece.subarray(0, used)
      piece = Buffer.allocUnsafe(Math.max(pieceMax, needed))
      used = 0
    }
    if (index > 0) piece[used++] = comma
    if (skipped > 0) piece[used++] = brace
    piece.set(skipped > 0 ? bytes.subarray(skipped) : bytes, used)
    used += bytes.byteLength - skipped
  }
  const end = Buffer.from(']}')
  if (used + end.byteLength <= piece.byteLength) {
    piece.set(end, used)
    yield piece.subarray(0, used + end.byteLength)
    return
  }
  yield piece.subarray(0, used)
  yield end
}

const empty = new Uint8Array()
const comma = 0x2c
const brace = 0x7b
