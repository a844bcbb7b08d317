/**
 * Replaces old logs by a snapshot, in the background.
 *
 *   make log N ─▶ writers go over to it ─▶ write snapshot N ─▶ remove what is before N
 *
 * Invariants: at every moment the newest snapshot and the logs behind it hold everything that was
 * acknowledged; one compaction at a time; a failure costs a warning and a later attempt, never data.
 */
import { nextTurn, silentLogger } from '#base'
import type { Clock, Logger } from '#base'
import type { Disk } from './disk/disk.ts'
import { fileName, parseFileName } from './format/file-header.ts'
import type { FileJournal } from './file-journal.ts'
import { LogFile, spareName } from './log-file.ts'
import { writeSnapshot } from './snapshot.ts'
import type { SnapshotSource } from './snapshot.ts'

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
