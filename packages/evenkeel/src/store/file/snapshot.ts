/**
 * Snapshots: all entries of one revision in one file, written in small pieces. The {@link Compactor}
 * replaces old logs by a snapshot in the background:
 *
 *   create log N ─▶ switch writers to it ─▶ write snapshot N ─▶ remove logs and snapshots before N
 *
 * Invariants: a snapshot gets its final name only when it is complete and synced; versions that the
 * scan still needs are pinned; the writer yields between pieces, leaves the disk to others half of
 * the time and syncs often, so that commits are hardly delayed. At every moment the newest snapshot
 * and the logs after it contain every acknowledged commit; one compaction runs at a time; a failed
 * compaction costs a warning and a later attempt, never data.
 *
 * Example. A snapshot of three entries and one lease, at revision 9 with ceiling 10 001:
 *
 *   header (snapshot, store id, number 4, revision 9)
 *   frame 0: put a@2 · put b@7 · put c@9 · grant lease 17 · summary (3 entries, revision 9, ceiling 10 001)
 *
 * Keys are in order, so recovery keeps them as packed blocks; the summary proves that the file is complete.
 */
import { nextTurn, silentLogger, sleep, type AbortOptions, type Clock, type Logger } from '#base'
import type { LeaseState } from '../leases.ts'
import type { Version } from '../version.ts'
import type { Versions } from '../versions.ts'
import type { Disk, DiskFile } from './disk.ts'
import type { FileJournal } from './file-journal.ts'
import { encodeHeader, fileName, headerBytes, parseFileName, type FileHeader } from './folder.ts'
import { FrameBuilder } from './frame.ts'
import { LogFile, spareName } from './log-file.ts'
import { writeGrant, writeSummary, writeVersion } from './record.ts'

/** The size of one write. */
const pieceBytes = 256 * 1024
/** How many keys are visited before the writer yields, whatever their size. */
const pieceKeys = 512
/** How many bytes are written between two syncs: the sync of a commit may have to wait for so many. */
const unsyncedBytesMax = 1024 * 1024

export interface SnapshotSource {
  readonly versions: Versions
  readonly leases: () => readonly LeaseState[]
  /** No revision above it has been assigned. */
  readonly ceiling: () => number
  readonly clock: Clock
}

interface SnapshotTarget {
  readonly disk: Disk
  /** The name while it is written; no such file may exist. */
  readonly temporary: string
  readonly name: string
  readonly header: Omit<FileHeader, 'revision'>
}

/** Writes a snapshot of the newest revision; returns its length and revision. A failure removes the temporary file. */
export async function writeSnapshot(
  source: SnapshotSource,
  target: SnapshotTarget,
  { signal }: AbortOptions = {},
): Promise<{ bytes: number; revision: number }> {
  const { disk, temporary, name } = target
  const pin = source.versions.pin()
  try {
    const file = await disk.open(temporary, 'create')
    const writer = new SnapshotWriter(file, source, { ...target.header, revision: pin.revision })
    try {
      await writer.run(pin.revision, signal)
    } finally {
      await file.close()
    }
    await disk.rename(temporary, name)
    await disk.syncFolder()
    return { bytes: writer.bytes, revision: pin.revision }
  } catch (error) {
    if ((await disk.list()).includes(temporary)) await disk.remove(temporary)
    throw error
  } finally {
    pin.release()
  }
}

class SnapshotWriter {
  readonly #file: DiskFile
  readonly #source: SnapshotSource
  readonly #header: FileHeader
  readonly #frame = new FrameBuilder(pieceBytes + pieceBytes / 4)
  #offset: number = headerBytes
  #synced = 0
  #frames = 0
  #entries = 0

  constructor(file: DiskFile, source: SnapshotSource, header: FileHeader) {
    this.#file = file
    this.#source = source
    this.#header = header
  }

  get bytes(): number {
    return this.#offset
  }

