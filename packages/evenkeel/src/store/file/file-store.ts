/**
 * The `file` engine: a checksummed log and a snapshot on disk, and all state in memory.
 *
 *   open: lock ─ plan ─ recover ─ cut the torn tail ─ new log ─ remove leftovers ─ serve
 *
 * A reserve file keeps some disk space back. When the disk is full it is removed, so that deletes
 * can still be written. It holds real bytes, not a hole: removing a sparse file would free nothing.
 *
 * Invariants: nothing on disk changes before recovery has verified every file; the store serves
 * only after its first frame, with a new revision ceiling, is durable. `docs/decisions/store.md`
 * explains the eight rules behind this.
 *
 * Example of a folder over time (log N continues snapshot N; snapshot N covers all logs before N):
 *
 *   first start      log-00000001.ek
 *   second start     log-00000001.ek log-00000002.ek                        each start begins a log
 *   log compaction   log-00000003.ek snapshot-00000003.ek spare             1 and 2 are replaced; one is kept as spare
 *
 * In addition there are always `reserve` and, while the store is open, `owner.N.sock`.
 */
import { silentLogger, SystemClock, SystemRandom, type Cancel, type Clock, type Logger, type Random } from '#base'
import type { RetentionOptions } from '../history.ts'
import { LocalStore, type LocalStoreOptions } from '../local-store.ts'
import { isStoreError, StoreError, type Store } from '../store.ts'
import { isNoSpace, type Disk } from './disk.ts'
import { ceilingBlock, FileJournal } from './file-journal.ts'
import { fileName, planFolder } from './folder.ts'
import { FrameBuilder } from './frame.ts'
import { LogFile, spareName } from './log-file.ts'
import { openFolder } from './owner-lock.ts'
import { writeNumber } from './record.ts'
import { recover, type RecoveredState } from './recovery.ts'
import { Compactor, writeSnapshot, type SnapshotSource } from './snapshot.ts'

interface FileStoreOptions extends RetentionOptions {
  /**
   * @default the clock of this machine
   */
  clock?: Clock
  random?: Random
  log?: Logger
  /**
   * Logs shorter than this are not compacted.
   *
   * @default 64 MiB
   */
  logBytesMin?: number
  /**
   * Disk space kept in reserve for deletes on a full disk.
   *
   * @default 4 MiB
   */
  reserveBytes?: number
}

/** A store on disk, with backups and log compaction. */
export interface FileStore extends Store {
  /** Writes a backup of the newest revision to a new file on a disk. */
  backup(disk: Disk, name: string): Promise<{ bytes: number; revision: number }>
  /** Replaces the logs by a snapshot now; false when that failed. */
  compactLog(): Promise<boolean>
}

/** Opens the store in a folder, which is created if it does not exist. @throws StoreError that says what to do. */
export async function openFileStore(folder: string, options: FileStoreOptions = {}): Promise<FileStore> {
  const { clock = new SystemClock(), random = new SystemRandom() } = options
  const { disk, release } = await openFolder(folder, { clock, random })
  try {
    return await openOnDisk(disk, { ...options, clock, random, onClosed: release })
  } catch (error) {
    await release()
    throw error
  }
}

interface DiskStoreOptions extends FileStoreOptions {
  /** Called last, when everything is closed. */
  onClosed?: () => Promise<void>
}

/** Opens a store on any disk, also a simulated one. The caller owns the disk: no other store may have it open. */
export async function openOnDisk(
  disk: Disk,
  {
    clock = new SystemClock(),
    random = new SystemRandom(),
    log = silentLogger,
    logBytesMin = 64 * 1024 * 1024,
    reserveBytes = 4 * 1024 * 1024,
    onClosed,
    ...retention
  }: DiskStoreOptions = {},
): Promise<FileStore> {
  if (!(logBytesMin >= 1)) throw new RangeError(`logBytesMin must be 1 or more, got ${logBytesMin}`)
  if (!(reserveBytes >= 0)) throw new RangeError(`reserveBytes must be 0 or more, got ${reserveBytes}`)
  const { recovered, ...started } = await startStore(disk, {
    random,
    log,
    reserve: new Reserve(disk, { bytes: reserveBytes }),
  })
  const store = new DiskStore({ ...started, disk, clock, random, log, retention, recovered, logBytesMin, onClosed })
  // Every start adds a log, so without this a process that restarts often would start slower each time.
  if (recovered.logs >= logsMax) await store.compactLog()
  return store
}

