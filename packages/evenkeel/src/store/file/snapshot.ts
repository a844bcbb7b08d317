/**
 * Writes everything that is there at one revision into one file, a little at a time.
 *
 * Invariants: the file exists under its final name only when it is whole and synced; versions the
 * scan still needs are pinned; between two pieces everybody else gets a turn, the disk is left to
 * others half of the time, and unsynced bytes never pile up, so writers hardly feel it.
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

/** How much is collected before it is written. */
const pieceBytes = 256 * 1024
/** How many keys are looked at before others get a turn, whatever they weigh. */
const pieceKeys = 512
/** How much may be written before it is synced: a writer's sync may have to wait for that much. */
const unsyncedBytesMax = 1024 * 1024

export interface SnapshotSource {
  readonly versions: Versions
  readonly leases: () => readonly LeaseState[]
  /** No revision above it has been given out. */
  readonly ceiling: () => number
  readonly clock: Clock
}

interface SnapshotTarget {
  readonly disk: Disk
  /** The name while it is written; it must not be taken. */
  readonly temporary: string
  readonly name: string
  readonly header: Omit<FileHeader, 'revision'>
}

/** Writes a snapshot of the newest revision; gives its length and revision. Whatever fails, the temporary file is gone. */
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
    // As long as we kept the disk busy, it is left to others.
    const busyMs = clock.monotonic() - startedMs
    if (busyMs > 0) await sleep(clock, busyMs)
    else await nextTurn(clock)
  }
}

/*
 * Replaces old logs by a snapshot, in the background.
 *
 *   make log N ─▶ writers go over to it ─▶ write snapshot N ─▶ remove what is before N
 *
 * Invariants: at every moment the newest snapshot and the logs behind it hold everything that was
 * acknowledged; one compaction at a time; a failure costs a warning and a later attempt, never data.
 */

interface CompactorOptions {
  disk: Disk
  clock: Clock
  journal: FileJournal
  source: SnapshotSource
  storeId: string
  /** The number of the log that is written now. */
  logNumber: number
  /** How long the last snapshot is. */
  snapshotBytes: number
  /** Logs below this length are not worth a snapshot. */
  logBytesMin: number
  logger?: Logger | undefined
}

/** The most of an old log that is kept for its blocks. */
const spareBytesMax = 64 * 1024 * 1024

/** After a failure, how much longer the log must get before the next attempt. */
const patience = 1.5

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

  /** What the snapshot and the logs behind it take. */
  get diskBytes(): number {
    return this.#snapshotBytes + this.#options.journal.logBytes
  }

  /** Starts a compaction if the logs have outgrown the snapshot. */
  consider(): void {
    const { journal, logBytesMin } = this.#options
    const limit = Math.max(logBytesMin, this.#snapshotBytes, this.#notBelowBytes)
    if (journal.logBytes >= limit) void this.compact()
  }

  /** Compacts now, or joins the compaction that runs; false when it did not work out. */
  compact(): Promise<boolean> {
    this.#running ??= this.#compact()
    return this.#running
  }

  /** Breaks off what runs and waits for it. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the store is closing'))
    await this.#running
  }

  async #compact(): Promise<boolean> {
    const { journal, source } = this.#options
    try {
      // Not before the caller has seen that we run.
      await nextTurn(this.#options.clock)
      this.#stop.signal.throwIfAborted()
      await this.#rotate(this.#logNumber + 1)
      await this.#write()
      journal.forgetBefore()
      this.#notBelowBytes = 0
      await this.#sweep()
      return true
    } catch (error) {
      this.#notBelowBytes = journal.logBytes * patience
      if (!this.#stop.signal.aborted)
        this.#logger.warn('the log could not be compacted, trying again later', {
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

  /** Removes what the new snapshot replaces, but keeps one log for its blocks. What is not removed now is removed at the next start. */
  async #sweep(): Promise<void> {
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

  /** A log that grew very long is not worth keeping whole. */
  async #shorten(name: string): Promise<void> {
    const file = await this.#options.disk.open(name, 'write')
    try {
      if ((await file.size()) > spareBytesMax) await file.truncate(spareBytesMax)
    } finally {
      await file.close()
    }
  }
}