  async run(revision: number, signal: AbortSignal | undefined): Promise<void> {
    const { versions, leases, ceiling, clock } = this.#source
    await this.#file.write(0, encodeHeader(this.#header))
    const visit = (version: Version): void => {
      writeVersion(this.#frame, version)
      this.#entries++
    }
    for (let from: string | undefined = ''; from !== undefined;) {
      from = versions.scan({ prefix: '', revision, from, visitMax: pieceKeys }, visit)
      if (this.#frame.bytes >= pieceBytes) await this.#flush()
      else await nextTurn(clock)
      signal?.throwIfAborted()
    }
    for (const lease of leases()) writeGrant(this.#frame, lease)
    writeSummary(this.#frame, { entries: this.#entries, revision, ceiling: ceiling() })
    await this.#flush()
    await this.#file.sync()
  }

  async #flush(): Promise<void> {
    const frame = this.#frame.finish(this.#header.number, { durable: this.#synced, number: this.#frames++ })
    const { clock } = this.#source
    const startedMs = clock.monotonic()
    await this.#file.write(this.#offset, frame)
    this.#offset += frame.length
    if (this.#offset - this.#synced >= unsyncedBytesMax) {
      await this.#file.sync()
      this.#synced = this.#offset
    }
    // Leave the disk to others for as long as this write kept it busy.
    const busyMs = clock.monotonic() - startedMs
    if (busyMs > 0) await sleep(clock, busyMs)
    else await nextTurn(clock)
  }
}

interface CompactorOptions {
  disk: Disk
  clock: Clock
  journal: FileJournal
  source: SnapshotSource
  storeId: string
  /** The number of the current log. */
  logNumber: number
  /** The length of the last snapshot. */
  snapshotBytes: number
  /** Logs below this length are not worth a snapshot. */
  logBytesMin: number
  logger?: Logger | undefined
}

/** How many bytes of an old log are kept for their disk blocks. */
const spareBytesMax = 64 * 1024 * 1024

/** The factor by which the log must grow after a failure before the next attempt. */
const retryGrowth = 1.5

/** Replaces old logs by a snapshot, in the background. */
export class Compactor {
  readonly #options: CompactorOptions
  readonly #logger: Logger
  readonly #stop = new AbortController()
  #running: Promise<boolean> | undefined
  #logNumber: number
  #snapshotBytes: number
  #notBelowBytes = 0

  constructor(options: CompactorOptions) {
    this.#options = options
    this.#logger = options.logger ?? silentLogger
    this.#logNumber = options.logNumber
    this.#snapshotBytes = options.snapshotBytes
  }

  /** Disk space of the snapshot and the logs after it. */
  get diskBytes(): number {
    return this.#snapshotBytes + this.#options.journal.logBytes
  }

  /** Starts a compaction if the logs have outgrown the snapshot. */
  consider(): void {
    const { journal, logBytesMin } = this.#options
    const limit = Math.max(logBytesMin, this.#snapshotBytes, this.#notBelowBytes)
    if (journal.logBytes >= limit) void this.compact()
  }

  /** Compacts now, or joins the running compaction; false when it failed. */
  compact(): Promise<boolean> {
    this.#running ??= this.#compact()
    return this.#running
  }

  /** Aborts the running compaction and waits for its end. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the store is closing'))
    await this.#running
  }

  async #compact(): Promise<boolean> {
    const { journal, source } = this.#options
    try {
      // `#running` must be set before anything can fail.
      await nextTurn(this.#options.clock)
      this.#stop.signal.throwIfAborted()
      await this.#rotate(this.#logNumber + 1)
      await this.#write()
      journal.forgetBefore()
      this.#notBelowBytes = 0
      await this.#removeReplaced()
      return true
    } catch (error) {
      this.#notBelowBytes = journal.logBytes * retryGrowth
      if (!this.#stop.signal.aborted)
        this.#logger.warn('log compaction failed; will retry later', {
          error,
          revision: source.versions.published,
        })
      return false
    } finally {
      this.#running = undefined
    }
  }

  async #rotate(number: number): Promise<void> {
    const { disk, journal, source, storeId } = this.#options
    const log = await LogFile.create(disk, { kind: 'log', storeId, number, revision: source.versions.published })
    try {
      await journal.rotate(log)
      this.#logNumber = number
    } catch (error) {
      await log.close()
      await disk.remove(fileName('log', number))
      await disk.syncFolder()
      throw error
    }
  }

  async #write(): Promise<void> {
    const { disk, source, storeId } = this.#options
    const number = this.#logNumber
    const name = fileName('snapshot', number)
    const temporary = name.replace(/ek$/, 'tmp')
    const { bytes } = await writeSnapshot(
      source,
      { disk, temporary, name, header: { kind: 'snapshot', storeId, number } },
      { signal: this.#stop.signal },
    )
    this.#snapshotBytes = bytes
  }

  /** Removes the files that the new snapshot replaces, but keeps one log for its disk blocks. The next start removes the rest. */
  async #removeReplaced(): Promise<void> {
    const { disk } = this.#options
    const names = await disk.list()
    let hasSpare = names.includes(spareName)
    for (const name of names) {
      const parsed = parseFileName(name)
      if (!parsed || parsed.number >= this.#logNumber) continue
      if (parsed.kind === 'snapshot' || hasSpare) await disk.remove(name)
      else {
        hasSpare = true
        await disk.rename(name, spareName)
        await this.#shorten(spareName)
      }
    }
    await disk.syncFolder()
  }

  /** Limits the size of the spare log. */
  async #shorten(name: string): Promise<void> {
    const file = await this.#options.disk.open(name, 'write')
    try {
      if ((await file.size()) > spareBytesMax) await file.truncate(spareBytesMax)
    } finally {
      await file.close()
    }
  }
}