/** A start that had to read so many logs writes a snapshot before it serves. */
const logsMax = 16

interface StartedStore {
  readonly recovered: RecoveredState
  readonly storeId: string
  readonly logFile: LogFile
  readonly ceiling: number
  readonly reserve: Reserve
}

/** Recovers the state from the files and begins a new log. */
async function startStore(
  disk: Disk,
  { random, log, reserve }: { random: Random; log: Logger; reserve: Reserve },
): Promise<StartedStore> {
  try {
    const plan = await planFolder(disk)
    const recovered = await recover(disk, plan)
    if (!recovered.clean)
      log.warn('store was not shut down cleanly; revisions continue above the last ceiling', {
        folder: disk.label,
        revision: recovered.revision,
      })
    await repair(disk, recovered)
    for (const name of plan.leftovers) await disk.remove(name)
    const storeId = recovered.storeId ?? newStoreId(random)
    return { recovered, storeId, reserve, ...(await beginLog(disk, { ...recovered, storeId }, reserve)) }
  } catch (error) {
    if (isStoreError(error)) throw error
    const why = isNoSpace(error)
      ? 'the disk is full; free some space, then start again'
      : error instanceof Error
        ? error.message
        : String(error)
    throw new StoreError('Unusable', `cannot open the store in ${disk.label}: ${why}`, { cause: error })
  }
}

interface DiskStoreParts extends StartedStore, Pick<LocalStoreOptions, 'retention'> {
  disk: Disk
  clock: Clock
  random: Random
  log: Logger
  logBytesMin: number
  onClosed: (() => Promise<void>) | undefined
}

/** The interval between checks of a full disk. */
const fullRetryMs = 2_000

class DiskStore extends LocalStore implements FileStore {
  readonly #parts: DiskStoreParts
  readonly #journal: FileJournal
  readonly #compactor: Compactor
  readonly #source: SnapshotSource
  #retry: Cancel | undefined
  #ended: Promise<void> | undefined

  constructor(parts: DiskStoreParts) {
    const { disk, clock, random, log, retention, recovered, storeId, logFile, ceiling, logBytesMin } = parts
    const { versions, leases, revision, snapshotBytes } = recovered
    const journal = new FileJournal({
      clock,
      log: logFile,
      label: disk.label,
      ceiling,
      logger: log,
      bytesBefore: recovered.logBytes,
      onFull: () => this.#releaseSpace(),
      onFlushed: () => {
        this.#compactor.consider()
      },
      onClosing: () => {
        this.#retry?.()
        return this.#compactor.stop()
      },
    })
    super({ clock, random, log, journal, versions, leases, lastRevision: revision, retention })
    this.#parts = parts
    this.#journal = journal
    this.#source = { versions, clock, leases: () => this.leases(), ceiling: () => journal.ceiling }
    this.#compactor = new Compactor({
      disk,
      clock,
      journal,
      source: this.#source,
      storeId,
      logNumber: logFile.number,
      snapshotBytes,
      logBytesMin,
      logger: log,
    })
    void this.#keepReserve()
  }

  async backup(disk: Disk, name: string): Promise<{ bytes: number; revision: number }> {
    if ((await disk.list()).includes(name))
      throw new StoreError(
        'Unusable',
        `cannot write backup ${disk.label}/${name}: the file exists; choose another name`,
      )
    return writeSnapshot(this.#source, {
      disk,
      temporary: `${name}.tmp`,
      name,
      header: { kind: 'backup', storeId: this.#parts.storeId, number: 0 },
    })
  }

  compactLog(): Promise<boolean> {
    return this.#compactor.compact()
  }

  override close(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  async #end(): Promise<void> {
    await super.close()
    await this.#parts.onClosed?.()
  }

  async #releaseSpace(): Promise<void> {
    await releaseReserve(this.#parts.disk, this.#parts.reserve)
    this.#recheckLater()
  }

  /** Creates the reserve file. While there is no space for it, the disk counts as full. */
  async #keepReserve(): Promise<void> {
    const { log, reserve } = this.#parts
    try {
      if (await reserve.keep(isNoSpace)) this.#journal.clearFull()
      else this.#recheckLater()
    } catch (error) {
      log.warn('failed to create the reserve file; a full disk will refuse deletes', { error })
    }
  }

  /** Only a snapshot gives the space of deleted keys back to the disk. It is written when it would be small. */
  async #reclaimSpace(): Promise<void> {
    const {
      disk,
      recovered: { versions },
      reserve,
    } = this.#parts
    if (
      this.#compactor.diskBytes > 2 * (versions.liveBytes - versions.history.bytes) &&
      (await this.#compactor.compact())
    )
      await releaseReserve(disk, reserve)
    await this.#keepReserve()
  }

  #recheckLater(): void {
    this.#retry?.()
    this.#retry = this.#parts.clock.after(fullRetryMs, () => {
      void this.#reclaimSpace()
    })
  }
}

