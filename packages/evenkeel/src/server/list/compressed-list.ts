/**
 * A list as a gzip file, assembled from compressed runs of objects.
 *
 * Only runs that are not in the cache are compressed, a few at a time and off the main thread. The head of the list,
 * commas and the end are written uncompressed. A list that needs little work is one answer with its length and
 * without a copy; otherwise it is sent as it is made, with turns for other requests.
 *
 * A run has the same text as long as its objects are at the same revisions, because a revision is never used twice.
 * Keys and revisions are compared in full, so a cache hit is exact. The least recently used runs are dropped first,
 * and concurrent requests share one compression. Where a run ends depends on the objects, not on their position:
 * about every 64th object ends a run, decided by its revision. So a changed, new or deleted object affects only its
 * own run, and so does the start of a page.
 */
import { nextTurn, type Clock } from '#base'
import type { Entry } from '#store'
import { commaBlock, GzipWriter, shiftOf, type CompressedRun } from './gzip.ts'
import { itemsLength, writeItem, type ListText } from './list-response.ts'

/** The size of one write to the socket. */
const pieceBytes = 256 * 1024
/** How many runs are compressed at once: enough to keep going while one is written. */
const aheadMax = 4

interface ListRuns {
  readonly runs: readonly ListRun[]
  /** The cached runs. */
  readonly found: readonly (CompressedRun | undefined)[]
  readonly cache: CompressedRunCache
}

/** The gzip file of a list. */
export async function compressedList(
  text: ListText,
  cache: CompressedRunCache,
  clock: Clock,
): Promise<readonly Uint8Array[] | AsyncIterable<Uint8Array>> {
  const { crc32 } = await import('node:zlib')
  const writer = new GzipWriter(text, crc32)
  const runs = runsOf(text.entries, text.skipped)
  const found = runs.map((run) => cache.find(run))
  const missing = runs.filter((_, index) => found[index] === undefined)
  if (missing.length > aheadMax) return writtenPieces(writer, { runs, found, cache }, clock)
  const made = await Promise.all(missing.map((run) => cache.compress(run)))
  for (const run of found) writer.add(run ?? (made.shift() as CompressedRun))
  writer.end()
  return writer.take()
}

async function* writtenPieces(
  writer: GzipWriter,
  { runs, found, cache }: ListRuns,
  clock: Clock,
): AsyncGenerator<Uint8Array, void> {
  const ahead: Promise<CompressedRun>[] = []
  let asked = 0
  for (const run of found) {
    for (; asked < runs.length && ahead.length < aheadMax; asked++) {
      if (!found[asked]) ahead.push(cache.compress(runs[asked] as ListRun))
    }
    // A run that is not cached is the first of those in flight.
    writer.add(run ?? (await (ahead.shift() as Promise<CompressedRun>)))
    if (writer.waiting < pieceBytes) continue
    yield Buffer.concat(writer.take())
    await nextTurn(clock)
  }
  writer.end()
  yield Buffer.concat(writer.take())
}

interface CompressedRunCacheOptions {
  /**
   * The size of the cache.
   *
   * @default 33_554_432
   */
  bytesMax?: number
}

interface CachedRun {
  readonly keys: readonly string[]
  readonly revisions: readonly number[]
  readonly skipped: number
  readonly pending: Promise<CompressedRun>
  /** Set when the compression has finished. */
  packed?: CompressedRun
  bytes: number
}

/** A number in an array, a reference to a key, and their share of the containers. */
const entryOverhead = 24
const runOverhead = 400
const compressionLevel = 1

export class CompressedRunCache {
  readonly #bytesMax: number
  /** In order of use. */
  readonly #runs = new Map<number, CachedRun>()
  #bytes = 0

  constructor({ bytesMax = 32 * 1024 * 1024 }: CompressedRunCacheOptions = {}) {
    if (!(bytesMax >= 0)) throw new RangeError(`bytesMax must be 0 or more, got ${bytesMax}`)
    this.#bytesMax = bytesMax
  }

  /** The current size of the cache. */
  get bytes(): number {
    return this.#bytes
  }

  /** A cached run. */
  find(run: ListRun): CompressedRun | undefined {
    return this.#recall(run)?.packed
  }

  /** A run, compressed now unless it is cached. */
  compress(run: ListRun): Promise<CompressedRun> {
    return this.#recall(run)?.pending ?? this.#add(run)
  }

  #recall(run: ListRun): CachedRun | undefined {
    const known = this.#runs.get(run.fingerprint)
    if (known === undefined || !isOf(known, run)) return undefined
    this.#runs.delete(run.fingerprint)
    this.#runs.set(run.fingerprint, known)
    return known
  }

  #add(run: ListRun): Promise<CompressedRun> {
    this.#forget(run.fingerprint)
    const entries = run.entries.slice(run.start, run.end)
    const pending = compressRun(entries, run.skipped)
    const added: CachedRun = {
      keys: entries.map(({ key }) => key),
      revisions: entries.map(({ revision }) => revision),
      skipped: run.skipped,
      pending,
      bytes: 0,
    }
    this.#runs.set(run.fingerprint, added)
    pending.then(
      (packed) => {
        added.packed = packed
        this.#count(run.fingerprint, added)
      },
      () => {
        if (this.#runs.get(run.fingerprint) === added) this.#forget(run.fingerprint)
      },
    )
    return pending
  }

  #count(fingerprint: number, added: CachedRun): void {
    if (this.#runs.get(fingerprint) !== added) return
    added.bytes = (added.packed?.bytes.byteLength ?? 0) + added.keys.length * entryOverhead + runOverhead
    this.#bytes += added.bytes
    for (const [oldest] of this.#runs) {
      if (this.#bytes <= this.#bytesMax) break
      this.#forget(oldest)
    }
  }

  #forget(fingerprint: number): void {
    this.#bytes -= this.#runs.get(fingerprint)?.bytes ?? 0
    this.#runs.delete(fingerprint)
  }
}

function isOf({ keys, revisions, skipped }: CachedRun, run: ListRun): boolean {
  if (skipped !== run.skipped || keys.length !== run.end - run.start) return false
  for (let index = 0; index < keys.length; index++) {
    const { key, revision } = run.entries[run.start + index] as Entry
    if (revision !== revisions[index] || key !== keys[index]) return false
  }
  return true
}

async function compressRun(entries: readonly Entry[], skipped: number): Promise<CompressedRun> {
  // Loaded for the first large list: a server starts without it.
  const { constants, crc32, deflateRaw } = await import('node:zlib')
  const text = Buffer.allocUnsafe(itemsLength(entries, skipped))
  let at = 0
  for (const [index, entry] of entries.entries()) at = writeItem(text, entry, { at, skipped, isFirst: index === 0 })
  const blocks = await new Promise<Uint8Array>((done, failed) => {
    deflateRaw(text, { level: compressionLevel, finishFlush: constants.Z_SYNC_FLUSH }, (error, result) => {
      if (error) failed(error)
      else done(result)
    })
  })
  return { bytes: Buffer.concat([commaBlock, blocks]), checksum: crc32(text), shift: shiftOf(text.byteLength) }
}

/** Adjacent entries of a list, from `start` up to `end`. */
export interface ListRun {
  readonly entries: readonly Entry[]
  readonly start: number
  readonly end: number
  /** Bytes of an entry that are not part of the text. */
  readonly skipped: number
  /** Equal for equal runs; different runs may collide. */
  readonly fingerprint: number
}

const runBytesMax = 256 * 1024

/** Splits a list into runs. */
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
