/**
 * The durable engine: a checksummed log, a snapshot, and everything in memory besides.
 *
 *   open: lock ─ plan ─ recover ─ cut the torn tail ─ new log ─ sweep up ─ serve
 *
 * Invariants: nothing is changed on the disk before recovery has found everything whole; the
 * store serves only after its first frame, with a fresh ceiling, is durable. See
 * `docs/decisions/store.md` for the eight rules this keeps.
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

export interface FileStoreOptions extends RetentionOptions {
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
   * Room kept back for deletes on a full disk.
   *
   * @default 4 MiB
   */
  reserveBytes?: number
}

/** A durable store, with what only files can do. */
export interface FileStore extends Store {
  /** Writes a backup of the newest revision into a folder, under a name that must be free. */
  backup(disk: Disk, name: string): Promise<{ bytes: number; revision: number }>
  /** Replaces the logs by a snapshot now; false when that did not work out. */
  compactLog(): Promise<boolean>
}

/** Opens the store in a folder, which is made if it is not there. @throws StoreError that says what to do. */
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

export interface DiskStoreOptions extends FileStoreOptions {
  /** Called last, when everything is closed. */
  onClosed?: () => Promise<void>
}

/** Opens a store on any disk, also a simulated one. Nobody else may have it open. */
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
  const { recovered, ...begun } = await begin(disk, {
    random,
    log,
    reserve: new Reserve(disk, { bytes: reserveBytes }),
  })
  const store = new DiskStore({ ...begun, disk, clock, random, log, retention, recovered, logBytesMin, onClosed })
  // Every start leaves a log; many short lives in a row would otherwise make each start slower than the last.
  if (recovered.logs >= logsMax) await store.compactLog()
  return store
}

/** With so many logs to read, a start makes a snapshot first. */
const logsMax = 16

interface StartedStore {
  readonly recovered: RecoveredState
  readonly storeId: string
  readonly logFile: LogFile
  readonly ceiling: number
  readonly reserve: Reserve
}

/** Everything from a folder of files to a store that could serve. */
async function begin(
  disk: Disk,
  { random, log, reserve }: { random: Random; log: Logger; reserve: Reserve },
): Promise<StartedStore> {
  try {
    const plan = await planFolder(disk)
    const recovered = await recover(disk, plan)
    if (!recovered.clean)
      log.warn('the store was not closed in good order; revisions go on above the last ceiling', {
        folder: disk.label,
        revision: recovered.revision,
      })
    await repair(disk, recovered)
    for (const name of plan.leftovers) await disk.remove(name)
    const storeId = recovered.storeId ?? newStoreId(random)
    return { recovered, storeId, reserve, ...(await beginLog(disk, { ...recovered, storeId }, reserve)) }
  } catch (error) {
    if (isStoreError(error)) throw error
    const what = isNoSpace(error)
      ? 'its disk is full: free some room, then start again'
      : error instanceof Error
        ? error.message
        : String(error)
    throw new StoreError('Unusable', `${disk.label} cannot be opened: ${what}`, { cause: error })
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

/** How often a full disk is looked at again. */
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
      onFull: () => this.#makeRoom(),
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
      throw new StoreError('Unusable', `${disk.label}/${name} is there already: choose another name for the backup`)
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

  async #makeRoom(): Promise<void> {
    await releaseReserve(this.#parts.disk, this.#parts.reserve)
    this.#lookAgain()
  }

  /** Puts room aside; while that does not work the disk counts as full. */
  async #keepReserve(): Promise<void> {
    const { log, reserve } = this.#parts
    try {
      if (await reserve.keep(isNoSpace)) this.#journal.clearFull()
      else this.#lookAgain()
    } catch (error) {
      log.warn('no room could be kept back for a full disk', { error })
    }
  }

  /** What deletes have freed comes back to the disk only by a snapshot; worth a try when it would be small. */
  async #recoverRoom(): Promise<void> {
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

  #lookAgain(): void {
    this.#retry?.()
    this.#retry = this.#parts.clock.after(fullRetryMs, () => {
      void this.#recoverRoom()
    })
  }
}

/** Cuts off what never became durable, and removes logs that were never used. */
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

/** Every start has a log of its own, which begins with where it stands. On a full disk it takes the room kept back. */
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

/** Everything on the disk that is there only for better times. */
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

/*
 * Room kept back on the disk, given up when it is full so that deletes can still be written.
 *
 * Invariant: the file holds real bytes, not a hole, or giving it up would free nothing.
 */

const reserveName = 'reserve'

export class Reserve {
  readonly #disk: Disk
  readonly #bytes: number

  constructor(disk: Disk, { bytes }: { bytes: number }) {
    this.#disk = disk
    this.#bytes = bytes
  }

  /** Puts the room aside; false when there is not enough. @throws what else the disk says. */
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

  /** Gives the room back to whoever needs it. */
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
