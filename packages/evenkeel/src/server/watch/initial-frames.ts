/**
 * The objects that existed before a watch, as frames: in pieces, so that the server never holds all of them.
 *
 * Invariant: a buffer is used again only after its last piece has left the server. A watch that ends early keeps its
 * buffer, because the socket may still read it.
 */
import type { Resource } from '@evenkeel/builtins'
import type { Entry } from '#store'
import { allocatePiece } from '../listen/http1-body.ts'
import { prepareConversions } from '../storage/codec.ts'
import { StoredObject } from '../storage/stored-object.ts'
import type { WatchEncoder } from './frames.ts'

interface InitialFramesOptions {
  readonly framer: WatchEncoder
  readonly resource: Resource
  /** Whether the reader has finished with a piece when it requests the next. */
  readonly isLent: boolean
  /** Called before each piece: thousands of watches may begin at once. */
  readonly turn: () => Promise<void> | undefined
}

const pieceBytes = 262_144
const pieceItems = 500
/** Smaller pieces may still be in the queue of the socket when the next is requested. */
const lentBytesMin = 131_072

export async function* initialFrames(
  entries: readonly Entry[],
  { framer, resource, isLent, turn }: InitialFramesOptions,
): AsyncGenerator<Uint8Array, void> {
  let memory: Buffer | undefined
  const allocate = (bytes: number): Buffer => {
    if (!isLent || bytes < lentBytesMin) return allocatePiece(bytes)
    if (!memory || memory.length < bytes) memory = takeMemory(bytes)
    return allocatePiece(bytes, { memory })
  }
  for (let at = 0; at < entries.length;) {
    const waiting = turn()
    if (waiting) await waiting
    const end = pieceEnd(entries, at)
    const items = entries.slice(at, end).map(({ value, revision }) => new StoredObject(value, revision))
    const preparing = prepareConversions(items, resource, { reuse: true })
    if (preparing) await preparing
    const piece = framer.existing(items, allocate)
    if (piece) yield piece
    at = end
  }
  if (memory && free.length < freeMax) free.push(memory)
}

/** Memory of watches whose last piece has left: a thousand watches that begin at once use a few buffers. */
const free: Buffer[] = []
const freeMax = 8

function takeMemory(bytes: number): Buffer {
  const known = free.pop()
  return known && known.length >= bytes ? known : allocatePiece(bytes + (bytes >> 3))
}

/** The end of the next piece, with at least one object. */
function pieceEnd(entries: readonly Entry[], start: number): number {
  let bytes = 0
  let at = start
  while (at < entries.length && at - start < pieceItems && bytes < pieceBytes) bytes += entries[at++]?.value.length ?? 0
  return at
}
