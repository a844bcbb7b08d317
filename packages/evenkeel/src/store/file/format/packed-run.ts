/**
 * Puts in a row, as they lie in a snapshot: measured when the store opens, read when somebody asks.
 *
 * Invariant: unpacking gives the versions in the order of the bytes, each holding the slab that the
 * bytes are in; the slab was told of their weight before.
 */
import { blockMax } from '../../local/keyspace.ts'
import type { PackedBlock } from '../../local/keyspace.ts'
import type { Slab } from '../../local/slab.ts'
import type { Version } from '../../local/version.ts'
import { measurePut, readKey, readVersion } from './record.ts'

interface PackedRun extends PackedBlock {
  /** Where the next record begins. */
  readonly end: number
  readonly valueBytes: number
}

/** The puts from an offset on, at most a block of them and none that begins behind `to`; undefined when another record is there. */
export function readPackedRun(slab: Slab, from: number, to: number): PackedRun | undefined {
  const offsets = new Uint32Array(blockMax)
  let [count, end, valueBytes] = [0, from, 0]
  while (count < blockMax && end < to) {
    const put = measurePut(slab.bytes, end)
    if (!put) break
    offsets[count++] = end
    end = put.end
    valueBytes += put.valueBytes
  }
  if (count === 0) return undefined
  const used = offsets.slice(0, count)
  return {
    first: readKey(slab.bytes, from),
    last: readKey(slab.bytes, used[count - 1] ?? from),
    count,
    end,
    valueBytes,
    unpack: () => unpack(slab, used),
  }
}

function unpack(slab: Slab, offsets: Uint32Array): Version[] {
  return Array.from(offsets, (offset) => {
    const version = readVersion(slab.bytes, offset)
    if (version.length > 0) {
      version.slab = slab
      slab.holders.push(version)
    }
    return version
  })
}