/** Truncates the torn tail of the last log and removes logs without a frame. */
async function repair(disk: Disk, { torn, unused }: RecoveredState): Promise<void> {
  if (torn) {
    const file = await disk.open(torn.name, 'write')
    try {
      await file.truncate(torn.length)
      await file.sync()
    } finally {
      await file.close()
    }
  }
  for (const name of unused) await disk.remove(name)
  if (unused.length > 0) await disk.syncFolder()
}

/** Creates the log of this start. On a full disk it uses the reserved space. */
async function beginLog(
  disk: Disk,
  recovered: RecoveredState & { storeId: string },
  reserve: Reserve,
): Promise<{ logFile: LogFile; ceiling: number }> {
  try {
    return await writeFirstFrame(disk, recovered)
  } catch (error) {
    if (!isNoSpace(error)) throw error
    const name = fileName('log', recovered.nextLog)
    if ((await disk.list()).includes(name)) await disk.remove(name)
    await releaseReserve(disk, reserve)
    return writeFirstFrame(disk, recovered)
  }
}

/** Removes the files that only hold disk space: the reserve and the spare log. */
async function releaseReserve(disk: Disk, reserve: Reserve): Promise<void> {
  await reserve.release()
  if ((await disk.list()).includes(spareName)) await disk.remove(spareName)
}

async function writeFirstFrame(
  disk: Disk,
  { storeId, nextLog, revision, versions, lastLogLength, ceiling }: RecoveredState & { storeId: string },
): Promise<{ logFile: LogFile; ceiling: number }> {
  const logFile = await LogFile.create(disk, { kind: 'log', storeId, number: nextLog, revision })
  try {
    const first = new FrameBuilder(64)
    const raised = Math.max(ceiling, revision + ceilingBlock)
    if (lastLogLength !== undefined) writeNumber(first, 'follows', lastLogLength)
    writeNumber(first, 'ceiling', raised)
    writeNumber(first, 'compact', versions.compacted)
    const frames = [logFile.seal(first, 0)]
    await logFile.append(frames)
    return { logFile, ceiling: raised }
  } catch (error) {
    await logFile.close()
    throw error
  }
}

function newStoreId(random: Random): string {
  return Array.from({ length: 4 }, () => random.uint32().toString(16).padStart(8, '0')).join('')
}

const reserveName = 'reserve'

/** The reserve file. */
class Reserve {
  readonly #disk: Disk
  readonly #bytes: number

  constructor(disk: Disk, { bytes }: { bytes: number }) {
    this.#disk = disk
    this.#bytes = bytes
  }

  /** Creates the file if it is missing; false when the disk is full. @throws any other error of the disk. */
  async keep(isNoSpace: (error: unknown) => boolean): Promise<boolean> {
    if (this.#bytes === 0) return true
    if ((await this.#disk.list()).includes(reserveName)) return true
    try {
      await this.#fill()
      return true
    } catch (error) {
      await this.release()
      if (isNoSpace(error)) return false
      throw error
    }
  }

  /** Removes the file. */
  async release(): Promise<void> {
    if ((await this.#disk.list()).includes(reserveName)) await this.#disk.remove(reserveName)
  }

  async #fill(): Promise<void> {
    const file = await this.#disk.open(reserveName, 'create')
    try {
      const chunk = Buffer.alloc(Math.min(this.#bytes, 256 * 1024))
      for (let offset = 0; offset < this.#bytes; offset += chunk.length) await file.write(offset, chunk)
      await file.sync()
    } finally {
      await file.close()
    }
  }
}
