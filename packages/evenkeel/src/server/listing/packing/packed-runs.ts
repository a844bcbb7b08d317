/**
 * Compressed runs of lists, remembered.
 *
 * A run is the same text as long as its objects are at the same revisions, because a revision is never used twice. That is
 * compared in full, so what is found is exact; the fingerprint only says where to look. Runs that were not asked for longest
 * are forgotten first. Whoever asks for a run that is being compressed waits for that.
 */
import type { Entry } from '#store'
import { itemsLength, writeItem } from '../list-bytes.ts'
import { shiftOf } from './checksum.ts'
import { commaBlock } from './gzip.ts'
import type { ListRun } from './runs.ts'

interface CompressedRunCacheOptions {
  /**
   * How much is remembered.
   *
   * @default 33_554_432
   */
  bytesMax?: number
}

/** A run as a part of a gzip file. */
export interface CompressedRun {
  /** A comma, and blocks that end at a whole byte; none of them is the last one. */
  readonly bytes: Uint8Array
  /** Of the text, without the comma. */
  readonly checksum: number
  readonly shift: number
}

interface CachedRun {
  readonly keys: readonly string[]
  readonly revisions: readonly number[]
  readonly skipped: number
  readonly pending: Promise<CompressedRun>
  /** Once it is there. */
  packed?: CompressedRun
  bytes: number
}

/** A number in an array, a reference to a key, and their share of what holds them. */
const entryOverhead = 24
const runOverhead = 400
const compressionLevel = 1

export class CompressedRunCache {
  readonly #bytesMax: number
  /** In the order of use. */
  readonly #runs = new Map<number, CachedRun>()
  #bytes = 0

  constructor({ bytesMax = 32 * 1024 * 1024 }: CompressedRunCacheOptions = {}) {
    if (!(bytesMax >= 0)) throw new RangeError(`bytesMax must be 0 or more, got ${bytesMax}`)
    this.#bytesMax = bytesMax
  }

  /** How much is remembered now. */
  get bytes(): number {
    return this.#bytes
  }

  /** A run that is there. */
  find(run: ListRun): CompressedRun | undefined {
    return this.#recall(run)?.packed
  }

  /** A run, compressed now if it is not there. */
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
  // Loaded when the first large list goes out: a server starts without it.
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
