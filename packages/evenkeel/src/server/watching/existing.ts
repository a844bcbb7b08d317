/**
 * What was there before a watch began, as frames in pieces that fit a processor's cache.
 *
 * A list of a hundred thousand objects goes out this way. When the reader is done with a piece before it asks for the
 * next, all pieces are made in the same memory: nothing is allocated, so nothing has to be collected.
 */
import type { Entry } from '#store'
import { prepareConversions } from '../convert.ts'
import { allocatePiece } from '../listen/http1/chunks.ts'
import type { Resource } from '../resources/resource.ts'
import { StoredObject } from '../storage/bytes.ts'
import type { WatchEncoder } from './frames.ts'

interface InitialFramesOptions {
  readonly framer: WatchEncoder
  readonly resource: Resource
  /** Whether the reader is done with a piece when it asks for the next. */
  readonly isLent: boolean
}

const pieceBytes = 262_144
const pieceItems = 500
/** Smaller ones may wait in a queue of the socket while the next is asked for. */
const lentBytesMin = 131_072

export async function* initialFrames(
  entries: readonly Entry[],
  { framer, resource, isLent }: InitialFramesOptions,
): AsyncGenerator<Uint8Array, void> {
  let memory: Buffer | undefined
  const allocate = (bytes: number): Buffer => {
    if (!isLent || bytes < lentBytesMin) return allocatePiece(bytes)
    if (!memory || memory.length < bytes) memory = allocatePiece(bytes + (bytes >> 3))
    return allocatePiece(bytes, { memory })
  }
  for (let at = 0; at < entries.length;) {
    const end = pieceEnd(entries, at)
    const items = entries.slice(at, end).map(({ value, revision }) => new StoredObject(value, revision))
    const preparing = prepareConversions(items, resource, { reuse: true })
    if (preparing) await preparing
    const piece = framer.existing(items, allocate)
    if (piece) yield piece
    at = end
  }
}

/** As many as make a piece, at least one. */
function pieceEnd(entries: readonly Entry[], start: number): number {
  let bytes = 0
  let at = start
  while (at < entries.length && at - start < pieceItems && bytes < pieceBytes) bytes += entries[at++]?.value.length ?? 0
  return at
}
