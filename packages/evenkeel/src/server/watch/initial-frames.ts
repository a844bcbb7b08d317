/**
 * The objects that existed before a watch, as frames: in pieces, so that the server never holds all of them.
 */
import type { Resource } from '@evenkeel/builtins'
import type { Entry } from '#store'
import { LentMemory } from '../listen/lent-memory.ts'
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

export async function* initialFrames(
  entries: readonly Entry[],
  { framer, resource, isLent, turn }: InitialFramesOptions,
): AsyncGenerator<Uint8Array, void> {
  const memory = new LentMemory({ isLent })
  for (let at = 0; at < entries.length;) {
    const waiting = turn()
    if (waiting) await waiting
    const end = pieceEnd(entries, at)
    const items = entries.slice(at, end).map(({ value, revision }) => new StoredObject(value, revision))
    const preparing = prepareConversions(items, resource, { reuse: true })
    if (preparing) await preparing
    const piece = framer.existing(items, memory)
    if (piece) yield piece
    at = end
  }
  memory.release()
}

/** The end of the next piece, with at least one object. */
function pieceEnd(entries: readonly Entry[], start: number): number {
  let bytes = 0
  let at = start
  while (at < entries.length && at - start < pieceItems && bytes < pieceBytes) bytes += entries[at++]?.value.length ?? 0
  return at
}
