/**
 * A list cut into runs of neighbours, the same runs every time.
 *
 * Where a run ends depends on the objects and not on their number in the list: about every 64th object is the last of its
 * run, decided by the commit that made it. So an object that changes, comes or goes touches its own run and leaves the others
 * as they were, and so does where a page begins. Runs that get too large are cut, until the next object that ends one.
 */
import type { Entry } from '#store'

/** Some neighbours of a list: its entries from `start` up to `end`. */
export interface ListRun {
  readonly entries: readonly Entry[]
  readonly start: number
  readonly end: number
  /** Bytes of an entry that are not part of the text. */
  readonly skipped: number
  /** The same for the same objects; what has the same may still be different. */
  readonly fingerprint: number
}

const runBytesMax = 256 * 1024

/** Cuts a list. */
export function runsOf(entries: readonly Entry[], skipped: number): ListRun[] {
  const runs: ListRun[] = []
  let [start, bytes, hash] = [0, 0, skipped]
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as Entry
    bytes += entry.value.byteLength
    hash = Math.imul(hash ^ entry.revision, 0x01000193)
    if (!endsRun(entry) && bytes < runBytesMax && index < entries.length - 1) continue
    runs.push({ entries, start, end: index + 1, skipped, fingerprint: fingerprintOf(hash, index + 1 - start) })
    start = index + 1
    bytes = 0
    hash = skipped
  }
  return runs
}

/** Spreads consecutive commits evenly: multiplied by the golden ratio, one in 64 has six leading zeros. */
function endsRun({ created }: Entry): boolean {
  return Math.imul(created, 0x9e3779b1) >>> 26 === 0
}

function fingerprintOf(hash: number, count: number): number {
  return (hash >>> 0) + count * 2 ** 32
}
